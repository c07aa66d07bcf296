#include "model/gpu_catalog.h"

#include "base/assert.h"

#include <algorithm>
#include <optional>
#include <string>

namespace muster {
namespace {

using enum GpuFamily;
using enum MigCard;
using Columns = std::array<std::uint16_t, mig_columns>;

constexpr std::int64_t gib(std::int64_t count) { return count * 1'024; }

// SMs per profile: NVIDIA k8s-test-infra's mock tables (A100, B200); `nvidia-smi mig -lgip` of
// H100, H100 NVL and H200, of which only one, an H100 with 80 GB, showed the double memory profile.
constexpr Columns sms_a100{14, 14, 28, 42, 56, 98};
constexpr Columns sms_h100{16, 26, 32, 60, 64, 132};
constexpr Columns sms_hopper{16, 0, 32, 60, 64, 132};
constexpr Columns sms_b200{18, 0, 36, 54, 72, 126};
constexpr Columns unknown_sms{};

// Profile names: NVIDIA MIG user guide r580 and NVIDIA/mig-parted (August 2026).
// NVLink, memory and SMs of the whole card: NVIDIA product pages and data sheets.
// All-reduce, large messages: 8×H100 SXM 460–480, 8×A100 SXM 230–250, H100 NVL with bridges 200–230
// GB/s as operators report; other generations are scaled by their NVLink.
// clang-format off
constexpr GpuProduct products[] = {
    // key, fragment, name, family, MiB, NVLink: generation, GB/s, all-reduce, multi-node; PCIe, rail Gbit/s, SMs,
    // MIG card, GB and SMs of 1g, 1g with double memory, 2g, 3g, 4g, 7g
    {"gb300",      "",     "GB300",                  blackwell, gib(278), 5, 1'800, 940, true,  6, 800,   0, seven, {35, 70, 70, 139, 139, 278}, unknown_sms},
    {"gb200",      "",     "GB200",                  blackwell, gib(186), 5, 1'800, 940, true,  5, 400,   0, seven, {23, 47, 47, 93, 93, 186},   unknown_sms},
    {"gb200",      "189g", "GB200 189 GB",           blackwell, gib(189), 5, 1'800, 940, true,  5, 400,   0, seven, {23, 47, 47, 95, 95, 189},   unknown_sms},
    {"b300",       "",     "B300",                   blackwell, gib(269), 5, 1'800, 940, false, 6, 800,   0, seven, {34, 67, 67, 135, 135, 269}, unknown_sms},
    {"b200",       "",     "B200",                   blackwell, gib(180), 5, 1'800, 940, false, 5, 400, 148, seven, {23, 45, 45, 90, 90, 180},   sms_b200},
    {"gh200",      "",     "GH200 96 GB",            hopper,     gib(96), 4,   900, 470, false, 5, 400, 132, seven, {12, 24, 24, 48, 48, 96},    unknown_sms},
    {"gh200",      "144g", "GH200 144 GB",           hopper,    gib(144), 4,   900, 470, false, 5, 400, 132, seven, {18, 36, 36, 72, 72, 144},   unknown_sms},
    {"h200",       "",     "H200",                   hopper,    gib(141), 4,   900, 470, false, 5, 400, 132, seven, {18, 35, 35, 71, 71, 141},   sms_hopper},
    {"h200",       "nvl",  "H200 NVL",               hopper,    gib(141), 4,   900, 215, false, 5, 400, 132, seven, {18, 35, 35, 71, 71, 141},   sms_hopper},
    {"h100",       "",     "H100 80 GB",             hopper,     gib(80), 4,   900, 470, false, 5, 400, 132, seven, {10, 20, 20, 40, 40, 80},    sms_h100},
    {"h100",       "nvl",  "H100 NVL 94 GB",         hopper,     gib(94), 4,   600, 215, false, 5, 400, 132, seven, {12, 24, 24, 47, 47, 94},    sms_hopper},
    {"h100",       "94g",  "H100 94 GB",             hopper,     gib(94), 4,   900, 470, false, 5, 400, 132, seven, {12, 24, 24, 47, 47, 94},    sms_hopper},
    {"h100",       "96g",  "H100 96 GB",             hopper,     gib(96), 4,   900, 470, false, 5, 400, 132, seven, {12, 24, 24, 48, 48, 96},    unknown_sms},
    {"h100",       "pcie", "H100 PCIe 80 GB",        hopper,     gib(80), 4,   600, 215, false, 5, 200, 114, seven, {10, 20, 20, 40, 40, 80},    unknown_sms},
    {"h800",       "",     "H800 80 GB",             hopper,     gib(80), 4,   400, 210, false, 5, 400, 132, seven, {10, 20, 20, 40, 40, 80},    unknown_sms},
    {"h20",        "",     "H20 96 GB",              hopper,     gib(96), 4,   900, 470, false, 5, 400,  78, seven, {12, 24, 24, 48, 48, 96},    unknown_sms},
    {"a100",       "",     "A100 40 GB",             ampere,     gib(40), 3,   600, 240, false, 4, 200, 108, seven, {5, 10, 10, 20, 20, 40},     sms_a100},
    {"a100",       "80g",  "A100 80 GB",             ampere,     gib(80), 3,   600, 240, false, 4, 200, 108, seven, {10, 20, 20, 40, 40, 80},    sms_a100},
    {"a800",       "",     "A800 80 GB",             ampere,     gib(80), 3,   400, 160, false, 4, 200, 108, seven, {10, 20, 20, 40, 40, 80},    sms_a100},
    {"a800",       "40g",  "A800 40 GB",             ampere,     gib(40), 3,   400, 160, false, 4, 200, 108, seven, {5, 10, 10, 20, 20, 40},     sms_a100},
    {"a30",        "",     "A30",                    ampere,     gib(24), 3,   200,  80, false, 4, 100,  56, four,  {6, 0, 12, 0, 24, 0},        unknown_sms},
    {"rtxpro6000", "",     "RTX PRO 6000 Blackwell", blackwell,  gib(96), 0,     0,   0, false, 5, 200, 188, four,  {24, 0, 48, 0, 96, 0},       unknown_sms},
    {"rtxpro5000", "",     "RTX PRO 5000 Blackwell", blackwell,  gib(48), 0,     0,   0, false, 5, 200, 110, four,  {12, 0, 24, 0, 48, 0},       unknown_sms},
    // Cards that MIG does not cut.
    {"rubin", "",   "Rubin",      rubin,  gib(288), 6, 3'600, 1'880, true,  6, 800},
    {"a40",   "",   "A40",        ampere,  gib(48), 3,   112,    50, false, 4, 100, 84},
    {"a16",   "",   "A16",        ampere,  gib(16), 0,     0,     0, false, 4,   0, 10},
    {"a10g",  "",   "A10G",       ampere,  gib(24), 0,     0,     0, false, 4,   0, 80},
    {"a10",   "",   "A10",        ampere,  gib(24), 0,     0,     0, false, 4,   0, 72},
    {"a2",    "",   "A2",         ampere,  gib(16), 0,     0,     0, false, 4,   0, 10},
    {"l40s",  "",   "L40S",       ada,     gib(48), 0,     0,     0, false, 4, 200, 142},
    {"l40",   "",   "L40",        ada,     gib(48), 0,     0,     0, false, 4, 100, 142},
    {"l20",   "",   "L20",        ada,     gib(48), 0,     0,     0, false, 4, 200, 92},
    {"l4",    "",   "L4",         ada,     gib(24), 0,     0,     0, false, 4,   0, 58},
    {"t4",    "",   "T4",         turing,  gib(16), 0,     0,     0, false, 3,   0, 40},
    {"v100",  "",   "V100 16 GB", volta,   gib(16), 2,   300,   120, false, 3, 100, 80},
    {"v100",  "32", "V100 32 GB", volta,   gib(32), 2,   300,   120, false, 3, 100, 80},
    {"p100",  "",   "P100",       pascal,  gib(16), 1,   160,    64, false, 3, 100, 56},
};
// clang-format on

constexpr GpuProduct generic{"", "", "unknown GPU", unknown, 0, 0, 0, 0, false, 4, 100};

/// Small letters and digits, one dash for what stands between; without the maker's words in front
/// and without what GPU feature discovery puts behind ("-MIG-1g.10gb").
std::string plain(std::string_view model) {
    std::string text;
    for (const char c : model) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        if (is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            text.push_back(is_upper ? static_cast<char>(c - 'A' + 'a') : c);
        } else if (!text.empty() && text.back() != '-') {
            text.push_back('-');
        }
    }
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (const std::string_view maker : {"-", "nvidia", "tesla", "geforce", "quadro", "grid"}) {
            if (!text.starts_with(maker)) { continue; }
            text.erase(0, maker.size());
            is_changed = true;
        }
    }
    if (const std::size_t mig = text.find("-mig"); mig != std::string::npos) { text.erase(mig); }
    return text;
}

/// The name behind `key` (dashes within the key do not matter), or none: "a100" begins "a100-80gb"
/// and "a100sxm4", but not "a1000".
std::optional<std::string_view> behind(std::string_view name, std::string_view key) {
    std::size_t at = 0;
    for (const char c : key) {
        while (at < name.size() && name[at] == '-') { ++at; }
        if (at == name.size() || name[at] != c) { return std::nullopt; }
        ++at;
    }
    const bool goes_on = at < name.size() && name[at] >= '0' && name[at] <= '9';
    if (goes_on && key.back() <= '9') { return std::nullopt; }
    return name.substr(at);
}

/// PCIe by generation, ×16: 3, 4, 5, 6. Eight H100 PCIe without bridges all-reduce at 35–45 GB/s;
/// across the host bridge or the sockets it is about a twentieth of NVLink 4. Other generations by
/// their link speed.
std::int64_t pcie_gbs(std::int32_t generation, bool is_host) {
    const std::int64_t generation_5 = is_host ? 23 : 40;
    if (generation >= 6) { return generation_5 * 2; }
    if (generation == 5) { return generation_5; }
    return generation == 4 ? generation_5 / 2 : generation_5 / 4;
}

}  // namespace

const GpuProduct* find_gpu_product(std::string_view model, std::int64_t memory_mib) {
    const std::string text = plain(model);
    // The longest key wins, whatever the order of the table: "l40s" before "l40".
    std::string_view key;
    for (const GpuProduct& product : products) {
        const std::string_view candidate = product.key;
        if (candidate.size() > key.size() && behind(text, candidate)) { key = candidate; }
    }
    if (key.empty()) { return nullptr; }

    const std::string_view rest = *behind(text, key);
    const GpuProduct* bare = nullptr;
    const GpuProduct* nearest = nullptr;
    const auto distance = [&](const GpuProduct& product) {
        return std::max(product.memory_mib, memory_mib) - std::min(product.memory_mib, memory_mib);
    };
    for (const GpuProduct& product : products) {
        if (product.key != key) { continue; }
        const std::string_view fragment = product.fragment;
        if (fragment.empty()) {
            bare = &product;
        } else if (rest.find(fragment) != std::string_view::npos) {
            return &product;
        }
        if (nearest == nullptr || distance(product) < distance(*nearest)) { nearest = &product; }
    }
    return memory_mib > 0 ? nearest : bare;
}

const GpuProduct& generic_gpu_product() { return generic; }

Reach reach_of(Link link) {
    switch (link) {
        case Link::self:
        case Link::nvlink: return Reach::nvlink;
        case Link::pix:
        case Link::pxb: return Reach::pcie_switch;
        case Link::phb:
        case Link::node:
        case Link::sys:
        case Link::unknown: return Reach::pcie_host;
    }
    return Reach::pcie_host;
}

std::int64_t all_reduce_gbs(const GpuProduct& product, Reach reach, const Fabric& fabric) {
    const std::int64_t gbits =
        fabric.rail_gbits > 0 ? fabric.rail_gbits : std::max(product.rail_gbits, 25);
    const std::int64_t pcie = pcie_gbs(product.pcie_generation, false);
    // Without NVLink every step inside the node is over PCIe, so a fast rail does not help.
    const std::int64_t most = product.nvlink_reduce_gbs > 0 ? product.nvlink_reduce_gbs : pcie;
    const auto part = [&](std::int64_t percent) {
        const std::int64_t gbs = gbits * std::clamp<std::int64_t>(percent, 0, 100) / 800;
        return std::clamp<std::int64_t>(gbs, 1, most);
    };
    switch (reach) {
        case Reach::nvlink: return most;
        case Reach::nvlink_domain:
            return product.is_multi_node_nvlink ? product.nvlink_reduce_gbs : part(100);
        case Reach::pcie_switch: return pcie;
        case Reach::pcie_host: return pcie_gbs(product.pcie_generation, true);
        case Reach::leaf: return part(100);
        case Reach::spine: return part(fabric.spine_percent);
        case Reach::core: return part(fabric.core_percent);
    }
    return 1;
}

std::int64_t slowdown_percent(std::int64_t best_gbs, std::int64_t actual_gbs,
                              std::int32_t sensitivity_percent) {
    MUSTER_ASSERT(best_gbs > 0);
    MUSTER_ASSERT(actual_gbs > 0);
    MUSTER_ASSERT(sensitivity_percent >= 0);
    MUSTER_ASSERT(sensitivity_percent <= 100);
    if (actual_gbs >= best_gbs) { return 100; }
    return 100 + (sensitivity_percent * (best_gbs - actual_gbs) + actual_gbs / 2) / actual_gbs;
}

std::int64_t expected_slowdown_percent(const GpuProduct& product, Reach from, Reach to,
                                       std::int32_t sensitivity_percent, const Fabric& fabric) {
    return slowdown_percent(all_reduce_gbs(product, from, fabric),
                            all_reduce_gbs(product, to, fabric), sensitivity_percent);
}

}  // namespace muster
