// GPUs as Kubernetes counts them: the resource names of the vendors, MIG resources, shares, and how
// a node's counts and labels become devices.
#pragma once

#include "dialect/kubernetes_scope.h"
#include "model/node.h"
#include "model/task.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

struct GpuVendor {
    std::string_view resource;  // "nvidia.com/gpu"
    std::string_view product_label;
    std::string_view memory_label;  // a quantity; plain numbers are MiB when `is_mib`, else bytes
    bool is_mib = true;
};

/// NVIDIA is the first.
std::span<const GpuVendor> gpu_vendors();
/// Null when the resource is no whole GPU.
const GpuVendor* find_gpu_vendor(std::string_view resource);
/// "nvidia.com/mig-1g.10gb.me" → "1g.10gb+me"; empty when the resource is no MIG instance.
std::string mig_profile_of(std::string_view resource);

/// Nodes with GPUs of others than NVIDIA carry this label, with the resource's name in it ("/" as
/// "_"), so that a request for one vendor's GPUs never lands on another's.
inline constexpr std::string_view vendor_label = "muster.dev/gpu-vendor";
std::string vendor_value(std::string_view resource);

/// On nodes whose driver keeps pods to their shares of a GPU (HAMi).
inline constexpr std::string_view share_driver_key = "hami.io/node-nvidia-register";

/// Devices, their model, memory, NUMA zones and links. `amounts` are the node's allocatable; what
/// has become a device is taken out of them.
void read_node_gpus(const Field& node, std::vector<Amount>& amounts, NodeSpec& out,
                    const Scope& scope);

/// What a pod asks for; takes its resources out of `amounts`.
void read_task_gpus(const Field& metadata, const Field& spec, std::vector<Amount>& amounts,
                    TaskSpec& task, const Scope& scope);
/// Whose GPUs a task that was read asks for: "nvidia.com/gpu".
std::string_view gpu_resource_of(const TaskSpec& task);

}  // namespace muster::dialect
