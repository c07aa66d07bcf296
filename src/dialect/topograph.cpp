#include "dialect/topograph.h"

#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace muster::dialect {

namespace {

struct Dialect {
    const char* name;
    std::vector<Level> levels;  // outermost first
};

/// v1 numbers its tiers from the node up, without a bound; as many are known as there may be
/// levels.
Dialect topograph_v1() {
    Dialect dialect{"Topograph v1", {}};
    for (std::size_t tier = topology_levels_max; tier-- > 0;) {
        dialect.levels.push_back(
            {fmt::format("tier{}", tier), fmt::format("fabric.topograph.run/tier-{}", tier)});
    }
    return dialect;
}

/// The better ones first: a tie in the number of nodes goes to the earlier.
std::vector<Dialect> network_dialects() {
    const std::string nvidia = "network.topology.nvidia.com/";
    const std::string aws = "topology.k8s.aws/network-node-layer-";
    const std::string gcp = "cloud.google.com/gce-topology-";
    const std::string oci = "oci.oraclecloud.com/host.";
    return {
        topograph_v1(),
        {"Topograph v0.3",
         {{"core", nvidia + "core"}, {"spine", nvidia + "spine"}, {"leaf", nvidia + "leaf"}}},
        {"Topograph v0.1",
         {{"datacenter", nvidia + "datacenter"},
          {"spine", nvidia + "spine"},
          {"block", nvidia + "block"}}},
        {"AWS", {{"layer1", aws + "1"}, {"layer2", aws + "2"}, {"layer3", aws + "3"}}},
        {"GCP", {{"block", gcp + "block"}, {"subblock", gcp + "subblock"}, {"host", gcp + "host"}}},
        {"OCI", {{"block", oci + "network_block_id"}, {"rack", oci + "rack_id"}}},
    };
}

/// NVLink domains, the better source first; a sub-domain lies inside the domain of the same source.
struct AcceleratorKeys {
    const char* domain;
    const char* part;
};
constexpr std::array accelerator_keys{
    AcceleratorKeys{"accelerator.topograph.run/domain", "accelerator.topograph.run/sub-domain"},
    AcceleratorKeys{"network.topology.nvidia.com/accelerator", ""},
    AcceleratorKeys{"nvidia.com/gpu.clique", ""},
    AcceleratorKeys{"topology.k8s.aws/ultraserver-id", ""},
};

class Detector {
public:
    explicit Detector(std::span<const NodeLabels> nodes) : nodes_(nodes) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (const Label& label : nodes[i].labels) {
                if (!label.value.empty()) { values_[label.key].emplace(i, label.value); }
            }
        }
    }

    LabelTopology detect() {
        add({"region", "topology.kubernetes.io/region"});
        add({"zone", "topology.kubernetes.io/zone"});
        add_network();
        add_accelerator();
        return std::move(result_);
    }

