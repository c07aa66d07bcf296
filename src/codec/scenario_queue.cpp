#include "codec/plan_names.h"
#include "codec/scenario_specs.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <utility>

namespace muster::scenario {

namespace {

constexpr std::int64_t gpu_quota_max = std::int64_t{1} << 40;  // milli-GPU
constexpr std::int64_t weight_max = 1'000'000;

constexpr std::string_view queue_keys =
    "parent, cap, cap.gpu, cap.cpu, cap.mem, cap.NAME, entitlement…, guarantee…, weight, priority, "
    "head";

Result<> set_quota(Quota& quota, std::string_view resource, const Attribute& attribute) {
    std::string name(resource);
    auto count = resource == "gpu"   ? read_milli(attribute, gpu_quota_max)
                 : resource == "cpu" ? read_milli(attribute, gpu_quota_max)
                 : resource == "mem" || resource == "memory"
                     ? read_fleet_memory(attribute)
                     : read_count(attribute, 0, extended_count_max);
    if (!count) { return tl::unexpected(std::move(count.error())); }
    if (resource == "mem") { name = "memory"; }
    set_amount(quota.amounts, std::move(name), *count);
    return {};
}

/// `cap=16` is GPUs; `cap.cpu=2` what it says.
Result<bool> change_quota(QueueSpec& queue, const Attribute& attribute) {
    const std::pair<std::string_view, Quota*> quotas[] = {
        {"cap", &queue.cap}, {"entitlement", &queue.entitlement}, {"guarantee", &queue.guarantee}};
    for (const auto& [key, quota] : quotas) {
        if (attribute.is(key)) {
            MUSTER_CHECK(set_quota(*quota, "gpu", attribute));
            return true;
        }
        if (attribute.has_prefix(key)) {
            MUSTER_CHECK(set_quota(*quota, attribute.behind(key), attribute));
            return true;
        }
    }
    return false;
}

std::string write_quota(std::string_view key, const Quota& quota) {
    std::string out;
    for (const Amount& amount : quota.amounts) {
        if (amount.name == "gpu" || amount.name == "cpu") {
            out += fmt::format(" {}.{}={}", key, amount.name, write_milli(amount.count));
        } else if (amount.name == "memory") {
            out += fmt::format(" {}.mem={}", key, write_bytes(amount.count));
        } else {
            out += fmt::format(" {}.{}={}", key, quote(amount.name), amount.count);
        }
    }
    return out;
}

}  // namespace

Result<> change_queue(QueueSpec& queue, std::span<const Attribute> attributes) {
    for (const Attribute& attribute : attributes) {
        MUSTER_TRY(is_quota, change_quota(queue, attribute));
        if (is_quota) { continue; }
        if (attribute.is("parent")) {
            queue.parent = attribute.value.text;
        } else if (attribute.is("weight")) {
            MUSTER_TRY(weight, read_count(attribute, 0, weight_max));
            queue.weight = weight;
        } else if (attribute.is("priority")) {
            MUSTER_TRY(priority, read_count(attribute, -priority_max, priority_max));
            queue.priority = priority;
        } else if (attribute.is("head")) {
            const auto rule = value_of<HeadRule>(attribute.value.text);
            if (!rule) {
                return fail(Code::invalid, fmt::format("head='{}'; expected strict or best_effort",
                                                       attribute.value.text));
            }
            queue.head = *rule;
        } else {
            return unknown_key(attribute, queue_keys);
        }
    }
    return {};
}

std::string write_queue(const QueueSpec& queue) {
    std::string out;
    if (!queue.parent.empty()) { out += " parent=" + quote(queue.parent); }
    out += write_quota("cap", queue.cap);
    out += write_quota("entitlement", queue.entitlement);
    out += write_quota("guarantee", queue.guarantee);
    if (queue.weight != 1) { out += fmt::format(" weight={}", queue.weight); }
    if (queue.priority != 0) { out += fmt::format(" priority={}", queue.priority); }
    if (queue.head != HeadRule::best_effort) {
        out += fmt::format(" head={}", name_of(queue.head));
    }
    return out;
}

}  // namespace muster::scenario
