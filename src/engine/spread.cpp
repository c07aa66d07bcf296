#include "engine/spread.h"

#include <algorithm>

namespace muster {

namespace {

class Spreader {
public:
    Spreader(const Room& room, const Topology& topology, const Region& region)
        : room_(room),
          topology_(topology),
          region_(region) {}

    std::int64_t take(Position begin, Position end, std::int32_t level, std::int64_t count) {
        const auto inner = static_cast<std::uint32_t>(level + 1);
        if (region_.mask != nullptr || inner >= topology_.level_count()) {
            return take_nodes(begin, end, count);
        }
        struct Part {
            std::int64_t room;
            DomainId domain;
        };
        std::vector<Part> parts;
        std::int64_t total = 0;
        const DomainId last = topology_.domain_of(inner, end - 1);
        for (DomainId at = topology_.domain_of(inner, begin); at <= last; ++at.value) {
            if (const std::int64_t room = room_.in_domain(at); room > 0) {
                parts.push_back({room, at});
                total += room;
            }
        }
        const auto take_part = [&](const Part& part, std::int64_t many) {
            const Domain& domain = topology_.domain(part.domain);
            return take(domain.begin, domain.end, static_cast<std::int32_t>(inner), many);
        };
        std::int64_t left = count;
        if (total <= left) {
            for (const Part& part : parts) { left -= take_part(part, part.room); }
            return count - left;
        }
        // The largest part first, until one part holds all that is left: the smallest that does.
        std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
            return a.room != b.room ? a.room > b.room : a.domain < b.domain;
        });
        for (std::size_t i = 0; i < parts.size() && left > 0; ++i) {
            if (parts[i].room < left) {
                left -= take_part(parts[i], parts[i].room);
                continue;
            }
            std::size_t best = i;
            while (best + 1 < parts.size() && parts[best + 1].room >= left) { ++best; }
            while (best > i && parts[best - 1].room == parts[best].room) {
                --best;
            }  // lowest of equals
            left -= take_part(parts[best], left);
        }
        return count - left;
    }

    std::vector<Share> out;

private:
    std::int64_t take_nodes(Position begin, Position end, std::int64_t count) {
        struct Node {
            std::int64_t fits;
            Score score;
            Position at;
        };
        std::vector<Node> nodes;
        std::int64_t total = 0;
        for (Position at = begin; at < end; ++at) {
            if (room_.fits(at) == 0 || !region_.has(at)) { continue; }
            nodes.push_back({room_.fits(at), room_.score(at), at});
            total += room_.fits(at);
        }
        if (total <= count) {
            for (const Node& node : nodes) { out.emplace_back(node.at, node.fits); }
            return total;
        }
        std::int64_t left = count;
        const auto is_larger = [](const Node& a, const Node& b) {
            if (a.fits != b.fits) { return a.fits > b.fits; }
            if (a.score != b.score) { return a.score > b.score; }
            return a.at < b.at;
        };
        // No more nodes than tasks are needed, so only that many are put in order.
        const std::size_t wanted =
            std::min<std::size_t>(nodes.size(), static_cast<std::size_t>(count));
        std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(wanted),
                          nodes.end(), is_larger);
        for (std::size_t i = 0;; ++i) {
            if (nodes[i].fits < left) {
                out.emplace_back(nodes[i].at, nodes[i].fits);
                left -= nodes[i].fits;
                continue;
            }
            // The rest goes to the smallest room that holds it.
            std::size_t best = i;
            for (std::size_t j = i + 1; j < nodes.size(); ++j) {
                if (nodes[j].fits < left) { continue; }
                const bool is_tighter = nodes[j].fits < nodes[best].fits;
                const bool is_better =
                    nodes[j].fits == nodes[best].fits &&
                    (nodes[j].score > nodes[best].score ||
                     (nodes[j].score == nodes[best].score && nodes[j].at < nodes[best].at));
                if (is_tighter || is_better) { best = j; }
            }
            out.emplace_back(nodes[best].at, left);
            return count;
        }
    }

    const Room& room_;
    const Topology& topology_;
    const Region& region_;
};

}  // namespace

std::int64_t room_in(const Room& room, const Topology& topology, const Region& region) {
    if (region.mask != nullptr) {
        std::int64_t sum = 0;
        for (Position at = region.begin; at < region.end; ++at) {
            if (region.has(at)) { sum += room.fits(at); }
        }
        return sum;
    }
    if (region.level < 0) { return room.total(); }
    if (static_cast<std::uint32_t>(region.level) >= topology.level_count()) {
        return room.fits(region.begin);
    }
    return room.in_domain(
        topology.domain_of(static_cast<std::uint32_t>(region.level), region.begin));
}

std::vector<Share> spread_tasks(const Room& room, const Topology& topology, const Region& region,
                                std::int64_t count) {
    if (region.begin >= region.end || count <= 0) { return {}; }
    Spreader spreader(room, topology, region);
    if (region.end - region.begin == 1) {
        const std::int64_t fits = region.has(region.begin) ? room.fits(region.begin) : 0;
        return fits == 0 ? std::vector<Share>{}
                         : std::vector<Share>{{region.begin, std::min(fits, count)}};
    }
    if (count == 1 && region.mask == nullptr) {
        const auto best = room.best(region.begin, region.end);
        return best ? std::vector<Share>{{*best, 1}} : std::vector<Share>{};
    }
    spreader.out.reserve(
        std::min<std::size_t>(region.end - region.begin, static_cast<std::size_t>(count)));
    spreader.take(region.begin, region.end, region.level, count);
    std::sort(spreader.out.begin(), spreader.out.end());
    return std::move(spreader.out);
}

}  // namespace muster