private:
    using Values = std::map<std::size_t, std::string_view>;  // node → value

    [[nodiscard]] const Values* values_of(std::string_view key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? nullptr : &found->second;
    }

    /// Nodes that carry any of the dialect's labels.
    [[nodiscard]] std::size_t carriers(const Dialect& dialect) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            count += static_cast<std::size_t>(
                std::any_of(dialect.levels.begin(), dialect.levels.end(), [&](const Level& level) {
                    const Values* values = values_of(level.key);
                    return values != nullptr && values->contains(i);
                }));
        }
        return count;
    }

    [[nodiscard]] std::size_t label_count(const Dialect& dialect) const {
        std::size_t count = 0;
        for (const Level& level : dialect.levels) {
            if (const Values* values = values_of(level.key)) { count += values->size(); }
        }
        return count;
    }

    /// A domain of `inner` that lies in two domains of `outer`, where nodes carry both.
    [[nodiscard]] std::optional<std::string_view> crossing(std::string_view inner,
                                                           std::string_view outer) const {
        std::map<std::string_view, std::string_view> parents;
        const Values& outer_values = *values_of(outer);
        for (const auto& [node, value] : *values_of(inner)) {
            const auto found = outer_values.find(node);
            if (found == outer_values.end()) { continue; }
            const auto [parent, is_new] = parents.emplace(value, found->second);
            if (!is_new && parent->second != found->second) { return value; }
        }
        return std::nullopt;
    }

    void add(Level level) {
        if (values_of(level.key) == nullptr) { return; }
        if (!result_.levels.empty()) {
            const Level& outer = result_.levels.back();
            if (const auto domain = crossing(level.key, outer.key)) {
                return note(fmt::format("{} {} lies in more than one {}: the level {} is left out",
                                        level.name, *domain, outer.name, level.key));
            }
        }
        if (result_.levels.size() == topology_levels_max) {
            return note(
                fmt::format("more than {} levels: {} is left out", topology_levels_max, level.key));
        }
        result_.levels.push_back(std::move(level));
    }

    void add_network() {
        const std::vector<Dialect> dialects = network_dialects();
        const Dialect* best = nullptr;
        std::pair<std::size_t, std::size_t> best_score;  // carriers, then labels in all
        for (const Dialect& dialect : dialects) {
            const std::pair score(carriers(dialect), label_count(dialect));
            if (score > best_score) {
                best = &dialect;
                best_score = score;
            }
        }
        const std::size_t best_count = best_score.first;
        if (best == nullptr) { return; }
        for (const Dialect& dialect : dialects) {
            if (const std::size_t count = carriers(dialect);
                &dialect != best && count > 0 && !shares_key(dialect, *best)) {
                note(fmt::format("{} labels on {} nodes are left out: {} carry those of {}",
                                 dialect.name, count, best_count, best->name));
            }
        }
        if (best_count < nodes_.size()) {
            note(fmt::format("{} of {} nodes carry no {} labels", nodes_.size() - best_count,
                             nodes_.size(), best->name));
        }
        result_.dialect = best->name;
        for (const Level& level : best->levels) { add(level); }
    }

    /// v0.1 and v0.3 both say spine.
    static bool shares_key(const Dialect& a, const Dialect& b) {
        return std::any_of(a.levels.begin(), a.levels.end(), [&](const Level& level) {
            return std::find_if(b.levels.begin(), b.levels.end(), [&](const Level& other) {
                       return other.key == level.key;
                   }) != b.levels.end();
        });
    }

    void add_accelerator() {
        const AcceleratorKeys* best = nullptr;
        std::size_t best_count = 0;
        for (const AcceleratorKeys& keys : accelerator_keys) {
            const Values* values = values_of(keys.domain);
            if (values != nullptr && values->size() > best_count) {
                best = &keys;
                best_count = values->size();
            }
        }
        if (best == nullptr) { return; }
        insert({"accelerator", best->domain});
        if (values_of(best->part) != nullptr) { insert({"accelerator-part", best->part}); }
    }

    /// As far in as it nests, and everything further in nests in it.
    void insert(const Level& level) {
        std::vector<Level>& levels = result_.levels;
        if (levels.size() == topology_levels_max) {
            return note(
                fmt::format("more than {} levels: {} is left out", topology_levels_max, level.key));
        }
        for (std::size_t at = levels.size() + 1; at-- > 0;) {
            const bool fits_out = at == 0 || !crossing(level.key, levels[at - 1].key);
            const bool fits_in = at == levels.size() || !crossing(levels[at].key, level.key);
            if (!fits_in) { break; }
            if (!fits_out) { continue; }
            levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(at), level);
            return;
        }
        note(fmt::format("{} domains cut across the other levels: {} is left out", level.name,
                         level.key));
    }

    void note(std::string text) { result_.notes.push_back(std::move(text)); }

    std::span<const NodeLabels> nodes_;
    std::map<std::string_view, Values> values_;
    LabelTopology result_;
};

}  // namespace

LabelTopology detect_levels(std::span<const NodeLabels> nodes) { return Detector(nodes).detect(); }

}  // namespace muster::dialect
