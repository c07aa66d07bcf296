// What a person reads of decisions: causes, wakes, needs and places in words.
#pragma once

#include "model/plan.h"
#include "model/workload.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

/// "too few free GPUs"
std::string_view words_of(Cause cause);
/// "GPUs become free"
std::string_view words_of(Wake wake);
/// "8 GPU", "0.5 GPU", "1g.10gb", with CPUs and memory
std::string need_in_words(const TaskSpec& task);
/// "6 tasks of 1 GPU", or the roles with theirs
std::string workload_in_words(const WorkloadSpec& workload);
/// Leaves in the order in which tasks count through them.
std::vector<const GroupSpec*> leaves_of(const WorkloadSpec& workload);
/// Tasks that must run together, and all of them.
std::int64_t task_count(const WorkloadSpec& workload);
/// "worker-0" of a role with a name of its own, else "0".
std::string task_in_words(const WorkloadSpec& workload, std::uint32_t task);

/// "gpu 0-3", or "4 gpu" where the node does not say which.
std::string devices_in_words(const TaskPlace& place);
/// "on node a", "on 2 nodes in rack r1"
std::string where_in_words(const Placement& placement);

}  // namespace muster::cli
