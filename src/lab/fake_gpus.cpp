#include "lab/fake_gpus.h"

#include "base/text.h"
#include "kube/objects.h"

#include <boost/json.hpp>

#include <algorithm>

namespace muster::lab {

namespace {

constexpr std::string_view whole = "nvidia.com/gpu";
constexpr std::int64_t slots_max = 64 * 7;

}  // namespace

bool is_gpu_resource(std::string_view name) {
    return name == whole || name.starts_with("nvidia.com/mig-");
}

std::int64_t count_of(const boost::json::object& node, std::string_view resource) {
    const boost::json::object* capacity = kube::object_at(node, "status.capacity");
    const boost::json::value* amount = capacity ? capacity->if_contains(resource) : nullptr;
    if (amount == nullptr) { return 0; }
    if (amount->is_int64()) { return std::clamp<std::int64_t>(amount->get_int64(), 0, slots_max); }
    const auto count = amount->is_string() ? parse_quantity(amount->get_string()) : parse_int("");
    return count ? std::clamp<std::int64_t>(*count, 0, slots_max) : 0;
}

std::int64_t gpu_of(const boost::json::object& node, std::string_view resource, std::int64_t slot) {
    if (resource == whole) { return slot; }
    const auto cards = parse_int(kube::label_of(node, "nvidia.com/gpu.count"));
    const std::int64_t per_card =
        count_of(node, resource) / std::max<std::int64_t>(cards ? *cards : 1, 1);
    return slot / std::max<std::int64_t>(per_card, 1);
}

bool is_bad(const NodeFaults& faults, std::int64_t gpu) {
    const auto fault = faults.gpus.find(gpu);
    return fault != faults.gpus.end() && effect_of_xid(fault->second) != XidEffect::warns;
}

bool is_dead(const NodeFaults& faults, std::int64_t gpu) {
    const auto fault = faults.gpus.find(gpu);
    return fault != faults.gpus.end() && effect_of_xid(fault->second) == XidEffect::kills;
}

std::string healthy_count(const boost::json::object& node, std::string_view resource,
                          const NodeFaults& faults) {
    const std::int64_t count = count_of(node, resource);
    std::int64_t healthy = 0;
    for (std::int64_t slot = 0; slot < count; ++slot) {
        healthy += is_bad(faults, gpu_of(node, resource, slot)) ? 0 : 1;
    }
    return std::to_string(healthy);
}

}  // namespace muster::lab
