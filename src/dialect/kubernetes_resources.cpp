#include "dialect/kubernetes_resources.h"

#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t milli = 1'000;

bool is_kept_in_mebibytes(std::string_view name) {
    return name == "ephemeral-storage" || name.starts_with("hugepages-");
}

std::vector<Amount>::iterator find(std::vector<Amount>& amounts, std::string_view name) {
    return std::lower_bound(
        amounts.begin(), amounts.end(), name,
        [](const Amount& amount, std::string_view wanted) { return amount.name < wanted; });
}

std::int64_t& slot(std::vector<Amount>& amounts, std::string_view name) {
    auto at = find(amounts, name);
    if (at == amounts.end() || at->name != name) {
        at = amounts.insert(at, {std::string(name), 0});
    }
    return at->count;
}

/// Saturates far above every bound, so that sums can't overflow.
std::int64_t plus(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t ceiling = INT64_MAX / 4;
    return std::min(a + b, ceiling);
}

void add(std::vector<Amount>& amounts, const std::vector<Amount>& more) {
    for (const Amount& amount : more) {
        std::int64_t& count = slot(amounts, amount.name);
        count = plus(count, amount.count);
    }
}

void raise(std::vector<Amount>& amounts, const std::vector<Amount>& floor) {
    for (const Amount& amount : floor) {
        std::int64_t& count = slot(amounts, amount.name);
        count = std::max(count, amount.count);
    }
}

struct Container {
    std::vector<Amount> request;
    bool is_guaranteed = false;
    bool has_whole_cpus = false;
};

Container read_container(const Field& field) {
    const Field resources = field["resources"];
    const std::vector<Amount> requests = read_amounts(resources["requests"]);
    const std::vector<Amount> limits = read_amounts(resources["limits"]);
    Container container{.request = limits};
    for (const Amount& amount : requests) { slot(container.request, amount.name) = amount.count; }
    const auto is_equal = [&](std::string_view name) {
        return amount_of(limits, name) > 0 &&
               amount_of(limits, name) == amount_of(container.request, name);
    };
    container.is_guaranteed = is_equal("cpu") && is_equal("memory");
    container.has_whole_cpus = amount_of(container.request, "cpu") % milli == 0;
    return container;
}

}  // namespace

std::int64_t read_amount(std::string_view name, const Field& field) {
    if (name == "cpu") { return field.quantity_milli(milli_cpu_max); }
    if (name == "memory") { return field.quantity(memory_bytes_max); }
    if (is_kept_in_mebibytes(name)) {
        return (field.quantity(memory_bytes_max) + mebibyte - 1) / mebibyte;
    }
    const std::int64_t count = field.quantity_milli(extended_count_max * milli);
    if (count % milli != 0) { field.expected("a whole number; this resource can't be divided"); }
    return count / milli;
}

std::vector<Amount> read_amounts(const Field& list) {
    std::vector<Amount> amounts;
    for (const auto& [name, field] : list.members()) {
        amounts.push_back({std::string(name), read_amount(name, field)});
    }
    std::sort(amounts.begin(), amounts.end(),
              [](const Amount& a, const Amount& b) { return a.name < b.name; });
    return amounts;
}

std::int64_t amount_of(const std::vector<Amount>& amounts, std::string_view name) {
    const auto at = std::find_if(amounts.begin(), amounts.end(),
                                 [&](const Amount& a) { return a.name == name; });
    return at != amounts.end() ? at->count : 0;
}

std::int64_t take_amount(std::vector<Amount>& amounts, std::string_view name) {
    const auto at = find(amounts, name);
    if (at == amounts.end() || at->name != name) { return 0; }
    const std::int64_t count = at->count;
    amounts.erase(at);
    return count;
}

void add_amount(std::vector<Amount>& amounts, std::string_view name, std::int64_t count) {
    std::int64_t& known = slot(amounts, name);
    known = plus(known, count);
}

Resources to_resources(std::vector<Amount> amounts, const Field& field) {
    Resources out;
    out.milli_cpu = take_amount(amounts, "cpu");
    out.memory = take_amount(amounts, "memory");
    std::erase_if(amounts, [](const Amount& amount) { return amount.count == 0; });
    const bool is_small = std::all_of(amounts.begin(), amounts.end(), [](const Amount& amount) {
        return amount.count <= extended_count_max && amount.name.size() <= name_bytes_max;
    });
    if (out.milli_cpu > milli_cpu_max || out.memory > memory_bytes_max || !is_small) {
        field.refuse("the containers' requests add up to too much");
        return {};
    }
    out.extended = std::move(amounts);
    return out;
}

PodRequest read_pod_request(const Field& spec) {
    PodRequest out;
    std::vector<Amount> sidecars;
    std::vector<Amount>
        peak;  // of the init containers, one at a time beside the sidecars before it
    bool is_guaranteed = true;
    bool has_whole_cpus = true;
    const auto judge = [&](const Container& container) {
        is_guaranteed = is_guaranteed && container.is_guaranteed;
        has_whole_cpus = has_whole_cpus && container.has_whole_cpus;
    };
    for (const Field& field : spec["initContainers"].items()) {
        const Container container = read_container(field);
        judge(container);
        if (field["restartPolicy"].text() == "Always") {
            add(sidecars, container.request);
            raise(peak, sidecars);
        } else {
            std::vector<Amount> moment = sidecars;
            add(moment, container.request);
            raise(peak, moment);
        }
    }
    for (const Field& field : spec["containers"].items()) {
        const Container container = read_container(field);
        judge(container);
        add(out.amounts, container.request);
    }
    add(out.amounts, sidecars);
    raise(out.amounts, peak);
    // Resources of the pod as a whole stand before the sum of its containers.
    const Container pod = read_container(spec);
    for (const Amount& amount : pod.request) { slot(out.amounts, amount.name) = amount.count; }
    add(out.amounts, read_amounts(spec["overhead"]));
    out.is_cpu_exclusive = is_guaranteed && has_whole_cpus && amount_of(out.amounts, "cpu") > 0;
    return out;
}

}  // namespace muster::dialect
