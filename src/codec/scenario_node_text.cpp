#include "codec/plan_names.h"
#include "codec/scenario_specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace muster::scenario {

namespace {

using Out = std::back_insert_iterator<std::string>;

/// Keys of node lines that a level of the same name would not get through.
constexpr std::string_view taken[] = {"cpu",  "mem",     "pods",  "gpu",     "model",  "gmem",
                                      "mig",  "nic",     "numa",  "links",   "nvlink", "ready",
                                      "rank", "counted", "taint", "cordoned"};

/// `rack=r1` where that is short for the label, else `label.KEY=r1`.
std::string label_key(const Label& label, std::span<const Level> levels) {
    for (const Level& level : levels) {
        if (level.key != label.key) { continue; }
        const bool is_first = std::ranges::find(levels, level.name, &Level::name)->key == label.key;
        const bool is_plain =
            quote(level.name) == level.name && level.name.find('.') == std::string::npos;
        if (is_first && is_plain && std::ranges::find(taken, level.name) == std::end(taken)) {
            return level.name;
        }
    }
    return "label." + quote(label.key);
}

void write_zone_list(Out out, std::string_view key, const auto& devices) {
    const bool is_known = std::ranges::any_of(devices, [](const auto& d) { return d.numa >= 0; });
    if (!is_known) { return; }
    fmt::format_to(out, " {}=", key);
    for (std::size_t i = 0; i < devices.size(); ++i) {
        fmt::format_to(out, "{}{}", i == 0 ? "" : ",", devices[i].numa);
    }
}

/// The first GPU stands for all; each that differs follows as `gpu.I.key`.
void write_gpus(Out out, const NodeSpec& node) {
    if (node.gpus.empty()) { return; }
    const GpuSpec& first = node.gpus.front();
    fmt::format_to(out, " gpu={}", node.gpus.size());
    if (!first.model.empty()) { fmt::format_to(out, " model={}", quote(first.model)); }
    if (first.memory_mib != 0) { fmt::format_to(out, " gmem={}Mi", first.memory_mib); }
    if (first.mig == MigMode::dynamic) { fmt::format_to(out, " mig=yes"); }
    write_zone_list(out, "gpu.numa", node.gpus);
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
        const GpuSpec& gpu = node.gpus[i];
        if (gpu.model != first.model) {
            fmt::format_to(out, " gpu.{}.model={}", i, quote(gpu.model));
        }
        if (gpu.memory_mib != first.memory_mib) {
            fmt::format_to(out, " gpu.{}.gmem={}Mi", i, gpu.memory_mib);
        }
        if (gpu.mig != first.mig) {
            fmt::format_to(out, " gpu.{}.mig={}", i, gpu.mig == MigMode::dynamic ? "yes" : "no");
        }
        if (!gpu.is_healthy) { fmt::format_to(out, " gpu.{}.health=no", i); }
    }
}

void write_nics(Out out, const NodeSpec& node) {
    if (node.nics.empty()) { return; }
    fmt::format_to(out, " nic=");
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
        const NicSpec& nic = node.nics[i];
        // Bare digits would be a number of NICs.
        const bool is_number = nic.name.find_first_not_of("0123456789") == std::string::npos;
        fmt::format_to(out, "{}{}", i == 0 ? "" : ",",
                       is_number ? '"' + nic.name + '"' : quote(nic.name));
        if (nic.numa >= 0) { fmt::format_to(out, ":{}", nic.numa); }
    }
}

void write_numa(Out out, const NodeSpec& node) {
    for (std::size_t i = 0; i < node.numa.size(); ++i) {
        fmt::format_to(out, "{}{}", i == 0 ? " numa.cpu=" : ",",
                       write_milli(node.numa[i].milli_cpu));
    }
    if (node.numa_policy != NumaPolicy::none) {
        fmt::format_to(out, " numa.policy={}", name_of(node.numa_policy));
    }
}

}  // namespace

std::string write_node(const NodeSpec& node, std::span<const Level> levels) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const Label& label : node.labels) {
        fmt::format_to(out, " {}={}", label_key(label, levels), quote(label.value));
    }
    for (const Taint& taint : node.taints) { fmt::format_to(out, " taint={}", write_taint(taint)); }
    write_gpus(out, node);
    if (node.allocatable.milli_cpu != 0) {
        fmt::format_to(out, " cpu={}", write_milli(node.allocatable.milli_cpu));
    }
    if (node.allocatable.memory != 0) {
        fmt::format_to(out, " mem={}", write_bytes(node.allocatable.memory));
    }
    for (const Amount& amount : node.allocatable.extended) {
        fmt::format_to(out, " ext.{}={}", quote(amount.name), amount.count);
    }
    if (node.pods != NodeSpec{}.pods) { fmt::format_to(out, " pods={}", node.pods); }
    write_nics(out, node);
    write_numa(out, node);
    if (!node.links.paths.empty()) {
        fmt::format_to(out, " links={}",
                       write_links(node.links, node.gpus.size() + node.nics.size()));
    }
    if (!node.is_ready) { text += " ready=no"; }
    if (node.is_cordoned) { text += " cordoned=yes"; }
    if (node.rank != 0) { fmt::format_to(out, " rank={}", node.rank); }
    if (node.is_counted) { text += " counted=yes"; }
    return text;
}

}  // namespace muster::scenario
