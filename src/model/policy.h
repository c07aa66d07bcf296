// What the operator chose; everything else follows from facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

/// One kind of job of the declared mix: what an average arrival of it asks for.
struct MixEntry {
    std::int64_t milli_cpu = 0;
    std::int32_t gpu_milli = 1'000;  // of each GPU
    std::int32_t gpu_count = 1;
    std::vector<std::string> models;  // allowed products; empty = any
    std::int64_t weight = 1;          // arrivals of this kind

    bool operator==(const MixEntry&) const = default;
};

struct Policy {
    /// The job mix that placement keeps room for. Empty: learned from the workloads submitted so
    /// far.
    std::vector<MixEntry> mix;

    bool operator==(const Policy&) const = default;
};

}  // namespace muster
