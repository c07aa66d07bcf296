// A Volcano Job's spec with what Volcano's webhook would have filled in, and how many of its pods
// are in which state.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab::volcano {

struct TaskSpec {
    std::string name;
    std::int64_t replicas = 1;
    std::optional<std::int64_t> own_minimum;  // tasks[].minAvailable
    std::int64_t retries_max = 3;
    std::int64_t partition_size = 0;  // 0: no partitions
    std::vector<std::string> depends_on;
    bool depends_on_any = false;
    const boost::json::object* raw = nullptr;

    [[nodiscard]] std::int64_t minimum() const { return own_minimum.value_or(replicas); }
};

/// A view into the Job.
struct JobSpec {
    std::int64_t minimum = 0;  // minAvailable
    std::int64_t replicas = 0;
    std::int64_t retries_max = 3;
    std::optional<std::int64_t> success_min;
    std::optional<std::int64_t> ttl_s;
    std::string queue;
    std::string scheduler;
    std::vector<TaskSpec> tasks;
    const boost::json::object* raw = nullptr;

    [[nodiscard]] const TaskSpec* find(std::string_view task) const;
    [[nodiscard]] std::int64_t tasks_minimum() const;
};

JobSpec read_spec(const boost::json::object& job);

struct PodCounts {
    std::int64_t pending = 0;
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::int64_t unknown = 0;
    std::int64_t terminating = 0;
    std::map<std::string, std::map<std::string, std::int64_t>> tasks;  // task → phase → pods

    void add(const std::string& task, std::string_view phase);
    [[nodiscard]] std::int64_t of(const std::string& task, const std::string& phase) const;
    [[nodiscard]] std::int64_t unfinished() const { return pending + running + unknown; }
};

/// The tasks that it depends on have as many pods Running or Succeeded as they need.
bool is_released(const TaskSpec& task, const JobSpec& spec, const PodCounts& counts);

}  // namespace muster::lab::volcano
