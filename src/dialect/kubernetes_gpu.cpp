#include "dialect/kubernetes_gpu.h"

#include "base/text.h"
#include "dialect/kubernetes_resources.h"
#include "dialect/topo_matrix.h"
#include "model/gpu_catalog.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

constexpr GpuVendor vendors[] = {
    {"nvidia.com/gpu", "nvidia.com/gpu.product", "nvidia.com/gpu.memory", true},
    {"amd.com/gpu", "amd.com/gpu.product-name", "amd.com/gpu.vram", false},
    {"gpu.intel.com/i915", "gpu.intel.com/product", "gpu.intel.com/memory.max", false},
    {"gpu.intel.com/xe", "gpu.intel.com/product", "gpu.intel.com/memory.max", false},
    {"habana.ai/gaudi", "habana.ai/gaudi.product", "habana.ai/gaudi.memory", true},
    {"huawei.com/Ascend910", "accelerator-type", "huawei.com/npu.memory", true},
};
constexpr std::string_view nvidia = vendors[0].resource;
constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t percent_max = 100;
constexpr std::int64_t milli_per_percent = 10;

std::int64_t read_memory_mib(const Field& label, bool is_mib) {
    const std::int64_t amount =
        label.quantity(is_mib ? gpu_memory_mib_max : gpu_memory_mib_max * mebibyte);
    return is_mib ? amount : amount / mebibyte;
}

/// A label that holds a number, 0 when it is not there.
std::int64_t read_count_label(const Field& label) {
    if (!label.is_present()) { return 0; }
    const auto count = parse_int(label.text());
    if (!count || *count < 0) {
        label.expected("a whole number ≥ 0 in quotes");
        return 0;
    }
    return *count;
}

bool is_marked(const Field& metadata, std::string_view key, std::string_view value) {
    return metadata["labels"][key].text() == value || metadata["annotations"][key].text() == value;
}

/// The zones of `muster.dev/numa`:
/// {"policy": "single-numa-node", "zones": [{"cpu": "60", "gpus": [0, 1], "nics": ["mlx5_0"]}]}
/// A GPU that is not there (any more) is left out of its zone.
void read_numa(const Field& annotation, NodeSpec& out, const Scope& scope) {
    if (!annotation.is_present()) { return; }
    Documents documents;
    const auto place = annotation.place();
    const SourceText source{fmt::format("{}", place.text()), std::string(annotation.text())};
    if (const auto added = documents.add(source); !added) {
        return annotation.refuse(added.error().message);
    }
    if (documents.all().size() != 1) { return annotation.expected("one JSON object with zones"); }
    Faults inner;
    const Field root(documents.all()[0], inner);
    const std::string_view policy = root["policy"].text("none");
    if (policy == "single-numa-node") {
        out.numa_policy = NumaPolicy::single_numa_node;
    } else if (policy != "none" && policy != "best-effort") {
        root["policy"].expected("single-numa-node, best-effort or none");
    }
    for (const Field& zone : root["zones"].items()) {
        if (out.numa.size() == numa_zones_max) {
            zone.refuse(fmt::format("more than {} zones", numa_zones_max));
            break;
        }
        const auto index = static_cast<std::int32_t>(out.numa.size());
        out.numa.push_back({zone["cpu"].quantity_milli(milli_cpu_max)});
        for (const Field& gpu : zone["gpus"].items()) {
            const auto at = static_cast<std::size_t>(gpu.integer(0, gpus_per_node_max - 1, 0));
            if (at >= out.gpus.size()) {
                scope.notes.add_fault(
                    annotation, fmt::format("node {}: found GPU {} in zone {}, expected one of {} "
                                            "GPUs, counted from 0; it is left out",
                                            out.name, at, index, out.gpus.size()));
                continue;
            }
            out.gpus[at].numa = index;
        }
        for (const Field& nic : zone["nics"].items()) {
            const std::string name(nic.name());
            const auto found =
                std::find_if(out.nics.begin(), out.nics.end(),
                             [&](const NicSpec& known) { return known.name == name; });
            if (found != out.nics.end()) {
                found->numa = index;
            } else if (out.nics.size() < nics_per_node_max) {
                out.nics.push_back({name, index});
            } else {
                nic.refuse(fmt::format("more than {} NICs", nics_per_node_max));
            }
        }
    }
    if (!inner.is_empty()) { annotation.refuse(inner.error().message); }
}

