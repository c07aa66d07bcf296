// A block of devices that another scheduler holds for a while: Slurm and Ray get theirs so.
//
//   offered → granted → active → recalled → returned
//
// From the offer on the block is taken: nobody else gets it until the lease is returned. Each state
// may also go to `recalled` or `returned` at once; nothing goes back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

enum class LeaseState : std::uint8_t { offered, granted, active, recalled, returned };

/// Whole GPUs of one node, with the CPU and memory that go along.
struct LeaseBlock {
    std::string node;
    std::uint64_t gpus = 0;  // bit i = GPU i
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;  // bytes

    bool operator==(const LeaseBlock&) const = default;
};

struct LeaseSpec {
    std::string name;    // unique among leases
    std::string holder;  // "slurm", "ray/team-a"
    LeaseState state = LeaseState::offered;
    std::uint64_t epoch = 0;         // grows with every change; an older one is refused
    std::int64_t notice_s = 0;       // between a recall and the deadline
    std::int64_t deadline = 0;       // ms since the epoch, once recalled; 0 = none
    std::vector<LeaseBlock> blocks;  // one per node; stays the same while the lease lives

    bool operator==(const LeaseSpec&) const = default;
};

}  // namespace muster
