// What people do to a lab's machines: break and mend them, take them back, add and remove some. All
// of it is written through the API, so that kubectl can do the same; each answer is one line that
// says what was done, and how kubectl does it.
#pragma once

#include "lab/lab_hand.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::lab {

/// The pool that a node is of.
inline constexpr std::string_view pool_label = "lab.muster/pool";

struct NodeFailure {
    std::string node;
    std::string why = "failed";  // without the two below
    std::string flap;            // "10s"
    std::int64_t slow = 0;
};
Result<std::string> fail_node(LabHand& hand, const NodeFailure& failure);

/// "node-0:3" as its two halves.
struct GpuName {
    std::string node;
    std::int64_t gpu = 0;
};
Result<GpuName> read_gpu_name(std::string_view text);
Result<std::string> fail_gpu(LabHand& hand, const GpuName& gpu, std::int64_t xid);

/// All that is wrong with it, GPUs too.
Result<std::string> heal_node(LabHand& hand, const std::string& node);
Result<std::string> heal_gpu(LabHand& hand, const GpuName& gpu);

/// `notice` as "120s".
Result<std::string> reclaim_node(LabHand& hand, const std::string& node, const std::string& notice);

/// New nodes in the shape of the pool's last one.
Result<std::vector<std::string>> grow_pool(LabHand& hand, const std::string& pool,
                                           std::int64_t count);
/// Nodes that hold the fewest pods go first. They are cordoned and drained: their pods are evicted,
/// and a node goes when the last one has left. Gives their names.
Result<std::vector<std::string>> shrink_pool(LabHand& hand, const std::string& pool,
                                             std::int64_t count);

}  // namespace muster::lab
