// Choice of GPUs inside one node. Pure functions over bit masks (bit i = GPU i of the node); called
// by the trial on the engine's thread. A NodeDevices never changes; nodes built alike share one
// (DeviceTable).
//
// The order between two sets of GPUs, first difference decides:
//   1. the worst pair's path, then the sum over pairs: better is first (worths: see link_worth);
//   2. fewer NUMA zones (GPUs of unknown zone count as one zone of their own);
//   3. when asked, more GPUs near a NIC;
//   4. what stays free: fewer untouched groups (NVLink, PCIe switch, NUMA zone) opened, then the
//   larger
//      sum over the pairs that stay, then more pairs that stay in one zone;
//   5. the lower mask.
#pragma once

#include "base/result.h"
#include "model/limits.h"
#include "model/node.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace muster {

/// Up to this many subsets the choice is exhaustive: C(16,8) = 12,870, so every node of up to 16
/// GPUs. Above it one candidate is grown greedily from each free GPU and the best of them wins.
inline constexpr std::uint64_t device_subsets_max = 13'000;
/// Answers that a DeviceTable remembers; a newer one takes an older one's place. A power of two.
inline constexpr std::size_t device_answers_max = 1'024;

/// What never changes about a node's devices, in the form that the choice needs.
struct NodeDevices {
    std::int32_t gpu_count = 0;
    std::vector<std::uint16_t> worth;                   // gpu_count², symmetric; larger is nearer
    std::array<std::int8_t, gpus_per_node_max> numa{};  // zone of each GPU, −1 unknown
    std::array<std::uint64_t, numa_zones_max> zone_gpus{};
    std::uint64_t unknown_zone_gpus = 0;
    std::vector<std::uint64_t> pcie_neighbours;  // per GPU: others behind its PCIe switch
    std::vector<std::uint64_t> groups;  // NVLink, PCIe and NUMA groups of two or more, ascending
    std::vector<std::uint64_t> zones;   // distinct zones that have GPUs, the unknown one last
    std::uint64_t near_nic = 0;
    bool is_uniform = true;  // all pairs alike, and no groups but NUMA zones

    bool operator==(const NodeDevices&) const = default;
};

/// Refuses what compile_devices takes for granted: too many devices, zones out of range, a matrix
/// of another size.
Result<> check_devices(const NodeSpec& node);
/// `node` has passed check_devices.
NodeDevices compile_devices(const NodeSpec& node);

/// A pair's worth, near to GB/s in one direction, so that sums mean something: NVLink 25 a link,
/// PIX 24, PXB 20, PHB 14, NODE 12, SYS 10, unknown 0.
std::uint16_t link_worth(Link link, std::uint8_t nvlinks);

/// The best `count` GPUs of `free_mask`; 0 when there are fewer (or count is 0).
std::uint64_t choose_whole(const NodeDevices& node, std::uint64_t free_mask, int count,
                           bool near_nic);

struct NumaChoice {
    std::int8_t zone = -1;  // −1: nothing in the request is tied to a zone
    std::uint64_t gpus = 0;

    bool operator==(const NumaChoice&) const = default;
};

/// Under a `single-numa-node` kubelet: CPUs (0 when they are not exclusive) and GPUs from one zone,
/// or none when the kubelet would refuse. GPUs of unknown zone go with any. The zone with the
/// fewest GPUs left over, then the fewest CPUs, then the lowest.
std::optional<NumaChoice> choose_single_numa(const NodeDevices& node, std::uint64_t free_mask,
                                             int count,
                                             std::span<const std::int64_t> zone_free_milli_cpu,
                                             std::int64_t milli_cpu, bool near_nic);

/// Nodes built alike share one NodeDevices, and answers to the same question are remembered. The
/// memory changes how long an answer takes, never the answer. A plain value: copies with the World.
class DeviceTable {
public:
    /// `node` has passed check_devices.
    std::uint32_t intern(const NodeSpec& node);
    [[nodiscard]] const NodeDevices& at(std::uint32_t id) const { return nodes_[id]; }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }

    /// As the free functions, remembered.
    std::uint64_t choose_whole(std::uint32_t id, std::uint64_t free_mask, int count, bool near_nic);
    std::optional<NumaChoice> choose_single_numa(std::uint32_t id, std::uint64_t free_mask,
                                                 int count,
                                                 std::span<const std::int64_t> zone_free_milli_cpu,
                                                 std::int64_t milli_cpu, bool near_nic);
    /// How far apart the worst pair of that choice is: 0 over NVLink, or when it is one GPU or
    /// nothing is known, 1 behind PCIe switches, 2 over one host bridge, 3 beyond.
    int distance(std::uint32_t id, std::uint64_t free_mask, int count, bool near_nic);

private:
    struct Answer {
        std::uint64_t free_mask = 0;  // 0: no answer here
        std::uint64_t gpus = 0;
        std::uint32_t id = 0;
        std::uint8_t count = 0;
        bool near_nic = false;
    };

    std::vector<NodeDevices> nodes_;
    std::vector<Answer> answers_;  // empty until the first question that is not a fast one
};

}  // namespace muster
