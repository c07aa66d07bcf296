#include "cli/cluster.h"

#include "cli/live_cluster.h"
#include "codec/scenario.h"
#include "dialect/slurm_topology.h"
#include "kube/access.h"
#include "sim/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <utility>

namespace muster::cli {

namespace {

std::string_view base_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_topology(std::string_view path) {
    const std::string_view name = base_name(path);
    return name == "topology.conf" || name == "topology.yaml" || name == "topology.yml";
}

Result<dialect::TopologyFile> read_topology(const SourceText& source) {
    if (source.name.ends_with(".yaml") || source.name.ends_with(".yml")) {
        return dialect::read_topology_yaml(source.name, source.text);
    }
    return dialect::read_topology_conf(source.name, source.text);
}

/// The levels replace the tree; the labels go to the nodes that are there.
void add_topology(const dialect::TopologyFile& topology, std::vector<Fact>& facts,
                  std::vector<dialect::Warning>& warnings, const std::string& file) {
    std::map<std::string_view, const dialect::NodeLabels*> labels_of;
    for (const dialect::NodeLabels& node : topology.nodes) { labels_of[node.node] = &node; }
    std::int64_t without = 0;
    for (Fact& fact : facts) {
        auto* node = std::get_if<NodeSet>(&fact);
        if (node == nullptr) { continue; }
        const auto found = labels_of.find(node->node.name);
        if (found == labels_of.end()) {
            ++without;
            continue;
        }
        for (const Label& label : found->second->labels) {
            std::erase_if(node->node.labels,
                          [&](const Label& old) { return old.key == label.key; });
            node->node.labels.push_back(label);
        }
    }
    std::erase_if(facts,
                  [](const Fact& fact) { return std::holds_alternative<TopologySet>(fact); });
    facts.insert(facts.begin(), Fact(TopologySet{topology.levels}));
    if (without > 0) {
        warnings.push_back({.place = {.file = file, .line = 0, .path = ""},
                            .text = "nodes of the cluster that it does not name",
                            .count = without});
    }
}

/// The facts of a scenario, in their order; it may run cycles of its own.
Result<> add_scenario(const SourceText& source, Cluster& cluster) {
    MUSTER_TRY(scenario, read_scenario(source.name, source.text));
    for (const Command& command : scenario.commands) {
        if (const auto* fact = std::get_if<Fact>(&command.action)) {
            if (auto done = cluster.engine.apply(*fact); !done) {
                return tl::unexpected(
                    std::move(done.error()).wrap(fmt::format("{}:{}", source.name, command.line)));
            }
            cluster.facts.push_back(*fact);
        } else if (const auto* cycles = std::get_if<RunCycles>(&command.action)) {
            for (std::int64_t i = 0; i < cycles->count; ++i) { cluster.engine.cycle(); }
        }
    }
    return {};
}

/// Without files it is the running one that KUBECONFIG or an option names; never a guess.
Result<> check_is_named(const ClusterOptions& options) {
    if (!options.files.empty() && options.live.is_told()) {
        return fail(Code::invalid,
                    "--cluster beside --kubeconfig or --context; expected one cluster");
    }
    const auto listed = kube::variable_of_process("KUBECONFIG");
    const bool is_named =
        !options.files.empty() || options.live.is_told() || (listed && !listed->empty());
    if (is_named) { return {}; }
    return fail(Code::invalid,
                "no cluster; expected --cluster FILE, or a running one by "
                "--kubeconfig, --context or KUBECONFIG");
}

}  // namespace

void Cluster::take(dialect::ClusterInput input) {
    facts = std::move(input.facts);
    warnings = std::move(input.warnings);
    refused = std::move(input.refused);
    context = std::move(input.context);
}

Result<SourceText> read_source(const std::string& path) {
    if (path == "-") { return SourceText{"input", {std::istreambuf_iterator<char>(std::cin), {}}}; }
    MUSTER_TRY(text, sim::read_file(path));
    return SourceText{path, std::move(text)};
}

Result<std::vector<SourceText>> read_sources(const std::vector<std::string>& paths) {
    std::vector<SourceText> sources;
    for (const std::string& path : paths) {
        MUSTER_TRY(source, read_source(path));
        sources.push_back(std::move(source));
    }
    return sources;
}

Result<Cluster> load_cluster(const ClusterOptions& options) {
    Cluster cluster;
    MUSTER_CHECK(check_is_named(options));
    if (options.files.empty()) {
        MUSTER_TRY(input, read_live(options.live));
        cluster.take(std::move(input));
    }
    std::vector<SourceText> objects;
    std::vector<SourceText> scenarios;
    std::vector<std::string> topologies = options.topologies;
    for (const std::string& path : options.files) {
        if (is_topology(path)) {
            topologies.push_back(path);
            continue;
        }
        MUSTER_TRY(source, read_source(path));
        (path.ends_with(".muster") ? scenarios : objects).push_back(std::move(source));
    }
    if (topologies.size() > 1) {
        return fail(Code::invalid, fmt::format("{} topology files; expected one: {} and {}",
                                               topologies.size(), topologies[0], topologies[1]));
    }
    if (!objects.empty()) {
        MUSTER_TRY(input, dialect::read_cluster(objects));
        cluster.take(std::move(input));
    }
    for (const std::string& path : topologies) {
        MUSTER_TRY(source, read_source(path));
        MUSTER_TRY(topology, read_topology(source));
        add_topology(topology, cluster.facts, cluster.warnings, path);
    }
    for (const Fact& fact : cluster.facts) { MUSTER_CHECK(cluster.engine.apply(fact)); }
    for (const SourceText& source : scenarios) { MUSTER_CHECK(add_scenario(source, cluster)); }
    const bool has_nodes = std::ranges::any_of(
        cluster.facts, [](const Fact& fact) { return std::holds_alternative<NodeSet>(fact); });
    if (!has_nodes) {
        const std::string where = options.files.empty()
                                      ? "the cluster"
                                      : fmt::format("{}", fmt::join(options.files, ", "));
        return fail(Code::invalid, where +
                                       ": no nodes; expected Node objects, such as of "
                                       "kubectl get nodes -o json");
    }
    cluster.plan = cluster.engine.cycle();
    return cluster;
}

}  // namespace muster::cli
