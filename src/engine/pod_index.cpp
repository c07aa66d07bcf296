#include "engine/pod_index.h"

#include "engine/fit.h"
#include "engine/world.h"

#include <algorithm>
#include <unordered_map>

namespace muster {

namespace {

std::string key_of(const PodTerm& term, const std::vector<Symbol>& namespaces) {
    std::string key = term.topology_key + (term.is_anti ? "!" : "=") + std::to_string(term.weight);
    for (const Symbol name : namespaces) { key += "@" + std::to_string(name.value); }
    if (const SpreadRule& rule = term.spread; rule.max_skew > 0) {
        key += "~" + std::to_string(rule.max_skew) + "/" + std::to_string(rule.domains_min) +
               (rule.is_wish ? "w" : "") + (rule.skips_unselected ? "s" : "") +
               (rule.skips_tainted ? "t" : "");
    }
    for (const LabelMatch& match : term.selector) {
        key += "|" + std::to_string(match.key.size()) + ":" + match.key +
               std::to_string(static_cast<int>(match.op));
        for (const std::string& value : match.values) {
            key += "," + std::to_string(value.size()) + ":" + value;
        }
    }
    return key;
}

void add_to(std::vector<std::int32_t>& counts, NodeId node, std::int32_t by) {
    if (counts.size() <= node.value) { counts.resize(node.value + 1, 0); }
    counts[node.value] += by;
}

bool has(const std::vector<std::uint32_t>& list, std::size_t index) {
    return std::find(list.begin(), list.end(), index) != list.end();
}

}  // namespace

bool PodIndex::matches(const Term& term, Symbol name_space, const LabelSet& labels,
                       const Symbols& symbols) {
    const bool is_there = term.namespaces.empty() ||
                          std::find(term.namespaces.begin(), term.namespaces.end(), name_space) !=
                              term.namespaces.end();
    return is_there && all_hold(term.selector, labels, symbols);
}

void PodIndex::add_group(Group& group, std::span<const PodTerm> specs, World& world) {
    group.terms.clear();
    group.matched.clear();
    for (const PodTerm& spec : specs) {
        std::vector<Symbol> namespaces;
        for (const std::string& name : spec.namespaces) {
            namespaces.push_back(world.symbols.intern(name));
        }
        if (namespaces.empty()) { namespaces.push_back(group.name_space); }
        if (spec.is_any_namespace) { namespaces.clear(); }
        std::sort(namespaces.begin(), namespaces.end());
        const std::string key = key_of(spec, namespaces);
        auto found = std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) {
            return term.users > 0 && term.key == key;
        });
        if (found == terms_.end()) {
            found = std::find_if(terms_.begin(), terms_.end(),
                                 [](const Term& term) { return term.users == 0; });
            if (found == terms_.end()) { found = terms_.emplace(terms_.end()); }
            *found = Term{};
            found->key = key;
            found->selector = compile_matches(spec.selector, world.symbols);
            found->namespaces = namespaces;
            found->topology_key = world.symbols.intern(spec.topology_key);
            found->is_anti = spec.is_anti;
            found->weight = spec.weight;
            found->spread = spec.spread;
            const auto index = static_cast<std::uint32_t>(found - terms_.begin());
            for (Workload& workload : world.workloads) {  // a new term meets those already here
                for (Group& other : workload.groups) {
                    if (!workload.is_present || !other.is_leaf ||
                        !matches(*found, other.name_space,
                                 known_labels(other.labels, world.symbols), world.symbols)) {
                        continue;
                    }
                    other.matched.push_back(index);
                    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(other.count); ++i) {
                        const Task& task = workload.tasks[other.first_task + i];
                        if (!task.holds()) { continue; }
                        add_to(found->matching, task.node, 1);
                        ++found->matching_total;
                    }
                }
            }
        }
        ++found->users;
        group.terms.push_back(static_cast<std::uint32_t>(found - terms_.begin()));
    }
    group.matched.clear();  // a new term of its own may have met it already
    const LabelSet labels = known_labels(group.labels, world.symbols);
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        if (terms_[i].users > 0 && matches(terms_[i], group.name_space, labels, world.symbols)) {
            group.matched.push_back(static_cast<std::uint32_t>(i));
        }
    }
}