/// `muster.dev/topo-matrix`: what `nvidia-smi topo -m` printed on the node. One that is of other
/// GPUs, as after a change of hardware, says nothing: the node is as good as one without.
void read_matrix(const Field& annotation, NodeSpec& out, const Scope& scope) {
    if (!annotation.is_present()) { return; }
    const auto matrix = read_topo_matrix(out.name, annotation.text());
    const auto applied = matrix ? apply_topo_matrix(*matrix, out) : tl::unexpected(matrix.error());
    if (!applied) {
        scope.notes.add_fault(annotation, applied.error().message + "; the matrix is left out");
    }
}

/// HAMi counts each card several times over and says what it really has: a JSON list, or in older
/// versions "id,count,MiB,cores,model,numa,health" and so on, joined by ':'.
bool read_hami_devices(const Field& annotation, NodeSpec& out) {
    if (!annotation.is_present()) { return false; }
    const std::string text(annotation.text());
    if (trim(text).starts_with('[')) {
        Documents documents;
        const SourceText source{annotation.place().text(), fmt::format("{{\"devices\":{}}}", text)};
        if (const auto added = documents.add(source); !added) {
            annotation.refuse(added.error().message);
            return false;
        }
        Faults inner;
        for (const Field& device : Field(documents.all().at(0), inner)["devices"].items()) {
            out.gpus.push_back(
                {.model = std::string(device["type"].text()),
                 .memory_mib = device["devmem"].integer(0, gpu_memory_mib_max),
                 .numa = static_cast<std::int32_t>(device["numa"].integer(-1, numa_zones_max, -1)),
                 .is_healthy = device["health"].boolean(true)});
        }
        if (!inner.is_empty()) { annotation.refuse(inner.error().message); }
        return true;
    }
    constexpr std::size_t fields_min = 7;
    for (const std::string_view device : split(text, ':')) {
        if (trim(device).empty()) { continue; }
        const auto fields = split(device, ',');
        const auto memory = fields.size() >= fields_min ? parse_int(fields[2]) : parse_int("?");
        if (!memory || *memory < 0 || *memory > gpu_memory_mib_max) {
            annotation.expected("devices as id,count,MiB,cores,model,numa,health");
            return false;
        }
        out.gpus.push_back({.model = std::string(fields[4]),
                            .memory_mib = *memory,
                            .is_healthy = fields[6] == "true"});
    }
    return true;
}

/// Devices of one vendor that the node counts.
void read_counted(const Field& node, const GpuVendor& vendor, std::int64_t allocatable,
                  bool is_dynamic, NodeSpec& out, const Scope& scope) {
    const Field labels = node["metadata"]["labels"];
    const Field capacity = node["status"]["capacity"][vendor.resource];
    std::int64_t count = capacity.is_present()
                             ? std::max(allocatable, capacity.quantity(extended_count_max))
                             : allocatable;
    std::int64_t healthy = allocatable;
    if (is_dynamic) {
        count = std::max(count, read_count_label(labels["nvidia.com/gpu.count"]));
        healthy = count;
    }
    const std::int64_t replicas = read_count_label(labels["nvidia.com/gpu.replicas"]);
    const bool is_sliced = vendor.resource == nvidia && replicas > 1;
    constexpr auto most = static_cast<std::int64_t>(gpus_per_node_max);
    if (count > most && !is_sliced) {
        return capacity.expected(fmt::format("at most {} GPUs in a node", gpus_per_node_max));
    }
    if (count > most) {
        scope.notes.add(capacity, fmt::format("time-sliced GPUs: {} of a node's replicas are "
                                              "taken, the others stay free",
                                              most));
        count = most;
        healthy = std::min(healthy, most);
    }
    GpuSpec gpu;
    gpu.model = labels[vendor.product_label].text(vendor.resource == nvidia ? "" : vendor.resource);
    if (labels[vendor.memory_label].is_present()) {
        gpu.memory_mib = read_memory_mib(labels[vendor.memory_label], vendor.is_mib);
    }
    if (gpu.memory_mib == 0) {
        // GPU feature discovery is not there, but a name is: what the data sheet says.
        if (const GpuProduct* product = find_gpu_product(gpu.model); product != nullptr) {
            gpu.memory_mib = product->memory_mib;
        }
    }
    if (is_sliced) {
        gpu.memory_mib /= replicas;
        scope.notes.add(
            labels["nvidia.com/gpu.replicas"],
            "time-sliced GPUs: each replica is taken as a device with its part of the memory, "
            "which no driver enforces");
    }
    if (is_dynamic) { gpu.mig = MigMode::dynamic; }
    for (std::int64_t i = 0; i < count; ++i) {
        gpu.is_healthy = i < healthy;
        out.gpus.push_back(gpu);
    }
}

