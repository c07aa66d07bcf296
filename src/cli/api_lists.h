// Nodes and workloads as the API lists them, page by page, and one workload in full.
#pragma once

#include "base/result.h"
#include "engine/world.h"
#include "model/workload.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::cli {

inline constexpr std::int64_t page_limit_default = 500;
inline constexpr std::int64_t page_limit_max = 5'000;

/// In the order of the names; the next page begins behind the last name of this one.
struct Page {
    std::int64_t limit = page_limit_default;
    std::string after;
};

/// Empty: any.
struct WorkloadFilter {
    std::string queue;
    std::string space;
    std::string state;
};
inline constexpr std::string_view workload_states = "waits, runs or finished";
bool is_workload_state(std::string_view text);

std::string nodes_json(const World& world, const Page& page);
std::string workloads_json(const World& world, const WorkloadFilter& filter, const Page& page);
/// With its chain, as it was decided last, and where its tasks are. It is in the World.
std::string workload_json(const World& world, const WorkloadSpec& spec);

}  // namespace muster::cli