void PodIndex::remove_group(const Group& group, World& world) {
    for (const std::uint32_t index : group.terms) {
        if (--terms_[index].users > 0) { continue; }
        for (Workload& workload : world.workloads) {
            for (Group& other : workload.groups) { std::erase(other.matched, index); }
        }
    }
}

void PodIndex::change(const Group& group, NodeId node, std::int32_t by) {
    for (const std::uint32_t index : group.matched) {
        if (terms_[index].users == 0) { continue; }
        add_to(terms_[index].matching, node, by);
        terms_[index].matching_total += by;
    }
    for (const std::uint32_t index : group.terms) {
        add_to(terms_[index].owning, node, by);
        terms_[index].owning_total += by;
    }
}

bool PodIndex::concerns(const Group& group) const {
    return !group.terms.empty() ||
           std::any_of(group.matched.begin(), group.matched.end(), [&](std::uint32_t index) {
               return terms_[index].users > 0 &&
                      (terms_[index].is_anti || terms_[index].weight > 0);
           });
}

std::vector<std::int64_t> PodIndex::spread(const Term& term,
                                           const std::vector<std::int32_t>& counts,
                                           const World& world) {
    // −1: the node lacks the key and is in no domain of it.
    std::vector<std::int64_t> out(world.topology.size(), -1);
    std::unordered_map<std::uint32_t, std::int64_t> sums;  // by label value; only looked up
    const auto count_at = [&](NodeId node) {
        return node.value < counts.size() ? std::int64_t{counts[node.value]} : 0;
    };
    for (Position at = 0; at < out.size(); ++at) {
        const NodeId node = world.topology.node_at(at);
        const Symbol value = find_label(world.machines[node.value].labels, term.topology_key);
        if (value.is_valid()) { sums[value.value] += count_at(node); }
    }
    for (Position at = 0; at < out.size(); ++at) {
        const Symbol value =
            find_label(world.machines[world.topology.node_at(at).value].labels, term.topology_key);
        if (value.is_valid()) { out[at] = sums[value.value]; }
    }
    return out;
}

std::string PodIndex::text(const World& world) const {
    std::vector<std::string> lines;
    for (const Term& term : terms_) {
        if (term.users == 0) { continue; }
        std::string line = term.key + " users " + std::to_string(term.users);
        for (std::size_t i = 0; i < world.machines.size(); ++i) {
            const auto count = [&](const std::vector<std::int32_t>& counts) {
                return i < counts.size() ? counts[i] : 0;
            };
            if (count(term.matching) == 0 && count(term.owning) == 0) { continue; }
            line += " " + world.machines[i].spec.name + ":" + std::to_string(count(term.matching)) +
                    "/" + std::to_string(count(term.owning));
        }
        lines.push_back(std::move(line));
    }
    std::sort(lines.begin(), lines.end());
    std::string out;
    for (const std::string& line : lines) { out += "term " + line + "\n"; }
    return out;
}

/// Who likes its own kind, in all that it requires, has nobody to be near to when it comes first.
/// `counts`: of each of the group's terms, over domains.
bool PodIndex::is_first_of_its_kind(const Group& group,
                                    std::span<const std::vector<std::int64_t>> counts) const {
    for (std::size_t i = 0; i < group.terms.size(); ++i) {
        const Term& term = terms_[group.terms[i]];
        if (term.is_anti || term.weight > 0 || term.spread.max_skew > 0) { continue; }
        if (!has(group.matched, group.terms[i])) { return false; }
        if (std::any_of(counts[i].begin(), counts[i].end(),
                        [](std::int64_t count) { return count > 0; })) {
            return false;
        }
    }
    return true;
}

/// A domain counts when it has a node that the task could be on, and that has the keys of all of
/// the task's required rules (of this one alone for a wish).
std::vector<std::uint8_t> PodIndex::counted_by(const Term& term, const Group& group,
                                               const World& world) const {
    std::vector<Symbol> keys{term.topology_key};
    for (const std::uint32_t index : group.terms) {
        const Term& other = terms_[index];
        if (other.spread.max_skew > 0 && other.spread.is_wish == term.spread.is_wish) {
            keys.push_back(other.topology_key);
        }
    }
    const Shape& shape = world.shapes.at(group.shape);
    std::vector<std::uint8_t> out(world.topology.size(), 0);
    for (Position at = 0; at < out.size(); ++at) {
        const Machine& machine = world.machines[world.topology.node_at(at).value];
        const bool has_keys = std::all_of(keys.begin(), keys.end(), [&](Symbol key) {
            return find_label(machine.labels, key).is_valid();
        });
        out[at] = has_keys &&
                  (!term.spread.skips_unselected || is_selected(shape, machine, world.symbols)) &&
                  (!term.spread.skips_tainted ||
                   is_tolerated(machine.spec.taints, shape.spec.tolerations));
    }
    return out;
}

