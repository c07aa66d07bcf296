#include "dialect/hypernode.h"

#include "base/ids.h"
#include "dialect/kubernetes_affinity.h"
#include "model/limits.h"

#include <boost/regex.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace muster::dialect {

namespace {

using HyperNodeId = Id<struct HyperNodeTag>;

/// A pattern, with the library's exceptions kept inside.
class Pattern {
public:
    static Result<Pattern> compile(const std::string& text) {
        if (text.size() > hypernode_pattern_bytes_max) {
            return fail(Code::limit, fmt::format("pattern of {} bytes, expected at most {}",
                                                 text.size(), hypernode_pattern_bytes_max));
        }
        try {
            return Pattern(boost::regex(text));
        } catch (const std::exception&) {
            return fail(
                Code::invalid,
                fmt::format("found the pattern \"{:.64}\", expected a regular expression", text));
        }
    }

    [[nodiscard]] Result<bool> is_in(const std::string& name) const {
        try {
            return boost::regex_search(name, regex_);
        } catch (const std::exception&) {
            return fail(
                Code::limit,
                fmt::format("its pattern takes too long on \"{:.64}\", expected a simpler one",
                            name));
        }
    }

private:
    explicit Pattern(boost::regex regex) : regex_(std::move(regex)) {}
    boost::regex regex_;
};

class Builder {
public:
    Builder(const std::vector<HyperNode>& hypernodes, std::span<const NodeLabels> nodes)
        : hypernodes_(hypernodes),
          nodes_(nodes),
          parents_(hypernodes.size()),
          node_parents_(nodes.size()) {}

    Result<HyperNodeTopology> build() {
        MUSTER_CHECK(add_names());
        MUSTER_CHECK(add_tiers());
        for (std::size_t i = 0; i < hypernodes_.size(); ++i) {
            for (const HyperNodeMember& member : hypernodes_[i].members) {
                MUSTER_CHECK(add_member(HyperNodeId(i), member));
            }
        }
        return result();
    }

private:
    using Kind = HyperNodeMember::Kind;
    using Match = HyperNodeMember::Match;

    [[nodiscard]] const HyperNode& at(HyperNodeId id) const { return hypernodes_[id.value]; }

    static tl::unexpected<Error> refuse(const HyperNode& hypernode, std::string_view what) {
        return fail(Code::invalid,
                    fmt::format("{}: HyperNode {}: {}", hypernode.place, hypernode.name, what));
    }

    Result<> add_names() {
        for (std::size_t i = 0; i < hypernodes_.size(); ++i) {
            const auto [found, is_new] = ids_.emplace(hypernodes_[i].name, HyperNodeId(i));
            if (!is_new) {
                return refuse(hypernodes_[i],
                              fmt::format("is there already, at {}", at(found->second).place));
            }
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) { node_ids_.emplace(nodes_[i].node, i); }
        return {};
    }

    Result<> add_tiers() {
        for (const HyperNode& hypernode : hypernodes_) {
            if (hypernode.tier < 0 || hypernode.tier > hypernode_tier_max) {
                return refuse(hypernode, fmt::format("found tier {}, expected 0 to {}",
                                                     hypernode.tier, hypernode_tier_max));
            }
            std::string& name = tiers_[hypernode.tier];
            if (!name.empty() && !hypernode.tier_name.empty() && name != hypernode.tier_name) {
                return refuse(hypernode, fmt::format("calls tier {} {}, another one calls it {}",
                                                     hypernode.tier, hypernode.tier_name, name));
            }
            if (name.empty()) { name = hypernode.tier_name; }
        }
        if (tiers_.size() > topology_levels_max) {
            return fail(Code::limit,
                        fmt::format("found {} tiers of HyperNodes, expected at most {}",
                                    tiers_.size(), topology_levels_max));
        }
        std::map<std::string_view, std::int64_t> names;
        for (auto& [tier, name] : tiers_) {
            if (name.empty()) { name = fmt::format("tier{}", tier); }
            const auto [found, is_new] = names.emplace(name, tier);
            if (!is_new) {
                return fail(
                    Code::invalid,
                    fmt::format(
                        "tiers {} and {} of HyperNodes are both called {}, expected a name each",
                        found->second, tier, name));
            }
        }
        return {};
    }

    Result<> add_member(HyperNodeId parent, const HyperNodeMember& member) {
        switch (member.match) {
            case Match::exact: return add_exact(parent, member);
            case Match::regex: return add_matching(parent, member);
            case Match::labels: break;
        }
        if (member.kind == Kind::hypernode) {
            return refuse(at(parent), "selects HyperNodes by labels, expected a name or a pattern");
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (matches(member.labels, nodes_[i].labels)) { MUSTER_CHECK(add_node(parent, i)); }
        }
        return {};
    }

