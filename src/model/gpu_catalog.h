// What is known of each GPU product, and how fast GPUs of it talk to each other: the bandwidth
// ladder that predicts what distance costs a gang. Constant tables; sources stand beside them in
// gpu_catalog.cpp.
#pragma once

#include "model/node.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

enum class GpuFamily : std::uint8_t {
    unknown,
    pascal,
    volta,
    turing,
    ampere,
    ada,
    hopper,
    blackwell,
    rubin
};

/// How MIG cuts the card: not at all, into 7 compute and 8 memory slices, or into 4 and 4.
enum class MigCard : std::uint8_t { none, seven, four };

/// Columns of the MIG tables: 1g, 1g with double memory, 2g, 3g, 4g, 7g.
inline constexpr std::size_t mig_columns = 6;

struct GpuProduct {
    const char* key;       // beginning of the product name, in small letters and digits only
    const char* fragment;  // what must follow somewhere; empty = what the bare name means
    const char* name;      // for people
    GpuFamily family = GpuFamily::unknown;
    std::int64_t memory_mib = 0;         // nominal
    std::int32_t nvlink_generation = 0;  // 0 = none; where bridges are optional, with them
    std::int32_t nvlink_gbs = 0;         // GB/s per GPU, both directions together
    std::int32_t nvlink_reduce_gbs = 0;  // bus bandwidth of a large all-reduce inside one node
    bool is_multi_node_nvlink = false;   // NVLink leaves the node (NVL72)
    std::int32_t pcie_generation = 4;
    std::int32_t rail_gbits =
        0;                 // the network card that usually goes with each GPU; 0 = shared, slow
    std::int32_t sms = 0;  // 0 unknown
    MigCard mig = MigCard::none;
    std::array<std::uint16_t, mig_columns>
        mig_gb{};  // as in the profile's name; 0 = no such profile
    std::array<std::uint16_t, mig_columns> mig_sms{};  // 0 unknown
};

/// The product of a name as drivers and labels give it ("NVIDIA-H100-80GB-HBM3", "Tesla
/// V100-SXM2-32GB"), whatever its case, dashes and blanks. Where the name leaves a choice, the
/// nearest memory decides, and without it what the bare name means. Null when unknown.
const GpuProduct* find_gpu_product(std::string_view model, std::int64_t memory_mib = 0);

/// Stands for an unknown product: no NVLink, no MIG, PCIe 4, 100 Gbit/s.
const GpuProduct& generic_gpu_product();

/// Rungs of the ladder, nearest first: the farthest pair of a gang names its rung.
enum class Reach : std::uint8_t {
    nvlink,
    nvlink_domain,
    pcie_switch,
    pcie_host,
    leaf,
    spine,
    core
};

Reach reach_of(Link link);

/// The network between nodes. A rail is one network card per GPU, all cards of one index on one
/// leaf switch.
struct Fabric {
    std::int32_t rail_gbits = 0;      // 0 = what usually goes with the product
    std::int32_t spine_percent = 85;  // of a rail, what is left across leaf switches
    std::int32_t core_percent = 70;   // and across spines
};

/// GB/s per GPU of a large all-reduce whose slowest step has this reach. A rung that the product
/// lacks (NVLink on a PCIe card, an NVLink domain beyond the node) falls to the next that it has.
/// Never 0.
std::int64_t all_reduce_gbs(const GpuProduct& product, Reach reach, const Fabric& fabric = {});

/// Share of the run time that a training job spends in communication when all of it is on NVLink.
/// With 15 % a gang of H100s that leaves its node runs 2.3 times as long on one leaf, 2.5 over
/// spines and 2.8 over cores: the 2 to 3 times that operators report of gangs spread over racks.
inline constexpr std::int32_t sensitivity_percent_default = 15;

/// Run time in percent of what it is at `best_gbs`. The time is a compute part, which distance
/// leaves alone, and a communication part, which grows as bandwidth falls: slowdown = 1 + s·(best ÷
/// actual − 1), with s the share of communication at best. Rounded to nearest; 100 when
/// `actual_gbs` is no worse.
std::int64_t slowdown_percent(std::int64_t best_gbs, std::int64_t actual_gbs,
                              std::int32_t sensitivity_percent);

/// The same between two rungs of the product's ladder.
std::int64_t expected_slowdown_percent(
    const GpuProduct& product, Reach from, Reach to,
    std::int32_t sensitivity_percent = sensitivity_percent_default, const Fabric& fabric = {});

}  // namespace muster