void PodIndex::judge_spread(const Term& term, bool is_matched, const Group& group,
                            const World& world, PodVerdict& out) const {
    constexpr std::int64_t preference_most = 100;
    const std::vector<std::uint8_t> counted = counted_by(term, group, world);
    std::unordered_map<std::uint32_t, std::int64_t> sums;  // by label value; only looked up
    std::vector<Symbol> domains;
    const auto domain_at = [&](Position at) {
        return find_label(world.machines[world.topology.node_at(at).value].labels,
                          term.topology_key);
    };
    for (Position at = 0; at < counted.size(); ++at) {
        if (counted[at] == 0) { continue; }
        const NodeId node = world.topology.node_at(at);
        const Symbol domain = domain_at(at);
        const auto [sum, is_new] = sums.try_emplace(domain.value, 0);
        if (is_new) { domains.push_back(domain); }
        sum->second += node.value < term.matching.size() ? term.matching[node.value] : 0;
    }
    std::int64_t least = domains.empty() ? 0 : INT64_MAX;
    std::int64_t most = 0;
    for (const Symbol domain : domains) {
        least = std::min(least, sums[domain.value]);
        most = std::max(most, sums[domain.value]);
    }
    if (static_cast<std::int64_t>(domains.size()) < term.spread.domains_min) { least = 0; }
    for (Position at = 0; at < counted.size(); ++at) {
        const Symbol domain = domain_at(at);
        const auto sum = domain.is_valid() ? sums.find(domain.value) : sums.end();
        const std::int64_t here = sum != sums.end() ? sum->second : 0;
        if (!term.spread.is_wish) {
            const std::int64_t skew = here + (is_matched ? 1 : 0) - least;
            if (!domain.is_valid() || skew > term.spread.max_skew) { out.allowed[at] = 0; }
        } else if (counted[at] == 0) {
            out.preference[at] -= static_cast<std::int32_t>(preference_most);
        } else if (most > least) {
            out.preference[at] -=
                static_cast<std::int32_t>((here - least) * preference_most / (most - least));
        }
    }
}

PodVerdict PodIndex::judge(const Group& group, const World& world) const {
    PodVerdict out;
    out.allowed.assign(world.topology.size(), 1);
    out.preference.assign(world.topology.size(), 0);
    std::vector<std::vector<std::int64_t>> near(group.terms.size());
    for (std::size_t i = 0; i < near.size(); ++i) {
        const Term& term = terms_[group.terms[i]];
        if (term.spread.max_skew == 0) { near[i] = spread(term, term.matching, world); }
    }
    const bool is_first = is_first_of_its_kind(group, near);
    for (std::size_t i = 0; i < near.size(); ++i) {
        const Term& term = terms_[group.terms[i]];
        if (term.spread.max_skew > 0) {
            judge_spread(term, has(group.matched, group.terms[i]), group, world, out);
            continue;
        }
        const std::vector<std::int64_t>& counts = near[i];
        for (Position at = 0; at < counts.size(); ++at) {
            if (term.weight > 0) {
                if (counts[at] > 0) {
                    out.preference[at] += term.is_anti ? -term.weight : term.weight;
                }
            } else if (term.is_anti ? counts[at] > 0
                                    : counts[at] < 0 || (counts[at] == 0 && !is_first)) {
                out.allowed[at] = 0;
            }
        }
    }
    for (const std::uint32_t index : group.matched) {
        const Term& term = terms_[index];
        if (term.users == 0 || term.owning_total == 0) { continue; }
        if (!term.is_anti && term.weight == 0) { continue; }
        const std::vector<std::int64_t> counts = spread(term, term.owning, world);
        for (Position at = 0; at < counts.size(); ++at) {
            if (counts[at] <= 0) { continue; }
            if (term.weight > 0) {
                out.preference[at] += term.is_anti ? -term.weight : term.weight;
            } else {
                out.allowed[at] = 0;
            }
        }
    }
    return out;
}

}  // namespace muster
