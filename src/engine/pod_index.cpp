#include "engine/pod_index.h"

#include "engine/world.h"

#include <algorithm>
#include <unordered_map>

namespace muster {

namespace {

std::string key_of(const PodTerm& term, const std::vector<Symbol>& namespaces) {
    std::string key = term.topology_key + (term.is_anti ? "!" : "=") + std::to_string(term.weight);
    for (const Symbol name : namespaces) { key += "@" + std::to_string(name.value); }
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

bool PodIndex::matches(const Term& term, const Group& group, const Symbols& symbols) const {
    return std::find(term.namespaces.begin(), term.namespaces.end(), group.name_space) !=
               term.namespaces.end() &&
           all_hold(term.selector, known_labels(group.labels, symbols), symbols);
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
            const auto index = static_cast<std::uint32_t>(found - terms_.begin());
            for (Workload& workload : world.workloads) {  // a new term meets those already here
                for (Group& other : workload.groups) {
                    if (!workload.is_present || !other.is_leaf ||
                        !matches(*found, other, world.symbols)) {
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
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        if (terms_[i].users > 0 && matches(terms_[i], group, world.symbols)) {
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

PodVerdict PodIndex::judge(const Group& group, const World& world) const {
    PodVerdict out;
    out.allowed.assign(world.topology.size(), 1);
    out.preference.assign(world.topology.size(), 0);
    for (const std::uint32_t index : group.terms) {
        const Term& term = terms_[index];
        const std::vector<std::int64_t> counts = spread(term, term.matching, world);
        // The first of a group that likes its own kind has nobody to be near to.
        const bool is_first =
            !term.is_anti && term.matching_total == 0 && has(group.matched, index);
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
