#include "lab/fleet.h"

#include "base/text.h"
#include "kube/objects.h"
#include "lab/fleet_orders.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <string>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::int64_t nodes_max = 20'000;
constexpr std::int64_t gpus_max = 16;

struct Product {
    std::string_view name;  // as the driver gives it
    std::string_view family;
    std::string_view compute;  // capability, its first number
    std::string_view arch;
    std::int64_t memory_mib = 0;
    std::int64_t cpus = 0;
    std::int64_t memory_gib = 0;
    int nvlinks = 0;  // of a GPU
};
constexpr Product h100{"NVIDIA-H100-80GB-HBM3", "hopper", "9", "amd64", 81'559, 192, 2'048, 18};
constexpr Product gb200{"NVIDIA-GB200", "blackwell", "10", "arm64", 189'471, 144, 960, 18};
constexpr Product a100{"NVIDIA-A100-SXM4-80GB", "ampere", "8", "amd64", 81'920, 256, 2'048, 12};

struct Place {
    std::string name;
    std::string leaf;  // nearest switch
    std::string spine;
    std::string domain;  // of NVLink between nodes; may be empty
    std::string pool;
    // A node that people change by hand has none, for its number of GPUs may become another one.
    bool has_matrix = true;
};

/// What `nvidia-smi topo -m` says of GPUs that are all linked; the first half is near the first
/// socket.
std::string topo_matrix(std::int64_t gpus, const Product& product) {
    const std::string links = fmt::format("\tNV{}", product.nvlinks);
    std::string out;
    for (std::int64_t i = 0; i < gpus; ++i) { out += fmt::format("\tGPU{}", i); }
    out += "\tCPU Affinity\tNUMA Affinity\n";
    for (std::int64_t i = 0; i < gpus; ++i) {
        out += fmt::format("GPU{}", i);
        for (std::int64_t j = 0; j < gpus; ++j) { out += i == j ? "\t X " : links; }
        const std::int64_t zone = i < (gpus + 1) / 2 ? 0 : 1;
        out += fmt::format("\t{}-{}\t{}\n", zone * product.cpus / 2,
                           (zone + 1) * product.cpus / 2 - 1, zone);
    }
    return out;
}

/// What GPU feature discovery and node feature discovery say.
json::object labels_of(const Place& place, const Product& product, std::int64_t gpus) {
    json::object labels{{"kubernetes.io/hostname", place.name},
                        {"kubernetes.io/os", "linux"},
                        {"kubernetes.io/arch", product.arch},
                        {pool_label, place.pool},
                        {"feature.node.kubernetes.io/pci-10de.present", "true"},
                        {"feature.node.kubernetes.io/memory-numa", "true"},
                        {"nvidia.com/gpu.present", "true"},
                        {"nvidia.com/gpu.family", product.family},
                        {"nvidia.com/gpu.compute.major", product.compute},
                        {"nvidia.com/mig.capable", "true"},
                        {"nvidia.com/gpu.product", product.name},
                        {"nvidia.com/gpu.count", std::to_string(gpus)},
                        {"nvidia.com/gpu.memory", std::to_string(product.memory_mib)},
                        {"fabric.topograph.run/tier-0", place.leaf},
                        {"fabric.topograph.run/tier-1", place.spine}};
    if (gpus == 0) {
        json::object others;
        for (const auto& label : labels) {
            const std::string_view key = label.key();
            const bool is_of_gpu = key.starts_with("nvidia.com/") || key.ends_with("10de.present");
            if (!is_of_gpu) { others[key] = label.value(); }
        }
        labels = std::move(others);
    }
    if (!place.domain.empty()) { labels["accelerator.topograph.run/domain"] = place.domain; }
    return labels;
}

/// The two sockets, each with half of the CPUs and GPUs.
std::string numa_zones(std::int64_t gpus, std::int64_t cpus) {
    json::array zones;
    for (std::int64_t zone = 0; zone < 2; ++zone) {
        json::array mine;
        for (std::int64_t i = zone * gpus / 2; i < (zone + 1) * gpus / 2; ++i) {
            mine.push_back(i);
        }
        zones.push_back(json::object{{"cpu", std::to_string(cpus / 2)}, {"gpus", std::move(mine)}});
    }
    return json::serialize(json::object{{"policy", "none"}, {"zones", std::move(zones)}});
}

json::object make_node(const Place& place, const Product& product, std::int64_t gpus,
                       bool is_cut = false) {
    json::object labels = labels_of(place, product, gpus);
    json::object capacity{{"cpu", std::to_string(product.cpus)},
                          {"memory", fmt::format("{}Gi", product.memory_gib)},
                          {"ephemeral-storage", "1Ti"},
                          {"pods", "250"}};
    if (is_cut) {
        labels["nvidia.com/mig.strategy"] = "mixed";
        labels["nvidia.com/mig.config"] = "all-1g.10gb";
        labels["nvidia.com/mig.config.state"] = "success";
        labels["nvidia.com/mig-1g.10gb.count"] = std::to_string(gpus * 7);
        labels["nvidia.com/mig-1g.10gb.memory"] = "9856";
        capacity["nvidia.com/mig-1g.10gb"] = std::to_string(gpus * 7);
        capacity["nvidia.com/gpu"] = "0";
    } else {
        capacity["nvidia.com/gpu"] = std::to_string(gpus);
    }
    json::object annotations{{"lab.muster/fake", "true"}};
    if (place.has_matrix && !is_cut) {
        annotations["muster.dev/topo-matrix"] = topo_matrix(gpus, product);
    }
    const json::object info{{"kubeletVersion", "v1.37.2"},
                            {"osImage", "Muster lab"},
                            {"operatingSystem", "linux"},
                            {"architecture", product.arch},
                            {"kernelVersion", "6.1.0"},
                            {"containerRuntimeVersion", "muster://lab"},
                            {"bootID", ""},
                            {"machineID", place.name},
                            {"systemUUID", place.name},
                            {"kubeProxyVersion", ""}};
    const json::array conditions{json::object{{"type", "Ready"},
                                              {"status", "True"},
                                              {"reason", "KubeletReady"},
                                              {"message", "the fake kubelet is ready"}}};
    return {
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata",
         {{"name", place.name}, {"labels", labels}, {"annotations", std::move(annotations)}}},
        {"spec", json::object()},
        {"status",
         {{"capacity", capacity},
          {"allocatable", capacity},
          {"conditions", conditions},
          {"addresses", json::array{json::object{{"type", "Hostname"}, {"address", place.name}}}},
          {"nodeInfo", info}}}};
}