std::int64_t read_annotation_number(const Field& annotation, std::int64_t low, std::int64_t high) {
    const auto value = parse_int(annotation.text());
    if (value && *value >= low && *value <= high) { return *value; }
    annotation.expected(fmt::format("a whole number from {} to {} in quotes", low, high));
    return low;
}

/// KAI's shares: a part of one device, or MiB of it, in annotations.
bool read_kai_share(const Field& annotations, GpuNeed& need) {
    const Field fraction = annotations["gpu-fraction"];
    const Field memory = annotations["gpu-memory"];
    if (!fraction.is_present() && !memory.is_present()) { return false; }
    need.kind = GpuKind::share;
    need.count = 1;
    if (const Field devices = annotations["gpu-fraction-num-devices"]; devices.is_present()) {
        need.count =
            static_cast<std::int32_t>(read_annotation_number(devices, 1, gpus_per_node_max));
    }
    if (fraction.is_present()) {
        const auto milli = parse_quantity_milli(fraction.text());
        if (milli && *milli > 0 && *milli <= gpu_milli_whole) {
            need.milli = static_cast<std::int32_t>(*milli);
        } else {
            fraction.expected("a fraction such as \"0.5\", above 0 and at most 1");
        }
        if (memory.is_present()) { memory.expected("no gpu-memory beside gpu-fraction"); }
    } else {
        need.mib = read_annotation_number(memory, 1, gpu_memory_mib_max);
    }
    return true;
}

/// HAMi's shares: memory and cores of each device, as resources.
bool read_hami_share(const Field& spec, std::vector<Amount>& amounts, GpuNeed& need) {
    const std::int64_t mib = take_amount(amounts, "nvidia.com/gpumem");
    const std::int64_t memory_percent = take_amount(amounts, "nvidia.com/gpumem-percentage");
    const std::int64_t cores = take_amount(amounts, "nvidia.com/gpucores");
    if (mib == 0 && memory_percent == 0 && cores == 0) { return false; }
    if (memory_percent > percent_max || cores > percent_max || mib > gpu_memory_mib_max) {
        spec.refuse(
            "nvidia.com/gpucores and gpumem-percentage are at most 100, gpumem at most one card's "
            "MiB");
        return false;
    }
    need.kind = GpuKind::share;
    need.count = std::max(need.count, 1);
    need.mib = mib;
    need.milli = static_cast<std::int32_t>(std::max(memory_percent, cores) * milli_per_percent);
    // Cores alone leave the memory whole, as HAMi does: then nobody else fits on the card.
    if (mib == 0 && memory_percent == 0) { need.milli = gpu_milli_whole; }
    return true;
}

void read_mig(const Field& metadata, const Field& spec, std::vector<Amount>& amounts,
              TaskSpec& task, const Scope& scope) {
    std::vector<Amount> kept;
    const auto& fixed = scope.context.fixed_mig_profiles;
    for (Amount& amount : amounts) {
        const std::string profile = mig_profile_of(amount.name);
        const bool is_fixed = std::find(fixed.begin(), fixed.end(), profile) != fixed.end() &&
                              !is_marked(metadata, "muster.dev/mig", "dynamic");
        if (profile.empty() || amount.count == 0 || is_fixed) {
            kept.push_back(std::move(amount));
            continue;
        }
        if (task.gpu.kind != GpuKind::none) {
            scope.refuse(
                spec, fmt::format("{} beside other GPUs in one pod is not supported", amount.name));
            continue;
        }
        task.gpu.kind = GpuKind::mig;
        task.gpu.profile = profile;
        task.gpu.count = static_cast<std::int32_t>(std::min<std::int64_t>(amount.count, INT32_MAX));
    }
    amounts = std::move(kept);
}

/// On the nodes of one vendor.
void keep_to(TaskSpec& task, MatchOp op, std::vector<std::string> values) {
    const LabelMatch match{std::string(vendor_label), op, std::move(values)};
    if (task.implied.empty()) { task.implied.emplace_back(); }
    for (NodeTerm& term : task.implied) { term.matches.push_back(match); }
}

}  // namespace

std::span<const GpuVendor> gpu_vendors() { return vendors; }

const GpuVendor* find_gpu_vendor(std::string_view resource) {
    const auto found =
        std::find_if(std::begin(vendors), std::end(vendors),
                     [&](const GpuVendor& vendor) { return vendor.resource == resource; });
    return found != std::end(vendors) ? found : nullptr;
}

