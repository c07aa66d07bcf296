// NodeSpec → NodeDevices: worths of pairs, zones, groups, and which GPUs are near a NIC.
#include "base/assert.h"
#include "engine/devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace muster {
namespace {

std::uint64_t bit(std::size_t gpu) { return std::uint64_t{1} << gpu; }

/// The matrix read both ways; a path that is known one way only is the worse of the two.
class Paths {
public:
    explicit Paths(const NodeSpec& node)
        : links_(node.links),
          size_(node.gpus.size() + node.nics.size()) {}

    [[nodiscard]] bool is_known() const { return !links_.paths.empty(); }
    [[nodiscard]] Link link(std::size_t a, std::size_t b) const {
        if (!is_known()) { return Link::unknown; }
        return std::max(links_.paths[a * size_ + b], links_.paths[b * size_ + a]);
    }
    [[nodiscard]] std::uint16_t worth(std::size_t a, std::size_t b) const {
        if (!is_known()) { return 0; }
        return std::min(one_way(a, b), one_way(b, a));
    }

private:
    [[nodiscard]] std::uint16_t one_way(std::size_t a, std::size_t b) const {
        return link_worth(links_.paths[a * size_ + b], links_.nvlinks[a * size_ + b]);
    }

    const LinkMatrix& links_;
    std::size_t size_;
};

bool is_switch(Link link) { return link == Link::pix || link == Link::pxb; }

void add_zones(const NodeSpec& node, NodeDevices& devices) {
    devices.numa.fill(-1);
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
        const std::int32_t zone = node.gpus[i].numa;
        devices.numa[i] = static_cast<std::int8_t>(zone);
        (zone < 0 ? devices.unknown_zone_gpus
                  : devices.zone_gpus[static_cast<std::size_t>(zone)]) |= bit(i);
    }
    for (const std::uint64_t zone : devices.zone_gpus) {
        if (zone != 0) { devices.zones.push_back(zone); }
    }
    if (devices.unknown_zone_gpus != 0) { devices.zones.push_back(devices.unknown_zone_gpus); }
}

/// Two GPUs are behind one PCIe switch when their path says so or, since NVLink hides that path,
/// when both reach one NIC through a switch.
void add_pcie_neighbours(const NodeSpec& node, const Paths& paths, NodeDevices& devices) {
    const std::size_t gpus = node.gpus.size();
    devices.pcie_neighbours.assign(gpus, 0);
    for (std::size_t a = 0; a < gpus; ++a) {
        for (std::size_t b = 0; b < gpus; ++b) {
            bool is_near = is_switch(paths.link(a, b));
            for (std::size_t nic = gpus; nic < gpus + node.nics.size(); ++nic) {
                is_near |= is_switch(paths.link(a, nic)) && is_switch(paths.link(b, nic));
            }
            if (a != b && is_near) { devices.pcie_neighbours[a] |= bit(b); }
        }
    }
}

/// Parts of the node that `neighbours` connect.
void add_components(const std::vector<std::uint64_t>& neighbours, NodeDevices& devices) {
    std::uint64_t seen = 0;
    for (std::size_t seed = 0; seed < neighbours.size(); ++seed) {
        if ((seen & bit(seed)) != 0) { continue; }
        std::uint64_t part = bit(seed);
        for (std::uint64_t open = part; open != 0;) {
            const auto gpu = static_cast<std::size_t>(std::countr_zero(open));
            open &= open - 1;
            const std::uint64_t next = neighbours[gpu] & ~part;
            part |= next;
            open |= next;
        }
        seen |= part;
        devices.groups.push_back(part);
    }
}

void add_groups(const NodeSpec& node, const Paths& paths, NodeDevices& devices) {
    const std::size_t gpus = node.gpus.size();
    std::vector<std::uint64_t> nvlink(gpus, 0);
    for (std::size_t a = 0; a < gpus; ++a) {
        for (std::size_t b = 0; b < gpus; ++b) {
            if (a != b && paths.link(a, b) == Link::nvlink) { nvlink[a] |= bit(b); }
        }
    }
    add_components(nvlink, devices);
    add_components(devices.pcie_neighbours, devices);
    devices.groups.insert(devices.groups.end(), devices.zones.begin(), devices.zones.end());
    std::erase_if(devices.groups, [&](std::uint64_t group) {
        return std::popcount(group) < 2 || std::popcount(group) == devices.gpu_count;
    });
    std::sort(devices.groups.begin(), devices.groups.end());
    devices.groups.erase(std::unique(devices.groups.begin(), devices.groups.end()),
                         devices.groups.end());
}

