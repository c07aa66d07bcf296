#include "lab/volcano_resources.h"

#include "base/text.h"
#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
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

std::string quantity_text(std::string_view name, std::int64_t milli) {
    if (milli % 1000 != 0) { return fmt::format("{}m", milli); }
    const std::int64_t whole = milli / 1000;
    constexpr std::array<std::pair<std::string_view, int>, 4> suffixes{
        {{"Ti", 40}, {"Gi", 30}, {"Mi", 20}, {"Ki", 10}}};
    if (is_bytes(name) && whole > 0) {
        for (const auto& [suffix, bits] : suffixes) {
            const std::int64_t unit = std::int64_t{1} << bits;
            if (whole % unit == 0) { return fmt::format("{}{}", whole / unit, suffix); }
        }
    }
    return std::to_string(whole);
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
        if (const json::object* list = object_at(*container, "resources.requests")) {
            for (const auto& [name, value] : *list) {
                add(sums, std::string(name), read_milli(value), count);
                add(sums, "requests." + std::string(name), read_milli(value), count);
            }
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
    for (const auto& [name, milli] : sums) { out[name] = quantity_text(name, milli); }
    return out;
}

}  // namespace muster::lab::volcano
