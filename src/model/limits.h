// Bounds of the model. Every input over one of them is refused by name, never cut.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster {

inline constexpr std::size_t gpus_per_node_max = 64;
inline constexpr std::size_t nics_per_node_max = 64;
inline constexpr std::size_t numa_zones_max = 16;
inline constexpr std::size_t topology_levels_max = 12;
inline constexpr std::size_t gpu_models_max = 64;
inline constexpr std::size_t tasks_per_group_max = 100'000;
inline constexpr std::size_t tasks_per_workload_max = 200'000;
inline constexpr std::size_t groups_per_workload_max = 4'096;
inline constexpr std::size_t queue_depth_max = 16;
inline constexpr std::size_t name_bytes_max = 253;
inline constexpr std::int64_t gpu_milli_whole = 1'000;
inline constexpr std::int64_t milli_cpu_max = 1'000'000'000;
inline constexpr std::int64_t memory_bytes_max = std::int64_t{1} << 50;
inline constexpr std::int64_t extended_count_max = std::int64_t{1} << 40;
inline constexpr std::int64_t gpu_memory_mib_max = std::int64_t{1} << 22;
inline constexpr std::int64_t lease_notice_s_max = 31'536'000;
inline constexpr std::int64_t priority_max = 2'147'483'647;

}  // namespace muster