/// Near: behind one PCIe switch with a NIC. Where no GPU of the node is, the next best path counts,
/// but never one between sockets. Without a matrix: in the zone of a NIC.
void add_near_nic(const NodeSpec& node, const Paths& paths, NodeDevices& devices) {
    const std::size_t gpus = node.gpus.size();
    std::vector<Link> nearest(gpus, Link::unknown);
    Link limit = Link::unknown;
    for (std::size_t i = 0; i < gpus; ++i) {
        for (std::size_t k = 0; k < node.nics.size(); ++k) {
            Link link = paths.link(i, gpus + k);
            if (!paths.is_known() && node.gpus[i].numa >= 0 &&
                node.gpus[i].numa == node.nics[k].numa) {
                link = Link::node;
            }
            nearest[i] = std::min(nearest[i], link);
        }
        limit = std::min(limit, nearest[i]);
    }
    if (limit >= Link::sys) { return; }
    limit = std::max(limit, Link::pxb);
    for (std::size_t i = 0; i < gpus; ++i) {
        if (nearest[i] <= limit) { devices.near_nic |= bit(i); }
    }
}

bool is_uniform(const NodeDevices& devices) {
    const auto gpus = static_cast<std::size_t>(devices.gpu_count);
    for (std::size_t a = 0; a < gpus; ++a) {
        for (std::size_t b = 0; b < gpus; ++b) {
            if (a != b && devices.worth[a * gpus + b] != devices.worth[1]) { return false; }
        }
    }
    return std::all_of(devices.groups.begin(), devices.groups.end(), [&](std::uint64_t group) {
        return std::find(devices.zones.begin(), devices.zones.end(), group) != devices.zones.end();
    });
}

}  // namespace

std::uint16_t link_worth(Link link, std::uint8_t nvlinks) {
    switch (link) {
        case Link::self:
        case Link::unknown: return 0;
        case Link::nvlink: return static_cast<std::uint16_t>(25 * std::max<int>(nvlinks, 1));
        case Link::pix: return 24;
        case Link::pxb: return 20;
        case Link::phb: return 14;
        case Link::node: return 12;
        case Link::sys: return 10;
    }
    return 0;
}

Result<> check_devices(const NodeSpec& node) {
    const auto over = [&](std::string_view what, std::size_t found, std::size_t limit) {
        return fail(Code::limit, fmt::format("node {}: {} {}, expected at most {}", node.name,
                                             found, what, limit));
    };
    if (node.gpus.size() > gpus_per_node_max) {
        return over("GPUs", node.gpus.size(), gpus_per_node_max);
    }
    if (node.nics.size() > nics_per_node_max) {
        return over("NICs", node.nics.size(), nics_per_node_max);
    }
    if (node.numa.size() > numa_zones_max) {
        return over("NUMA zones", node.numa.size(), numa_zones_max);
    }
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
        const std::int32_t zone = node.gpus[i].numa;
        if (zone < -1 || zone >= static_cast<std::int32_t>(numa_zones_max)) {
            return fail(Code::limit,
                        fmt::format("node {}: GPU {} in NUMA zone {}, expected −1 (unknown) to {}",
                                    node.name, i, zone, numa_zones_max - 1));
        }
    }
    const std::size_t size = node.gpus.size() + node.nics.size();
    if (!node.links.paths.empty() && node.links.paths.size() != size * size) {
        return fail(
            Code::invalid,
            fmt::format("node {}: link matrix of {} cells, expected {} for {} GPUs and {} NICs",
                        node.name, node.links.paths.size(), size * size, node.gpus.size(),
                        node.nics.size()));
    }
    if (node.links.nvlinks.size() != node.links.paths.size()) {
        return fail(Code::invalid,
                    fmt::format("node {}: link matrix has {} NVLink counts, expected {}", node.name,
                                node.links.nvlinks.size(), node.links.paths.size()));
    }
    return {};
}

NodeDevices compile_devices(const NodeSpec& node) {
    MUSTER_ASSERT(check_devices(node).has_value());
    NodeDevices devices;
    const Paths paths(node);
    const std::size_t gpus = node.gpus.size();
    devices.gpu_count = static_cast<std::int32_t>(gpus);
    devices.worth.assign(gpus * gpus, 0);
    for (std::size_t a = 0; a < gpus; ++a) {
        for (std::size_t b = 0; b < gpus; ++b) {
            if (a != b) { devices.worth[a * gpus + b] = paths.worth(a, b); }
        }
    }
    add_zones(node, devices);
    add_pcie_neighbours(node, paths, devices);
    add_groups(node, paths, devices);
    add_near_nic(node, paths, devices);
    devices.is_uniform = is_uniform(devices);
    return devices;
}

}  // namespace muster
