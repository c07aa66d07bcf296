#include "base/text.h"
#include "codec/plan_names.h"
#include "codec/scenario_specs.h"
#include "model/limits.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace muster::scenario {

namespace {

constexpr std::string_view node_keys =
    "a level's name, label.KEY, taint, cpu, mem, ext.NAME, pods, gpu, model, gmem, mig, "
    "gpu.I.model, gpu.I.gmem, gpu.I.mig, gpu.I.numa, gpu.I.health, gpu.numa, nic, nic.numa, numa, "
    "numa.cpu, numa.policy, nvlink, links, ready, cordoned, rank, counted";

Result<std::vector<std::int64_t>> read_list(const Attribute& attribute, std::int64_t low,
                                            std::int64_t high) {
    std::vector<std::int64_t> out;
    for (const Word& item : attribute.value.split(',')) {
        MUSTER_TRY(number, read_count({attribute.key, item}, low, high));
        out.push_back(number);
    }
    return out;
}

Result<> resize_gpus(NodeSpec& node, const Attribute& attribute) {
    MUSTER_TRY(count, read_count(attribute, 0, static_cast<std::int64_t>(gpus_per_node_max)));
    GpuSpec pattern = node.gpus.empty() ? GpuSpec{} : node.gpus.front();
    pattern.is_healthy = true;
    if (node.gpus.size() != static_cast<std::size_t>(count)) { node.links = {}; }
    node.gpus.resize(static_cast<std::size_t>(count), pattern);
    return {};
}

Result<bool> change_gpu(GpuSpec& gpu, std::string_view what, const Attribute& attribute) {
    if (what == "model") {
        gpu.model = attribute.value.text;
    } else if (what == "gmem") {
        MUSTER_TRY(mib, read_mib(attribute));
        gpu.memory_mib = mib;
    } else if (what == "mig") {
        MUSTER_TRY(is_on, read_flag(attribute));
        gpu.mig = is_on ? MigMode::dynamic : MigMode::off;
    } else if (what == "numa") {
        MUSTER_TRY(zone, read_count(attribute, -1, static_cast<std::int64_t>(numa_zones_max) - 1));
        gpu.numa = static_cast<std::int32_t>(zone);
    } else if (what == "health") {
        MUSTER_TRY(is_healthy, read_flag(attribute));
        gpu.is_healthy = is_healthy;
    } else {
        return false;
    }
    return true;
}

/// `gpu.3.model=…`: one GPU of the node.
Result<bool> change_one_gpu(NodeSpec& node, const Attribute& attribute) {
    const std::vector<Word> parts = attribute.key.split('.');
    if (parts.size() != 3 || !parts[0].is("gpu")) { return false; }
    if (node.gpus.empty()) {
        return fail(Code::invalid, fmt::format("{}: the node has no GPU", attribute.key.text));
    }
    MUSTER_TRY(index, parse_int(attribute.key.text, parts[1].text, 0,
                                static_cast<std::int64_t>(node.gpus.size()) - 1));
    return change_gpu(node.gpus[static_cast<std::size_t>(index)], parts[2].text, attribute);
}

/// `nic=2` or `nic=mlx5_0:0,mlx5_1:1` (name and NUMA zone).
Result<> read_nics(NodeSpec& node, const Attribute& attribute) {
    node.nics.clear();
    node.links = {};
    const Word& value = attribute.value;
    if (!value.is_quoted && !value.text.empty() &&
        value.text.find_first_not_of("0123456789") == std::string::npos) {
        MUSTER_TRY(count, read_count(attribute, 0, static_cast<std::int64_t>(nics_per_node_max)));
        for (std::int64_t i = 0; i < count; ++i) { node.nics.push_back({fmt::format("nic{}", i)}); }
        return {};
    }
    for (const Word& item : value.split(',')) {
        const std::size_t colon = item.find(':');
        NicSpec nic;
        MUSTER_TRY(name, read_name("nic", item.part(0, colon)));
        nic.name = name;
        if (colon != std::string::npos) {
            MUSTER_TRY(zone, read_count({attribute.key, item.part(colon + 1)}, -1,
                                        static_cast<std::int64_t>(numa_zones_max) - 1));
            nic.numa = static_cast<std::int32_t>(zone);
        }
        node.nics.push_back(std::move(nic));
    }
    if (node.nics.size() > nics_per_node_max) {
        return fail(Code::limit, fmt::format("nic: {} devices; expected at most {}",
                                             node.nics.size(), nics_per_node_max));
    }
    return {};
}

/// `numa=2`: CPUs, GPUs and NICs dealt to that many zones in equal runs.
Result<> deal_numa(NodeSpec& node, const Attribute& attribute) {
    MUSTER_TRY(count, read_count(attribute, 0, static_cast<std::int64_t>(numa_zones_max)));
    node.numa.clear();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t cpu = node.allocatable.milli_cpu;
        node.numa.push_back({cpu * (i + 1) / count - cpu * i / count});
    }
    const auto deal = [&](auto& devices) {
        const auto size = static_cast<std::int64_t>(devices.size());
        for (std::int64_t i = 0; i < size; ++i) {
            devices[static_cast<std::size_t>(i)].numa =
                count == 0 ? -1 : static_cast<std::int32_t>(i * count / size);
        }
    };
    deal(node.gpus);
    deal(node.nics);
    return {};
}

