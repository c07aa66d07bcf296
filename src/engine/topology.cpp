#include "engine/topology.h"

#include <algorithm>

namespace muster {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Missing names last, so that unlabelled nodes stand behind the labelled ones.
int compare_names(Symbol a, Symbol b, const Symbols& symbols) {
    if (a == b) { return 0; }
    if (!a.is_valid() || !b.is_valid()) { return a.is_valid() ? -1 : 1; }
    return compare_natural(symbols.text(a), symbols.text(b));
}

}  // namespace

int compare_natural(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (!is_digit(a[i]) || !is_digit(b[j])) {
            if (a[i] != b[j]) {
                return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]) ? -1 : 1;
            }
            ++i;
            ++j;
            continue;
        }
        std::size_t zeros_a = i;
        std::size_t zeros_b = j;
        while (i < a.size() && a[i] == '0') { ++i; }
        while (j < b.size() && b[j] == '0') { ++j; }
        zeros_a = i - zeros_a;
        zeros_b = j - zeros_b;
        std::size_t end_a = i;
        std::size_t end_b = j;
        while (end_a < a.size() && is_digit(a[end_a])) { ++end_a; }
        while (end_b < b.size() && is_digit(b[end_b])) { ++end_b; }
        if (end_a - i != end_b - j) { return end_a - i < end_b - j ? -1 : 1; }
        if (const int order = a.substr(i, end_a - i).compare(b.substr(j, end_b - j)); order != 0) {
            return order < 0 ? -1 : 1;
        }
        if (zeros_a != zeros_b) { return zeros_a < zeros_b ? -1 : 1; }
        i = end_a;
        j = end_b;
    }
    if (a.size() - i == b.size() - j) { return 0; }
    return a.size() - i < b.size() - j ? -1 : 1;
}

void Topology::set_levels(std::vector<Level> levels) {
    levels_ = std::move(levels);
    places_.clear();
    renumber(position_.size());  // without nodes nothing else does
}

void Topology::change(const std::vector<NodeId>& stale, std::vector<NodePlace> fresh,
                      const Symbols& symbols, std::size_t node_count) {
    constexpr std::size_t few = 32;
    std::vector<bool> is_stale(node_count, false);
    for (const NodeId node : stale) { is_stale[node.value] = true; }
    std::erase_if(places_, [&](const NodePlace& place) { return is_stale[place.node.value]; });
    const auto before = [&](const NodePlace& a, const NodePlace& b) {
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            if (const int order = compare_names(a.path[level], b.path[level], symbols);
                order != 0) {
                return order < 0;
            }
        }
        if (a.rank != b.rank) { return a.rank < b.rank; }
        if (const int order = compare_natural(a.name, b.name); order != 0) { return order < 0; }
        return a.node < b.node;
    };
    const bool is_few = fresh.size() <= few;
    for (NodePlace& place : fresh) {
        const auto at = is_few ? std::lower_bound(places_.begin(), places_.end(), place, before)
                               : places_.end();
        places_.insert(at, std::move(place));
    }
    if (!is_few) { std::sort(places_.begin(), places_.end(), before); }
    renumber(node_count);
}

void Topology::renumber(std::size_t node_count) {
    domains_.clear();
    level_begin_.clear();
    node_at_.clear();
    position_.assign(node_count, UINT32_MAX);
    for (const NodePlace& place : places_) {
        position_[place.node.value] = static_cast<Position>(node_at_.size());
        node_at_.push_back(place.node);
    }
    domain_of_.assign(levels_.size(), std::vector<DomainId>(places_.size()));
    for (std::uint32_t level = 0; level < levels_.size(); ++level) {
        level_begin_.push_back(DomainId(domains_.size()));
        for (Position at = 0; at < places_.size(); ++at) {
            const auto shares_path = [&] {
                return std::equal(places_[at].path.begin(), places_[at].path.begin() + level + 1,
                                  places_[at - 1].path.begin());
            };
            if (at == 0 || !shares_path()) {
                domains_.push_back(
                    {.name = places_[at].path[level], .level = level, .begin = at, .end = at});
            }
            domains_.back().end = at + 1;
            domain_of_[level][at] = DomainId(domains_.size() - 1);
        }
    }
    level_begin_.push_back(DomainId(domains_.size()));
}

std::optional<std::uint32_t> Topology::find_level(std::string_view name) const {
    for (std::uint32_t level = 0; level < levels_.size(); ++level) {
        if (levels_[level].name == name || levels_[level].key == name) { return level; }
    }
    if (name == "node" || name == "kubernetes.io/hostname") { return level_count(); }
    return std::nullopt;
}

}  // namespace muster
