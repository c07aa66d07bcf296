#include "dialect/topology_file.h"

#include "base/ids.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace muster::dialect {

namespace {

using UnitId = Id<struct TopologyUnitTag>;

class Builder {
public:
    Builder(const std::vector<TopologyUnit>& units, const TopologyWords& words)
        : units_(units),
          words_(words),
          parents_(units.size()) {}

    Result<TopologyFile> build() {
        MUSTER_CHECK(add_names());
        MUSTER_CHECK(add_parents());
        MUSTER_CHECK(add_nodes());
        MUSTER_CHECK(add_depth());
        return result();
    }

private:
    [[nodiscard]] const TopologyUnit& at(UnitId id) const { return units_[id.value]; }

    tl::unexpected<Error> refuse(const TopologyUnit& unit, std::string_view what) const {
        return fail(Code::invalid,
                    fmt::format("{}: {} {}: {}", unit.place, words_.unit, unit.name, what));
    }

    Result<> add_names() {
        for (std::size_t i = 0; i < units_.size(); ++i) {
            const TopologyUnit& unit = units_[i];
            if (unit.name.empty() || unit.name.size() > name_bytes_max) {
                return refuse(unit,
                              fmt::format("expected a name of 1 to {} bytes", name_bytes_max));
            }
            const auto [found, is_new] = ids_.emplace(unit.name, UnitId(i));
            if (!is_new) {
                return refuse(unit,
                              fmt::format("is there already, at {}", at(found->second).place));
            }
            if (unit.children.empty() == unit.nodes.empty()) {
                return refuse(unit,
                              fmt::format("expected either nodes or further {}es, and not both",
                                          words_.unit));
            }
        }
        return {};
    }

    Result<> add_parents() {
        for (std::size_t i = 0; i < units_.size(); ++i) {
            for (const std::string& child : units_[i].children) {
                const auto found = ids_.find(child);
                if (found == ids_.end()) {
                    return refuse(units_[i], fmt::format("its child {} is not defined", child));
                }
                UnitId& parent = parents_[found->second.value];
                if (parent.is_valid()) {
                    return refuse(units_[i],
                                  fmt::format("its child {} has a parent already, {} at {}", child,
                                              at(parent).name, at(parent).place));
                }
                parent = UnitId(i);
            }
        }
        return {};
    }

    Result<> add_nodes() {
        for (std::size_t i = 0; i < units_.size(); ++i) {
            for (const std::string& node : units_[i].nodes) {
                const auto [found, is_new] = nodes_.emplace(node, UnitId(i));
                if (!is_new) {
                    return refuse(units_[i],
                                  fmt::format("node {} is in {} already, at {}", node,
                                              at(found->second).name, at(found->second).place));
                }
            }
        }
        return {};
    }

    /// The way up from every unit that has nodes; as each has one parent, it either ends or comes
    /// round.
    Result<> add_depth() {
        const TopologyUnit* deepest = nullptr;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            std::size_t depth = 0;
            for (UnitId up(i); up.is_valid(); up = parents_[up.value]) {
                if (++depth > topology_levels_max) { break; }
            }
            if (depth > topology_levels_max) {
                const UnitId round = on_cycle(UnitId(i));
                if (round.is_valid()) { return refuse(at(round), "is below itself"); }
                return refuse(units_[i],
                              fmt::format("is deeper than {} levels", topology_levels_max));
            }
            if (units_[i].nodes.empty()) { continue; }
            if (deepest != nullptr && depth != depth_) {
                return refuse(units_[i], fmt::format("its nodes are below {} levels, those of {} "
                                                     "at {} below {}; expected the same",
                                                     depth, deepest->name, deepest->place, depth_));
            }
            deepest = &units_[i];
            depth_ = depth;
        }
        return {};
    }

    /// A unit of the cycle that the way up from `start` ends in; invalid when it ends at a root.
    [[nodiscard]] UnitId on_cycle(UnitId start) const {
        UnitId slow = start;
        UnitId fast = start;
        while (fast.is_valid() && parents_[fast.value].is_valid()) {
            slow = parents_[slow.value];
            fast = parents_[parents_[fast.value].value];
            if (slow == fast) { return slow; }
        }
        return {};
    }

    [[nodiscard]] TopologyFile result() const {
        TopologyFile file;
        for (std::size_t height = depth_; height-- > 0;) {
            const std::string name = height < words_.levels.size()
                                         ? std::string(words_.levels[height])
                                         : fmt::format("tier{}", height + 1);
            file.levels.push_back(
                {.name = name, .key = fmt::format("{}{}", topology_key_prefix, name)});
        }
        for (const auto& [node, unit] : nodes_) {
            NodeLabels labels{.node = node, .labels = {}};
            UnitId up = unit;
            for (std::size_t level = depth_; level-- > 0; up = parents_[up.value]) {
                labels.labels.push_back({.key = file.levels[level].key, .value = at(up).name});
            }
            std::reverse(labels.labels.begin(), labels.labels.end());
            file.nodes.push_back(std::move(labels));
        }
        return file;
    }

    const std::vector<TopologyUnit>& units_;
    const TopologyWords& words_;
    std::map<std::string_view, UnitId> ids_;
    std::vector<UnitId> parents_;
    std::map<std::string, UnitId> nodes_;
    std::size_t depth_ = 0;
};

}  // namespace

Result<TopologyFile> build_topology(const std::vector<TopologyUnit>& units,
                                    const TopologyWords& words) {
    return Builder(units, words).build();
}

}  // namespace muster::dialect