template <class Devices>
Result<> set_zones(Devices& devices, const Attribute& attribute) {
    MUSTER_TRY(zones, read_list(attribute, -1, static_cast<std::int64_t>(numa_zones_max) - 1));
    if (zones.size() != devices.size()) {
        return fail(Code::invalid, fmt::format("{}: {} zones for {} devices", attribute.key.text,
                                               zones.size(), devices.size()));
    }
    for (std::size_t i = 0; i < zones.size(); ++i) {
        devices[i].numa = static_cast<std::int32_t>(zones[i]);
    }
    return {};
}

Result<> set_zone_cpus(NodeSpec& node, const Attribute& attribute) {
    node.numa.clear();
    for (const Word& item : attribute.value.split(',')) {
        MUSTER_TRY(cpu, read_cpu({attribute.key, item}));
        node.numa.push_back({cpu});
    }
    if (node.numa.size() > numa_zones_max) {
        return fail(Code::limit, fmt::format("numa.cpu: {} zones; expected at most {}",
                                             node.numa.size(), numa_zones_max));
    }
    return {};
}

Result<bool> change_state(NodeSpec& node, const Attribute& attribute) {
    if (attribute.is("ready") || attribute.is("cordoned") || attribute.is("counted")) {
        MUSTER_TRY(is_so, read_flag(attribute));
        bool& field = attribute.is("ready")      ? node.is_ready
                      : attribute.is("cordoned") ? node.is_cordoned
                                                 : node.is_counted;
        field = is_so;
    } else if (attribute.is("rank")) {
        MUSTER_TRY(rank, read_count(attribute, INT32_MIN, INT32_MAX));
        node.rank = static_cast<std::int32_t>(rank);
    } else if (attribute.is("numa.policy")) {
        const auto policy = value_of<NumaPolicy>(attribute.value.text);
        if (!policy) {
            return fail(Code::invalid, fmt::format("numa.policy='{}'; expected none or single",
                                                   attribute.value.text));
        }
        node.numa_policy = *policy;
    } else {
        return false;
    }
    return true;
}

Result<bool> change_amount(NodeSpec& node, const Attribute& attribute) {
    if (attribute.is("cpu")) {
        MUSTER_TRY(cpu, read_cpu(attribute));
        node.allocatable.milli_cpu = cpu;
    } else if (attribute.is("mem")) {
        MUSTER_TRY(memory, read_memory(attribute));
        node.allocatable.memory = memory;
    } else if (attribute.is("pods")) {
        MUSTER_TRY(pods, read_count(attribute, 0, extended_count_max));
        node.pods = pods;
    } else if (attribute.has_prefix("ext")) {
        MUSTER_TRY(count, read_count(attribute, 0, extended_count_max));
        set_amount(node.allocatable.extended, attribute.behind("ext"), count);
    } else {
        return false;
    }
    return true;
}

