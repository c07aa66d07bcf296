#include "dialect/kubernetes_queue.h"

#include "dialect/kubernetes_gpu.h"
#include "dialect/kubernetes_resources.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

std::int64_t& slot(Quota& quota, std::string_view name) {
    const auto at = std::find_if(quota.amounts.begin(), quota.amounts.end(),
                                 [&](const Amount& amount) { return amount.name == name; });
    if (at != quota.amounts.end()) { return at->count; }
    return quota.amounts.emplace_back(Amount{std::string(name), 0}).count;
}

/// Far above every bound, so that sums can't overflow.
void grow(Quota& quota, const Amount& more) {
    constexpr std::int64_t ceiling = INT64_MAX / 4;
    std::int64_t& sum = slot(quota, more.name);
    sum = std::min(sum + more.count, ceiling);
}

void drop(Quota& quota, std::string_view name) {
    std::erase_if(quota.amounts, [&](const Amount& amount) { return amount.name == name; });
}

/// A resource as quotas count it: GPUs of all vendors together.
Amount quota_amount(std::string_view name, const Field& field) {
    const std::int64_t count = read_amount(name, field);
    if (find_gpu_vendor(name) == nullptr) { return {std::string(name), count}; }
    return {"gpu", std::min(count, extended_count_max) * gpu_milli_whole};
}

std::string quota_name(std::string_view name) {
    return find_gpu_vendor(name) == nullptr ? std::string(name) : "gpu";
}

/// Devices, thousandths of a CPU or megabytes; −1 is no bound, and what is not said is nothing.
std::int64_t kai_amount(std::string_view resource, const Field& field) {
    constexpr std::int64_t megabyte = 1'000'000;
    if (resource == "gpu") { return field.quantity_milli(extended_count_max * gpu_milli_whole); }
    if (resource == "cpu") { return field.quantity(milli_cpu_max); }
    return field.quantity(memory_bytes_max / megabyte) * megabyte;
}

/// Whether it is −1. A fraction is no fault, only another number.
bool is_unbounded(const Field& queue, std::string_view resource, std::string_view key) {
    Faults ignored;
    const Field again(queue.document(), ignored);
    return again["spec"]["resources"][resource][key].integer(INT64_MIN, INT64_MAX) == -1;
}

}  // namespace

QueueSpec read_kueue_queue(const Field& queue, const Scope& scope, std::string& cohort) {
    QueueSpec out;
    const Field spec = queue["spec"];
    out.name = queue["metadata"]["name"].name();
    for (const std::string_view key : {"cohortName", "cohort"}) {
        if (spec[key].is_present() && !spec[key].text().empty()) { cohort = spec[key].name(); }
    }
    out.parent = cohort;
    std::vector<std::string> unbounded;
    for (const Field& group : spec["resourceGroups"].items()) {
        for (const Field& flavor : group["flavors"].items()) {
            for (const Field& resource : flavor["resources"].items()) {
                const std::string_view name = resource["name"].name();
                const Amount nominal = quota_amount(name, resource["nominalQuota"]);
                grow(out.entitlement, nominal);
                grow(out.cap, nominal);
                const Field borrowing = resource["borrowingLimit"];
                if (borrowing.is_present()) {
                    grow(out.cap, quota_amount(name, borrowing));
                } else if (!cohort.empty()) {
                    unbounded.push_back(quota_name(name));
                }
                if (resource["lendingLimit"].is_present()) {
                    scope.notes.add(resource["lendingLimit"], "lendingLimit is not looked at");
                }
            }
        }
    }
    for (const std::string& name : unbounded) { drop(out.cap, name); }
    if (spec["queueingStrategy"].text() == "StrictFIFO") { out.head = HeadRule::strict; }
    const std::string_view stop = spec["stopPolicy"].text("None");
    if (stop != "None" && !stop.empty()) {
        scope.notes.add(spec["stopPolicy"], "a queue that is on hold is taken as open");
    }
    return out;
}

QueueSpec cohort_of(const std::string& name, const std::vector<std::string>& members,
                    const std::vector<QueueSpec>& queues) {
    QueueSpec out;
    out.name = name;
    for (const QueueSpec& queue : queues) {
        if (std::find(members.begin(), members.end(), queue.name) == members.end()) { continue; }
        for (const Amount& amount : queue.entitlement.amounts) { grow(out.cap, amount); }
    }
    return out;
}

QueueSpec read_kai_queue(const Field& queue, const Scope& scope) {
    QueueSpec out;
    const Field spec = queue["spec"];
    out.name = queue["metadata"]["name"].name();
    if (spec["parentQueue"].is_present() && !spec["parentQueue"].text().empty()) {
        out.parent = spec["parentQueue"].name();
    }
    out.priority = spec["priority"].integer(-priority_max, priority_max, 100);
    const Field resources = spec["resources"];
    if (!resources.is_present()) {
        scope.notes.add(queue, "a queue without resources has no bound");
    }
    for (const auto& [name, field] : resources.members()) {
        if (name != "gpu" && name != "cpu" && name != "memory") {
            scope.notes.add(field, fmt::format("resource {} of a Queue is not looked at", name));
            continue;
        }
        if (field["quota"].is_present() && !is_unbounded(queue, name, "quota")) {
            slot(out.entitlement, name) = kai_amount(name, field["quota"]);
        }
        if (!is_unbounded(queue, name, "limit")) {
            slot(out.cap, name) =
                field["limit"].is_present() ? kai_amount(name, field["limit"]) : 0;
        }
        if (name == "gpu" && field["overQuotaWeight"].is_present()) {
            constexpr std::int64_t weight_max = 65'535;
            out.weight = std::clamp<std::int64_t>(field["overQuotaWeight"].quantity(weight_max), 1,
                                                  weight_max);
        }
    }
    return out;
}

}  // namespace muster::dialect
