// How the workloads of one history fared: who held what, when each started and ended, and how much
// of the nodes was in use meanwhile. Fed in the order of time, by a log or by a simulation.
#pragma once

#include "model/node.h"
#include "model/workload.h"
#include "sim/job_run.h"
#include "sim/occupancy.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::sim {

/// Times in ms; −1: it did not come to that. A gang that was released and started again has its
/// last start.
struct Life {
    std::int64_t submitted = 0;
    std::int64_t start = -1;
    std::int64_t end = -1;
    bool was_running = false;  // when the history began

    [[nodiscard]] bool is_running() const { return start >= 0 && end < 0; }
};

class Chronicle {
public:
    void set_node(std::int64_t at, const NodeSpec& node);
    /// What ran there is lost. Returns the works that lost all they held: they run no more.
    std::vector<std::uint32_t> drop_node(std::int64_t at, const std::string& node);

    /// Works are numbered from 0, in the order in which they come.
    std::uint32_t add(std::int64_t at, const WorkloadSpec& spec);
    /// The first task that holds anything starts it.
    void hold(std::int64_t at, std::uint32_t work, std::uint32_t task, const std::string& node);
    /// The whole gang stops; each task holds on until it is let go.
    void release(std::uint32_t work);
    void let_go(std::int64_t at, std::uint32_t work, std::uint32_t task);
    void end(std::int64_t at, std::uint32_t work);

    [[nodiscard]] bool is_held(std::uint32_t work, std::uint32_t task,
                               const std::string& node) const;
    [[nodiscard]] std::size_t task_count(std::uint32_t work) const;
    [[nodiscard]] const std::vector<Life>& lives() const { return lives_; }
    [[nodiscard]] Life& life(std::uint32_t work) { return lives_[work]; }

    /// Processors where no node ever had a GPU.
    [[nodiscard]] JobUnit unit() const;
    /// Of all works, as a trace that says what came; times in whole seconds.
    [[nodiscard]] JobTrace trace(std::string name) const;
    [[nodiscard]] JobRun run(std::string policy) const;
    [[nodiscard]] const Occupancy& occupancy() const {
        return unit() == JobUnit::gpu ? gpus_ : cpus_;
    }

private:
    struct TaskUse {
        std::int64_t gpu_milli = 0;
        std::int64_t milli_cpu = 0;
        std::int32_t node = -1;       // that it holds
        std::int32_t last_node = -1;  // of its run, also when that has ended
    };
    struct Work {
        Job job;  // without times and size
        std::vector<TaskUse> tasks;
    };
    struct Node {
        std::set<std::pair<std::uint32_t, std::uint32_t>> tasks;  // work and task
        std::int64_t units_max[2] = {};                           // GPUs and processors it ever had
    };

    std::vector<Work> works_;
    std::vector<Life> lives_;
    std::vector<Node> nodes_;
    std::map<std::string, std::int32_t, std::less<>> node_numbers_;
    Occupancy gpus_;
    Occupancy cpus_;
};

}  // namespace muster::sim