Result<> bad_like(std::string_view like) {
    return fail(
        Code::invalid,
        fmt::format("--like {}: expected h100-superpod:N, gb200-nvl72:N or a100-mixed:N", like));
}

}  // namespace

Result<std::vector<json::object>> plain_fleet(std::string_view nodes) {
    const std::size_t cross = nodes.find('x');
    if (cross == std::string_view::npos) {
        return fail(Code::invalid, fmt::format("--nodes {}: expected NODESxGPUS, as 2x4", nodes));
    }
    MUSTER_TRY(count, parse_int("--nodes", nodes.substr(0, cross), 0, nodes_max));
    MUSTER_TRY(gpus, parse_int("--nodes", nodes.substr(cross + 1), 0, gpus_max));
    constexpr std::int64_t per_leaf = 32;
    constexpr std::int64_t per_spine = 256;
    std::vector<json::object> out;
    for (std::int64_t i = 0; i < count; ++i) {
        out.push_back(make_node({.name = fmt::format("node-{}", i),
                                 .leaf = fmt::format("leaf-{}", i / per_leaf),
                                 .spine = fmt::format("spine-{}", i / per_spine),
                                 .domain = {},
                                 .pool = "node",
                                 .has_matrix = false},
                                h100, gpus));
    }
    return out;
}

Result<std::vector<json::object>> known_fleet(std::string_view like) {
    const std::size_t colon = like.find(':');
    const std::string_view kind = like.substr(0, colon);
    if (colon == std::string_view::npos) { return tl::unexpected(bad_like(like).error()); }
    MUSTER_TRY(units, parse_int("--like", like.substr(colon + 1), 1, 600));
    std::vector<json::object> out;
    if (kind == "h100-superpod") {
        for (std::int64_t i = 0; i < units * 32; ++i) {
            out.push_back(
                make_node({.name = fmt::format("dgx-{}-{}", i / 32 + 1, i % 32 + 1),
                           .leaf = fmt::format("su-{}-leaf-{}", i / 32 + 1, i % 32 / 8 + 1),
                           .spine = fmt::format("su-{}", i / 32 + 1),
                           .domain = {},
                           .pool = "dgx"},
                          h100, 8));
        }
    } else if (kind == "gb200-nvl72") {
        for (std::int64_t i = 0; i < units * 18; ++i) {
            const std::int64_t rack = i / 18 + 1;
            out.push_back(make_node({.name = fmt::format("nvl-{}-{}", rack, i % 18 + 1),
                                     .leaf = fmt::format("rack-{}", rack),
                                     .spine = fmt::format("row-{}", (rack - 1) / 8 + 1),
                                     .domain = fmt::format("nvl72-{}", rack),
                                     .pool = "nvl"},
                                    gb200, 4));
        }
    } else if (kind == "a100-mixed") {
        for (std::int64_t i = 0; i < units; ++i) {
            const bool is_cut = i % 2 == 1;
            json::object node = make_node({.name = fmt::format("a100-{}", i + 1),
                                           .leaf = fmt::format("leaf-{}", i / 16 + 1),
                                           .spine = "spine-1",
                                           .domain = {},
                                           .pool = is_cut ? "a100-mig" : "a100"},
                                          a100, 8, is_cut);
            if (!is_cut) {
                node["metadata"].as_object()["annotations"].as_object()["muster.dev/numa"] =
                    numa_zones(8, a100.cpus);
            }
            out.push_back(std::move(node));
        }
    } else {
        return tl::unexpected(bad_like(like).error());
    }
    return out;
}

void taint_gpu_nodes(std::vector<json::object>& nodes) {
    for (json::object& node : nodes) {
        if (kube::label_of(node, "nvidia.com/gpu.present") != "true") { continue; }
        node["spec"] = {{"taints", json::array{json::object{{"key", "nvidia.com/gpu"},
                                                            {"value", "present"},
                                                            {"effect", "NoSchedule"}}}}};
    }
}

}  // namespace muster::lab
