#include "lab/volcano_spec.h"

#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

constexpr std::int64_t replicas_max = 100'000;  // of a task

std::optional<std::int64_t> number_at(const json::object& object, std::string_view path) {
    const json::value* found = value_at(object, path);
    if (found == nullptr || !found->is_int64()) { return std::nullopt; }
    return std::max<std::int64_t>(found->get_int64(), 0);
}

TaskSpec read_task(const json::object& raw, std::size_t index) {
    TaskSpec task{.raw = &raw};
    task.name = std::string(text_at(raw, "name"));
    if (task.name.empty()) { task.name = fmt::format("default{}", index); }
    task.replicas = std::clamp<std::int64_t>(int_at(raw, "replicas", 1), 0, replicas_max);
    task.own_minimum = number_at(raw, "minAvailable");
    task.retries_max = int_at(raw, "maxRetry", 3);
    task.partition_size = number_at(raw, "partitionPolicy.partitionSize").value_or(0);
    task.depends_on_any = text_at(raw, "dependsOn.iteration") == "any";
    if (const json::array* names = array_at(raw, "dependsOn.name"); names != nullptr) {
        for (const json::value& name : *names) {
            if (name.is_string()) { task.depends_on.emplace_back(name.get_string()); }
        }
    }
    return task;
}

}  // namespace

const TaskSpec* JobSpec::find(std::string_view task) const {
    const auto at = std::find_if(tasks.begin(), tasks.end(),
                                 [&](const TaskSpec& one) { return one.name == task; });
    return at == tasks.end() ? nullptr : &*at;
}

std::int64_t JobSpec::tasks_minimum() const {
    std::int64_t sum = 0;
    for (const TaskSpec& task : tasks) { sum += task.minimum(); }
    return sum;
}

JobSpec read_spec(const json::object& job) {
    static const json::object nothing;
    const json::object* raw = object_at(job, "spec");
    if (raw == nullptr) { raw = &nothing; }
    JobSpec spec{.raw = raw};
    if (const json::array* tasks = array_at(*raw, "tasks"); tasks != nullptr) {
        for (const json::value& task : *tasks) {
            if (const json::object* one = task.if_object(); one != nullptr) {
                spec.tasks.push_back(read_task(*one, spec.tasks.size()));
            }
        }
    }
    for (const TaskSpec& task : spec.tasks) { spec.replicas += task.replicas; }
    spec.minimum = number_at(*raw, "minAvailable").value_or(0);
    if (spec.minimum == 0) { spec.minimum = spec.tasks_minimum(); }
    spec.retries_max = int_at(*raw, "maxRetry", 0);
    if (spec.retries_max <= 0) { spec.retries_max = 3; }
    spec.success_min = number_at(*raw, "minSuccess");
    spec.ttl_s = number_at(*raw, "ttlSecondsAfterFinished");
    spec.queue = std::string(text_or(*raw, "queue", "default"));
    spec.scheduler = std::string(text_or(*raw, "schedulerName", "volcano"));
    return spec;
}

void PodCounts::add(const std::string& task, std::string_view phase) {
    if (phase == "Running") {
        ++running;
    } else if (phase == "Succeeded") {
        ++succeeded;
    } else if (phase == "Failed") {
        ++failed;
    } else if (phase == "Unknown") {
        ++unknown;
    } else {
        phase = "Pending";
        ++pending;
    }
    ++tasks[task][std::string(phase)];
}

std::int64_t PodCounts::of(const std::string& task, const std::string& phase) const {
    const auto at = tasks.find(task);
    if (at == tasks.end()) { return 0; }
    const auto count = at->second.find(phase);
    return count == at->second.end() ? 0 : count->second;
}

bool is_released(const TaskSpec& task, const JobSpec& spec, const PodCounts& counts) {
    if (task.depends_on.empty()) { return true; }
    const auto is_ready = [&](const std::string& name) {
        const TaskSpec* other = spec.find(name);
        // A name that is no task cannot become ready; waiting for it would be for ever.
        if (other == nullptr || other == &task) { return true; }
        return counts.of(name, "Running") + counts.of(name, "Succeeded") >= other->minimum();
    };
    return task.depends_on_any
               ? std::any_of(task.depends_on.begin(), task.depends_on.end(), is_ready)
               : std::all_of(task.depends_on.begin(), task.depends_on.end(), is_ready);
}

}  // namespace muster::lab::volcano
