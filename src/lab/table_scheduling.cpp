// Priorities, leases, devices, groups of pods.
#include "lab/table_kinds.h"

#include <boost/json.hpp>

namespace muster::lab {

namespace json = boost::json;

namespace {

json::array priority_class_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), integer_of(object, "value"), flag_of(object, "globalDefault"),
            own_age(object, now), text_of(object, "preemptionPolicy")};
}

json::array lease_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), text_of(object, "spec.holderIdentity"), own_age(object, now)};
}

json::array claim_cells(const json::object& claim, std::int64_t now) {
    const bool is_deleted = !text_of(claim, "metadata.deletionTimestamp").empty();
    std::string state = is_deleted ? "deleted" : "pending";
    if (value_at(claim, "status.allocation") != nullptr) {
        state = is_deleted ? "deleted,allocated" : "allocated";
        if (!list_of(claim, "status.reservedFor").empty()) { state += ",reserved"; }
    }
    return {own_name(claim), state, own_age(claim, now)};
}

json::array slice_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), text_of(object, "spec.nodeName"), text_of(object, "spec.driver"),
            text_of(object, "spec.pool.name"), own_age(object, now)};
}

json::array name_and_age(const json::object& object, std::int64_t now) {
    return {own_name(object), own_age(object, now)};
}

std::string policy_of(const json::object& group) {
    const json::value* gang = value_at(group, "spec.schedulingPolicy.gang");
    return gang != nullptr && gang->is_object() ? "Gang" : "Basic";
}

json::array pod_group_cells(const json::object& group, std::int64_t now) {
    std::string status = "Pending";
    if (condition_of(group, "PodGroupInitiallyScheduled") != nullptr) {
        status =
            is_condition_true(group, "PodGroupInitiallyScheduled") ? "Scheduled" : "Unschedulable";
    }
    if (const json::object* disruption = condition_of(group, "DisruptionTarget")) {
        status = text_of(*disruption, "reason");
    }
    return {own_name(group), policy_of(group),
            text_of(group, "spec.workloadRef.workloadName", "<none>"), status, own_age(group, now)};
}

json::array composite_cells(const json::object& group, std::int64_t now) {
    return {own_name(group), policy_of(group),
            text_of(group, "spec.workloadRef.workloadName", "<none>"), own_age(group, now)};
}

struct VolcanoColumns {
    std::string_view group;
    std::string_view kind;
    json::array columns;
};

json::object printed(std::string_view name, std::string_view type, std::string_view path,
                     int priority = 0) {
    return {{"name", name}, {"type", type}, {"jsonPath", path}, {"priority", priority}};
}

}  // namespace

std::span<const KindTable> scheduling_tables() {
    constexpr std::string_view scheduling = "scheduling.k8s.io";
    constexpr std::string_view resource = "resource.k8s.io";
    static const std::vector<KindTable> all = {
        {scheduling,
         "PriorityClass",
         {name_column,
          {.name = "Value", .type = "integer"},
          {.name = "Global-Default", .type = "boolean"},
          age_column,
          {.name = "PreemptionPolicy"}},
         priority_class_cells},
        {scheduling,
         "PodGroup",
         {name_column, {.name = "Policy"}, {.name = "Workload"}, {.name = "Status"}, age_column},
         pod_group_cells},
        {scheduling,
         "CompositePodGroup",
         {name_column, {.name = "Policy"}, {.name = "Workload"}, age_column},
         composite_cells},
        {scheduling, "Workload", {name_column, age_column}, name_and_age},
        {"coordination.k8s.io",
         "Lease",
         {name_column, {.name = "Holder"}, age_column},
         lease_cells},
        {resource, "DeviceClass", {name_column, age_column}, name_and_age},
        {resource, "ResourceClaim", {name_column, {.name = "State"}, age_column}, claim_cells},
        {resource, "ResourceClaimTemplate", {name_column, age_column}, name_and_age},
        {resource,
         "ResourceSlice",
         {name_column, {.name = "Node"}, {.name = "Driver"}, {.name = "Pool"}, age_column},
         slice_cells},
    };
    return all;
}

const json::array* volcano_columns(std::string_view group, std::string_view kind) {
    static const std::vector<VolcanoColumns> all = {
        {"scheduling.volcano.sh",
         "PodGroup",
         {printed("STATUS", "string", ".status.phase"),
          printed("minMember", "integer", ".spec.minMember"),
          printed("RUNNINGS", "integer", ".status.running"),
          printed("AGE", "date", ".metadata.creationTimestamp"),
          printed("QUEUE", "string", ".spec.queue", 1)}},
        {"scheduling.volcano.sh", "Queue", {printed("PARENT", "string", ".spec.parent")}},
        {"batch.volcano.sh",
         "Job",
         {printed("STATUS", "string", ".status.state.phase"),
          printed("minAvailable", "integer", ".status.minAvailable"),
          printed("RUNNINGS", "integer", ".status.running"),
          printed("AGE", "date", ".metadata.creationTimestamp"),
          printed("QUEUE", "string", ".spec.queue", 1)}},
        {"topology.volcano.sh",
         "HyperNode",
         {printed("Tier", "string", ".spec.tier"), printed("TierName", "string", ".spec.tierName"),
          printed("NodeCount", "integer", ".status.nodeCount"),
          printed("Age", "date", ".metadata.creationTimestamp")}},
    };
    for (const VolcanoColumns& one : all) {
        if (one.group == group && one.kind == kind) { return &one.columns; }
    }
    return nullptr;
}

}  // namespace muster::lab
