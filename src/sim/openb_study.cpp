#include "sim/openb_study.h"

#include "base/text.h"
#include "dialect/gzip.h"
#include "sim/file.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace muster::sim {

namespace {

constexpr std::int64_t covered_percent = 95;

std::vector<std::string> model_names(const std::vector<dialect::OpenbNode>& nodes) {
    std::vector<std::string> names;
    for (const dialect::OpenbNode& node : nodes) {
        if (!node.model.empty()) { names.push_back(node.model); }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// The models named in "A|B"; a model that no node has adds nothing.
std::uint64_t model_set(std::string_view text, const std::vector<std::string>& models) {
    if (text.empty()) { return any_model; }
    std::uint64_t set = 0;
    for (const std::string_view name : split(text, '|')) {
        const auto found = std::lower_bound(models.begin(), models.end(), name);
        if (found != models.end() && *found == name) {
            set |= std::uint64_t{1} << (found - models.begin());
        }
    }
    return set;
}

Result<std::string> read_packed(const std::filesystem::path& path) {
    MUSTER_TRY(packed, read_file(path));
    if (path.extension() != ".gz") { return std::move(packed); }
    auto text = dialect::gunzip(packed);
    if (!text) { return tl::unexpected(std::move(text).error().wrap(path.string())); }
    return std::move(*text);
}

}  // namespace

Result<OpenbStudy> load_openb_files(const OpenbFiles& files, std::string_view list) {
    OpenbStudy study;
    study.list = list;
    MUSTER_TRY(nodes_text, read_file(files.nodes));
    MUSTER_TRY(nodes, dialect::read_openb_nodes(files.nodes.string(), nodes_text));
    study.nodes = std::move(nodes);
    MUSTER_TRY(pods_text, read_file(files.pods));
    MUSTER_TRY(pods, dialect::read_openb_pods(files.pods.string(), pods_text));
    study.pods = std::move(pods);

    study.models = model_names(study.nodes);
    if (study.models.size() > gpu_models_max) {
        return fail(Code::limit,
                    fmt::format("{}: {} GPU models; expected at most {}", files.nodes.string(),
                                study.models.size(), gpu_models_max));
    }
    for (const dialect::OpenbNode& node : study.nodes) {
        const auto found = std::lower_bound(study.models.begin(), study.models.end(), node.model);
        study.node_model.push_back(node.model.empty()
                                       ? static_cast<std::uint32_t>(gpu_models_max)
                                       : static_cast<std::uint32_t>(found - study.models.begin()));
    }
    for (const dialect::OpenbPod& pod : study.pods) {
        study.requests.push_back({.milli_cpu = pod.milli_cpu,
                                  .memory_mib = pod.memory_mib,
                                  .gpu_count = pod.gpu_count,
                                  .gpu_milli = pod.gpu_milli,
                                  .models = model_set(pod.models, study.models)});
    }

    MUSTER_TRY(arrivals, read_packed(files.arrivals));
    study.arrivals_text = std::move(arrivals);
    MUSTER_TRY(ranks, read_packed(files.ranks));
    study.ranks_text = std::move(ranks);
    return study;
}

Result<OpenbStudy> load_openb_study(const std::filesystem::path& folder, std::string_view list) {
    const auto traces = folder / "alibaba-gpu-v2023";
    // The gpuspec lists are the default list with models named, in the same order.
    const std::string_view order = list.starts_with("gpuspec") ? "default" : list;
    const auto stem = folder / "fgd-arrivals" / fmt::format("openb_pod_list_{}", order);
    return load_openb_files({.nodes = traces / "openb_node_list_gpu_node.csv",
                             .pods = traces / fmt::format("openb_pod_list_{}.csv", list),
                             .arrivals = stem.string() + ".arrivals.csv.gz",
                             .ranks = stem.string() + ".nodeperm.csv.gz"},
                            list);
}

std::int64_t OpenbStudy::gpu_milli_total() const {
    std::int64_t total = 0;
    for (const dialect::OpenbNode& node : nodes) { total += node.gpu_count * gpu_milli_whole; }
    return total;
}

std::vector<std::int64_t> OpenbStudy::gpu_milli_by_model() const {
    std::vector<std::int64_t> totals(models.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].gpu_count > 0) {
            totals[node_model[i]] += nodes[i].gpu_count * gpu_milli_whole;
        }
    }
    return totals;
}

Result<std::vector<std::uint32_t>> OpenbStudy::arrivals(int seed) const {
    return dialect::read_openb_arrivals(fmt::format("arrivals of {}", list), arrivals_text, seed,
                                        pods.size());
}

Result<std::vector<std::uint32_t>> OpenbStudy::ranks(int seed) const {
    return dialect::read_openb_ranks(fmt::format("node ranks of {}", list), ranks_text, seed,
                                     nodes.size());
}

std::vector<MixClass> OpenbStudy::common_classes() const {
    using Key = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::string>;
    std::map<Key, MixClass> counts;
    for (std::size_t i = 0; i < pods.size(); ++i) {
        const Request& request = requests[i];
        MixClass& job =
            counts[{request.milli_cpu, request.gpu_milli, request.gpu_count, pods[i].models}];
        const std::int64_t weight = job.weight + 1;
        job = request.mix_class();
        job.weight = weight;
    }
    std::vector<std::tuple<std::int64_t, Key, MixClass>> order;
    for (const auto& [key, job] : counts) { order.emplace_back(job.weight, key, job); }
    std::sort(order.begin(), order.end(), std::greater<>());

    std::vector<MixClass> classes;
    std::int64_t covered = 0;
    for (const auto& [weight, key, job] : order) {
        if (covered * 100 >= static_cast<std::int64_t>(pods.size()) * covered_percent) { break; }
        covered += weight;
        classes.push_back(job);
    }
    return classes;
}

}  // namespace muster::sim