    Result<> add_exact(HyperNodeId parent, const HyperNodeMember& member) {
        if (member.kind == Kind::hypernode) {
            const auto found = ids_.find(member.text);
            if (found == ids_.end()) {
                return refuse(at(parent),
                              fmt::format("its member {} is no HyperNode", member.text));
            }
            return add_hypernode(parent, found->second);
        }
        const auto found = node_ids_.find(member.text);
        if (found == node_ids_.end()) {
            return refuse(at(parent), fmt::format("its member {} is no node", member.text));
        }
        return add_node(parent, found->second);
    }

    Result<> add_matching(HyperNodeId parent, const HyperNodeMember& member) {
        auto pattern = Pattern::compile(member.text);
        if (!pattern) { return refuse(at(parent), pattern.error().message); }
        const bool is_node = member.kind == Kind::node;
        const std::size_t count = is_node ? nodes_.size() : hypernodes_.size();
        for (std::size_t i = 0; i < count; ++i) {
            const auto is_in = pattern->is_in(is_node ? nodes_[i].node : hypernodes_[i].name);
            if (!is_in) { return refuse(at(parent), is_in.error().message); }
            const bool is_itself = !is_node && HyperNodeId(i) == parent;
            if (!*is_in || is_itself) { continue; }
            MUSTER_CHECK(is_node ? add_node(parent, i) : add_hypernode(parent, HyperNodeId(i)));
        }
        return {};
    }

    Result<> add_hypernode(HyperNodeId parent, HyperNodeId child) {
        if (at(child).tier >= at(parent).tier) {
            return refuse(at(parent),
                          fmt::format("its member {} is of tier {}, expected one below {}",
                                      at(child).name, at(child).tier, at(parent).tier));
        }
        return set_parent(parents_[child.value], parent, at(child).name);
    }

    Result<> add_node(HyperNodeId parent, std::size_t node) {
        return set_parent(node_parents_[node], parent, nodes_[node].node);
    }

    /// Several members of one HyperNode may name the same child.
    Result<> set_parent(HyperNodeId& slot, HyperNodeId parent, std::string_view child) {
        if (slot.is_valid() && slot != parent) {
            return refuse(at(parent), fmt::format("its member {} has a parent already, {} at {}",
                                                  child, at(slot).name, at(slot).place));
        }
        slot = parent;
        return {};
    }

    [[nodiscard]] HyperNodeTopology result() const {
        HyperNodeTopology topology;
        for (auto tier = tiers_.rbegin(); tier != tiers_.rend(); ++tier) {
            topology.tiers.push_back(tier->first);
            topology.file.levels.push_back(
                {.name = tier->second,
                 .key = fmt::format("{}{}", topology_key_prefix, tier->second)});
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            NodeLabels labels{.node = nodes_[i].node,
                              .labels = labels_of(topology, node_parents_[i])};
            if (!labels.labels.empty()) { topology.file.nodes.push_back(std::move(labels)); }
        }
        std::sort(topology.file.nodes.begin(), topology.file.nodes.end(),
                  [](const NodeLabels& a, const NodeLabels& b) { return a.node < b.node; });
        return topology;
    }

    /// From the node up, each HyperNode stands for its tier and for those between it and the next
    /// one above.
    [[nodiscard]] std::vector<Label> labels_of(const HyperNodeTopology& topology,
                                               HyperNodeId nearest) const {
        std::vector<Label> labels;
        HyperNodeId here = nearest;
        for (std::size_t level = topology.tiers.size(); level-- > 0 && here.is_valid();) {
            const std::int64_t tier = topology.tiers[level];
            if (tier < at(here).tier) { continue; }
            const HyperNodeId above = parents_[here.value];
            if (tier > at(here).tier && !above.is_valid()) { break; }
            if (above.is_valid() && at(above).tier == tier) { here = above; }
            labels.push_back({.key = topology.file.levels[level].key, .value = at(here).name});
        }
        std::reverse(labels.begin(), labels.end());
        return labels;
    }

    const std::vector<HyperNode>& hypernodes_;
    std::span<const NodeLabels> nodes_;
    std::map<std::string_view, HyperNodeId> ids_;
    std::map<std::string_view, std::size_t> node_ids_;
    std::map<std::int64_t, std::string> tiers_;
    std::vector<HyperNodeId> parents_;
    std::vector<HyperNodeId> node_parents_;
};

}  // namespace

Result<HyperNodeTopology> build_hypernodes(const std::vector<HyperNode>& hypernodes,
                                           std::span<const NodeLabels> nodes) {
    return Builder(hypernodes, nodes).build();
}

}  // namespace muster::dialect
