// The openb trace of Alibaba (FGD, ATC'23) from its CSV text: nodes, pods, and per seed the order
// in which pods arrive and the rank that breaks ties between nodes. Pure; reads no file.
#pragma once

#include "base/result.h"
#include "dialect/job_trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

struct OpenbNode {
    std::string name;
    std::int64_t milli_cpu = 0;
    std::int64_t memory_mib = 0;
    std::int32_t gpu_count = 0;
    std::string model;  // empty without GPUs
};

/// Seconds since the trace began.
struct OpenbTimes {
    std::int64_t created = 0;
    std::int64_t deleted = 0;
    std::optional<std::int64_t> scheduled;  // none: it never ran

    /// How long it ran; none when it never did.
    [[nodiscard]] std::optional<std::int64_t> run_seconds() const {
        return scheduled ? std::optional(deleted - *scheduled) : std::nullopt;
    }
};

struct OpenbPod {
    std::string name;
    std::int64_t milli_cpu = 0;
    std::int64_t memory_mib = 0;
    std::int32_t gpu_count = 0;
    std::int32_t gpu_milli = 0;       // of each GPU; below 1,000 only when gpu_count is 1
    std::string models;               // as written, "A|B" is either; empty: any
    std::string qos;                  // as written
    std::optional<OpenbTimes> times;  // the multigpu lists have none
};

/// In ascending order of name, as ranks are given.
Result<std::vector<OpenbNode>> read_openb_nodes(std::string_view file, std::string_view text);
/// In the order of the text. Eleven columns, or the five first.
Result<std::vector<OpenbPod>> read_openb_pods(std::string_view file, std::string_view text);

/// The pods as jobs of so many GPUs (0 for those that need none); the class is the QoS. A list
/// without times is refused; a pod that never ran has no run time.
Result<JobTrace> read_openb_trace(std::string_view file, std::string_view text);

/// The column `seed<N>` of an arrivals file: places in the pod list, each below `pods`.
Result<std::vector<std::uint32_t>> read_openb_arrivals(std::string_view file, std::string_view text,
                                                       int seed, std::size_t pods);
/// The column `seed<N>` of a nodeperm file: a permutation of 0 to `nodes` − 1.
Result<std::vector<std::uint32_t>> read_openb_ranks(std::string_view file, std::string_view text,
                                                    int seed, std::size_t nodes);

}  // namespace muster::dialect