/// Attributes that need neither the number of devices nor the CPUs.
Result<bool> change_plain(NodeSpec& node, const Attribute& attribute,
                          std::span<const Level> levels) {
    MUSTER_TRY(is_amount, change_amount(node, attribute));
    if (is_amount) { return true; }
    MUSTER_TRY(is_state, change_state(node, attribute));
    if (is_state) { return true; }
    if (attribute.has_prefix("label")) {
        set_label(node.labels, attribute.behind("label"), attribute.value.text);
        return true;
    }
    for (const Level& level : levels) {
        if (level.name == attribute.key.text) {
            set_label(node.labels, level.key, attribute.value.text);
            return true;
        }
    }
    return false;
}

/// Attributes of devices that are there by now.
Result<bool> change_devices(NodeSpec& node, const Attribute& attribute) {
    const std::string& key = attribute.key.text;
    if (key == "model" || key == "gmem" || key == "mig") {
        for (GpuSpec& gpu : node.gpus) { MUSTER_CHECK(change_gpu(gpu, key, attribute)); }
        if (node.gpus.empty()) {
            return fail(Code::invalid, fmt::format("{}: the node has no GPU; expected gpu=N", key));
        }
        return true;
    }
    if (key == "gpu.numa" || key == "nic.numa" || key == "numa.cpu" || key == "numa") {
        return true;
    }
    return key == "gpu" || key == "nic" || key == "taint" || key == "nvlink" || key == "links";
}

/// Last of all: what overrides one device, or looks at all of them.
Result<> change_details(NodeSpec& node, const Attribute& attribute) {
    const std::size_t devices = node.gpus.size() + node.nics.size();
    if (attribute.is("gpu.numa")) { return set_zones(node.gpus, attribute); }
    if (attribute.is("nic.numa")) { return set_zones(node.nics, attribute); }
    if (attribute.is("numa.cpu")) { return set_zone_cpus(node, attribute); }
    if (attribute.is("links")) {
        MUSTER_TRY(links, read_links(attribute.value, devices));
        node.links = std::move(links);
    } else if (attribute.is("nvlink")) {
        MUSTER_TRY(links, read_nvlink(attribute.value, node));
        node.links = std::move(links);
    }
    return {};
}

}  // namespace

Result<> change_node(NodeSpec& node, std::span<const Attribute> attributes,
                     std::span<const Level> levels) {
    for (const Attribute& attribute : attributes) {
        if (attribute.is("gpu")) { MUSTER_CHECK(resize_gpus(node, attribute)); }
        if (attribute.is("nic")) { MUSTER_CHECK(read_nics(node, attribute)); }
    }
    bool has_taints = false;
    std::vector<const Attribute*> later;
    for (const Attribute& attribute : attributes) {
        if (attribute.is("taint")) {
            if (!std::exchange(has_taints, true)) { node.taints.clear(); }
            if (attribute.value.is("none")) { continue; }
            MUSTER_TRY(taint, read_taint(attribute.value));
            node.taints.push_back(std::move(taint));
            continue;
        }
        MUSTER_TRY(is_device, change_devices(node, attribute));
        if (is_device) { continue; }
        MUSTER_TRY(is_plain, change_plain(node, attribute, levels));
        if (!is_plain) { later.push_back(&attribute); }
    }
    for (const Attribute& attribute : attributes) {
        if (attribute.is("numa")) { MUSTER_CHECK(deal_numa(node, attribute)); }
    }
    for (const Attribute* attribute : later) {
        MUSTER_TRY(is_gpu, change_one_gpu(node, *attribute));
        if (!is_gpu) { return unknown_key(*attribute, node_keys); }
    }
    for (const Attribute& attribute : attributes) { MUSTER_CHECK(change_details(node, attribute)); }
    return {};
}

}  // namespace muster::scenario
