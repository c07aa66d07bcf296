// The tree of queues in GPUs: what is promised, held and asked for, summed up the tree.
#pragma once

#include "codec/json_writer.h"
#include "engine/world.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::cli {

struct QueueRow {
    std::string name;
    std::string parent;  // empty: the root
    std::int64_t depth = 0;
    std::int64_t weight = 1;
    std::int64_t guarantee_gpu_milli = -1;  // −1: none was declared
    std::int64_t cap_gpu_milli = -1;
    std::int64_t used_gpu_milli = 0;
    std::int64_t running = 0;            // workloads, not finished
    std::int64_t waiting = 0;            // workloads
    std::int64_t waiting_gpu_milli = 0;  // of their minimums, at least
};

struct QueueReport {
    std::int64_t gpus = 0;         // healthy, on nodes that are there
    std::vector<QueueRow> queues;  // a parent in front of its children, these by name
};

QueueReport report_queues(const World& world);
void write(JsonWriter& out, const QueueReport& report);

/// "2.5"
std::string gpus_text(std::int64_t milli);
/// "12.5 %"
std::string share_text(std::int64_t milli, std::int64_t gpus);

}  // namespace muster::cli