std::string mig_profile_of(std::string_view resource) {
    constexpr std::string_view prefix = "nvidia.com/mig-";
    if (!resource.starts_with(prefix)) { return {}; }
    std::string profile(resource.substr(prefix.size()));
    // A resource's name has no '+': "1g.10gb.me" stands for "1g.10gb+me".
    if (const std::size_t at = profile.find("gb."); at != std::string::npos) {
        profile[at + 2] = '+';
    }
    return profile;
}

std::string vendor_value(std::string_view resource) {
    std::string value(resource);
    std::replace(value.begin(), value.end(), '/', '_');
    return value;
}

void read_node_gpus(const Field& node, std::vector<Amount>& amounts, NodeSpec& out,
                    const Scope& scope) {
    const Field metadata = node["metadata"];
    const bool is_dynamic = is_marked(metadata, "muster.dev/mig", "dynamic");
    const Field hami = metadata["annotations"][share_driver_key];
    for (const GpuVendor& vendor : vendors) {
        const std::int64_t count = take_amount(amounts, vendor.resource);
        if (vendor.resource == nvidia && read_hami_devices(hami, out)) { continue; }
        const bool is_cut = is_dynamic && vendor.resource == nvidia;
        if (count == 0 && !is_cut && !node["status"]["capacity"][vendor.resource].is_present()) {
            continue;
        }
        if (!out.gpus.empty()) { scope.notes.add(node, "GPUs of two vendors in one node"); }
        read_counted(node, vendor, count, is_cut, out, scope);
        if (vendor.resource != nvidia && !out.gpus.empty()) {
            out.labels.push_back({std::string(vendor_label), vendor_value(vendor.resource)});
        }
    }
    if (out.gpus.size() > gpus_per_node_max) {
        hami.refuse(fmt::format("more than {} GPUs in a node", gpus_per_node_max));
    }
    if (is_dynamic) {
        std::erase_if(amounts,
                      [](const Amount& amount) { return !mig_profile_of(amount.name).empty(); });
    }
    out.is_counted =
        !out.gpus.empty() && !is_dynamic && !is_marked(metadata, "muster.dev/devices", "exact");
    read_matrix(metadata["annotations"]["muster.dev/topo-matrix"], out, scope);
    read_numa(metadata["annotations"]["muster.dev/numa"], out, scope);
}

void read_task_gpus(const Field& metadata, const Field& spec, std::vector<Amount>& amounts,
                    TaskSpec& task, const Scope& scope) {
    GpuNeed& need = task.gpu;
    for (const GpuVendor& vendor : vendors) {
        const std::int64_t count = take_amount(amounts, vendor.resource);
        if (count == 0) { continue; }
        if (need.kind != GpuKind::none) {
            scope.refuse(spec, "GPUs of two vendors in one pod are not supported");
            continue;
        }
        need.kind = GpuKind::whole;
        need.count = static_cast<std::int32_t>(std::min<std::int64_t>(count, INT32_MAX));
        if (vendor.resource != nvidia) {
            keep_to(task, MatchOp::in, {vendor_value(vendor.resource)});
        }
    }
    const Field annotations = metadata["annotations"];
    const bool had_whole = need.kind == GpuKind::whole;
    const bool is_hami = read_hami_share(spec, amounts, need);
    if (read_kai_share(annotations, need) && (had_whole || is_hami)) {
        annotations["gpu-fraction"].refuse(
            "a share of a GPU beside GPU resources; expected only one of them");
    }
    if (need.kind == GpuKind::share && need.milli == gpu_milli_whole && need.mib == 0) {
        need.kind = GpuKind::whole;
        need.milli = 0;
    }
    read_mig(metadata, spec, amounts, task, scope);
    if (need.kind == GpuKind::none) { return; }
    need.near_nic = is_marked(metadata, "muster.dev/near-nic", "true");
    if (scope.context.has_other_vendors && gpu_resource_of(task) == nvidia) {
        keep_to(task, MatchOp::does_not_exist, {});
    }
}

std::string_view gpu_resource_of(const TaskSpec& task) {
    for (const GpuVendor& vendor : vendors) {
        const LabelMatch match{
            std::string(vendor_label), MatchOp::in, {vendor_value(vendor.resource)}};
        if (std::any_of(task.implied.begin(), task.implied.end(), [&](const NodeTerm& term) {
                return std::find(term.matches.begin(), term.matches.end(), match) !=
                       term.matches.end();
            })) {
            return vendor.resource;
        }
    }
    return nvidia;
}

}  // namespace muster::dialect
