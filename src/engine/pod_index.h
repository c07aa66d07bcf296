// Pod affinity and anti-affinity: per live term, how many tasks on each node match its selector
// and how many own it. Only tasks with such terms, or matched by one, pay for it.
#pragma once

#include "engine/topology.h"
#include "engine/workload_state.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster {

struct World;

/// Which positions a task may take, and what it would like; empty means all, and nothing.
struct PodVerdict {
    std::vector<std::uint8_t> allowed;     // by position
    std::vector<std::int32_t> preference;  // by position, sum of weights
};

class PodIndex {
public:
    /// Compiles the group's own terms and finds those of others that match it, both ways.
    void add_group(Group& group, std::span<const PodTerm> terms, World& world);
    void remove_group(const Group& group, World& world);

    void change(const Group& group, NodeId node, std::int32_t by);

    /// True when the group's tasks need a verdict per task.
    [[nodiscard]] bool concerns(const Group& group) const;
    [[nodiscard]] PodVerdict judge(const Group& group, const World& world) const;
    /// All counts that are not zero, in a fixed order; for world_text.
    [[nodiscard]] std::string text(const World& world) const;

private:
    struct Term {
        std::string key;  // of the text, for sharing
        std::vector<Match> selector;
        std::vector<Symbol> namespaces;  // empty: any
        SpreadRule spread;
        Symbol topology_key;
        bool is_anti = false;
        std::int32_t weight = 0;
        std::uint32_t users = 0;
        std::vector<std::int32_t> matching;  // tasks per NodeId
        std::vector<std::int32_t> owning;
        std::int64_t matching_total = 0;
        std::int64_t owning_total = 0;
    };

    [[nodiscard]] static bool matches(const Term& term, Symbol name_space, const LabelSet& labels,
                                      const Symbols& symbols);
    [[nodiscard]] bool is_first_of_its_kind(
        const Group& group, std::span<const std::vector<std::int64_t>> counts) const;
    /// The nodes whose domains the rule counts, by position.
    [[nodiscard]] std::vector<std::uint8_t> counted_by(const Term& term, const Group& group,
                                                       const World& world) const;
    void judge_spread(const Term& term, bool is_matched, const Group& group, const World& world,
                      PodVerdict& out) const;
    /// Counts per position, summed over the domain of the term's key that the position is in.
    static std::vector<std::int64_t> spread(const Term& term,
                                            const std::vector<std::int32_t>& counts,
                                            const World& world);

    std::vector<Term> terms_;
};

}  // namespace muster
