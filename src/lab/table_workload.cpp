// Controllers of pods: apps, batch and policy.
#include "lab/table.h"
#include "lab/table_kinds.h"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view pod_containers = "spec.template.spec.containers";

json::array deployment_cells(const json::object& object, std::int64_t now) {
    return {own_name(object),
            fmt::format("{}/{}", integer_of(object, "status.readyReplicas"),
                        integer_of(object, "spec.replicas", 1)),
            integer_of(object, "status.updatedReplicas"),
            integer_of(object, "status.availableReplicas"),
            own_age(object, now),
            joined(list_of(object, pod_containers), "name"),
            joined(list_of(object, pod_containers), "image"),
            selector_text(map_of(object, "spec.selector"), "")};
}

json::array replica_set_cells(const json::object& object, std::int64_t now) {
    return {own_name(object),
            integer_of(object, "spec.replicas", 1),
            integer_of(object, "status.replicas"),
            integer_of(object, "status.readyReplicas"),
            own_age(object, now),
            joined(list_of(object, pod_containers), "name"),
            joined(list_of(object, pod_containers), "image"),
            selector_text(map_of(object, "spec.selector"), "<none>")};
}

json::array stateful_set_cells(const json::object& object, std::int64_t now) {
    return {own_name(object),
            fmt::format("{}/{}", integer_of(object, "status.readyReplicas"),
                        integer_of(object, "spec.replicas", 1)),
            own_age(object, now), joined(list_of(object, pod_containers), "name"),
            joined(list_of(object, pod_containers), "image")};
}

std::string job_status(const json::object& job) {
    if (is_condition_true(job, "Complete")) { return "Complete"; }
    if (is_condition_true(job, "Failed")) { return "Failed"; }
    if (!text_of(job, "metadata.deletionTimestamp").empty()) { return "Terminating"; }
    for (const char* const type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
        if (is_condition_true(job, type)) { return type; }
    }
    return "Running";
}

std::string job_completions(const json::object& job) {
    const std::int64_t succeeded = integer_of(job, "status.succeeded");
    const json::value* wanted = value_at(job, "spec.completions");
    if (wanted != nullptr && wanted->is_number()) {
        return fmt::format("{}/{}", succeeded, integer_of(job, "spec.completions"));
    }
    const std::int64_t parallelism = integer_of(job, "spec.parallelism");
    return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                           : fmt::format("{}/1", succeeded);
}

std::string job_duration(const json::object& job, std::int64_t now) {
    const auto start = time_of(job, "status.startTime");
    if (!start) { return ""; }
    return age(time_of(job, "status.completionTime").value_or(now) - *start);
}

json::array job_cells(const json::object& job, std::int64_t now) {
    return {own_name(job),
            job_status(job),
            job_completions(job),
            job_duration(job, now),
            own_age(job, now),
            joined(list_of(job, pod_containers), "name"),
            joined(list_of(job, pod_containers), "image"),
            selector_text(map_of(job, "spec.selector"), "<none>")};
}

json::array cron_job_cells(const json::object& object, std::int64_t now) {
    const json::value* suspend = value_at(object, "spec.suspend");
    const bool is_known = suspend != nullptr && suspend->is_bool();
    const json::array& containers =
        list_of(object, "spec.jobTemplate.spec.template.spec.containers");
    return {own_name(object),
            text_of(object, "spec.schedule"),
            text_of(object, "spec.timeZone", "<none>"),
            !is_known ? "<unset>" : (suspend->get_bool() ? "True" : "False"),
            list_of(object, "status.active").size(),
            time_of(object, "status.lastScheduleTime")
                ? age_of(object, "status.lastScheduleTime", now)
                : "<none>",
            own_age(object, now),
            joined(containers, "name"),
            joined(containers, "image"),
            selector_text(map_of(object, "spec.jobTemplate.spec.selector"), "<none>")};
}

json::array disruption_budget_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), scalar_of(object, "spec.minAvailable").value_or("N/A"),
            scalar_of(object, "spec.maxUnavailable").value_or("N/A"),
            integer_of(object, "status.disruptionsAllowed"), own_age(object, now)};
}

}  // namespace

std::span<const KindTable> workload_tables() {
    static const std::vector<KindTable> all = {
        {"apps",
         "Deployment",
         {name_column,
          {.name = "Ready"},
          {.name = "Up-to-date"},
          {.name = "Available"},
          age_column,
          containers_column,
          images_column,
          selector_column},
         deployment_cells},
        {"apps",
         "ReplicaSet",
         {name_column,
          {.name = "Desired", .type = "integer"},
          {.name = "Current", .type = "integer"},
          {.name = "Ready", .type = "integer"},
          age_column,
          containers_column,
          images_column,
          selector_column},
         replica_set_cells},
        {"apps",
         "StatefulSet",
         {name_column, {.name = "Ready"}, age_column, containers_column, images_column},
         stateful_set_cells},
        {"batch",
         "Job",
         {name_column,
          {.name = "Status"},
          {.name = "Completions"},
          {.name = "Duration"},
          age_column,
          containers_column,
          images_column,
          selector_column},
         job_cells},
        {"batch",
         "CronJob",
         {name_column,
          {.name = "Schedule"},
          {.name = "Timezone"},
          {.name = "Suspend", .type = "boolean"},
          {.name = "Active", .type = "integer"},
          {.name = "Last Schedule"},
          age_column,
          containers_column,
          images_column,
          selector_column},
         cron_job_cells},
        {"policy",
         "PodDisruptionBudget",
         {name_column,
          {.name = "Min Available"},
          {.name = "Max Unavailable"},
          {.name = "Allowed Disruptions", .type = "integer"},
          age_column},
         disruption_budget_cells},
        {"autoscaling",
         "Scale",
         {{.name = "Name"},
          {.name = "Desired", .type = "integer"},
          {.name = "Available", .type = "integer"},
          age_column},
         [](const json::object& object, std::int64_t now) -> json::array {
             return {own_name(object), integer_of(object, "spec.replicas"),
                     integer_of(object, "status.replicas"), own_age(object, now)};
         }},
    };
    return all;
}

}  // namespace muster::lab
