#include "lab/volcano_resources.h"

#include "base/text.h"
#include "lab/quantity.h"
#include "lab/volcano_object.h"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

using MilliAmounts = std::map<std::string, std::int64_t>;

bool is_bytes(std::string_view name) {
    return name.find("memory") != std::string_view::npos ||
           name.find("storage") != std::string_view::npos ||
           name.find("hugepages-") != std::string_view::npos;
}

std::int64_t read_milli(const json::value& value) {
    constexpr std::int64_t whole_max = INT64_MAX / 1000;
    if (const std::int64_t* whole = value.if_int64(); whole != nullptr) {
        return std::clamp<std::int64_t>(*whole, 0, whole_max) * 1000;
    }
    const json::string* text = value.if_string();
    return text == nullptr ? 0 : parse_quantity_milli(*text).value_or(0);
}

void add(MilliAmounts& sums, const std::string& name, std::int64_t milli, std::int64_t times) {
    __extension__ using Wide = __int128;
    std::int64_t& sum = sums[name];
    const Wide total = static_cast<Wide>(milli) * times + sum;
    sum = total > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(total);
}

void add_pods(MilliAmounts& sums, const TaskSpec& task, std::int64_t count) {
    add(sums, "pods", 1000, count);
    add(sums, "count/pods", 1000, count);
    const json::array* containers = array_at(*task.raw, "template.spec.containers");
    if (containers == nullptr) { return; }
    for (const json::value& one : *containers) {
        const json::object* container = one.if_object();
        if (container == nullptr) { continue; }
        // A limit is a request where none is said.
        json::object requests;
        for (const std::string_view which : {"resources.limits", "resources.requests"}) {
            const json::object* list = object_at(*container, which);
            if (list == nullptr) { continue; }
            for (const auto& [name, value] : *list) { requests[name] = value; }
        }
        for (const auto& [name, value] : requests) {
            add(sums, std::string(name), read_milli(value), count);
            add(sums, "requests." + std::string(name), read_milli(value), count);
        }
        if (const json::object* list = object_at(*container, "resources.limits")) {
            for (const auto& [name, value] : *list) {
                if (name != "cpu" && name != "memory") { continue; }
                add(sums, "limits." + std::string(name), read_milli(value), count);
            }
        }
    }
}

}  // namespace

json::object min_resources(const JobSpec& spec) {
    MilliAmounts sums;
    const bool is_by_task = spec.minimum == spec.tasks_minimum();
    std::int64_t left = spec.minimum;
    for (const TaskSpec& task : spec.tasks) {
        const std::int64_t wanted = is_by_task ? task.minimum() : task.replicas;
        const std::int64_t count = std::min(left, wanted);
        if (count <= 0) { continue; }
        left -= count;
        add_pods(sums, task, count);
    }
    json::object out;
    for (const auto& [name, milli] : sums) {
        out[name] = text_of({.milli = milli, .is_binary = is_bytes(name)});
    }
    return out;
}

}  // namespace muster::lab::volcano
