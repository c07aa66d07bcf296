// MIG: which instances a card can be cut into, and where each may stand. Pure tables of NVIDIA's
// placements.
//
// A layout is the set of used memory slices (bit i = slice i of 8, or of 4 on small cards); compute
// follows from it, since no set of instances that fits the memory asks for too much compute. "Free
// slices" is no feasibility test: an instance stands only at the starts of its class.
#pragma once

#include "model/gpu_catalog.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Compute slices, and what makes a profile of that size another one. `_me` owns the card's media
/// engines, which one instance of a card may.
enum class MigClass : std::uint8_t { g1, g1_me, g1_double, g2, g2_me, g3, g4, g7 };
inline constexpr std::size_t mig_class_count = 8;

struct MigProfile {
    MigCard card = MigCard::none;
    MigClass kind = MigClass::g1;
    std::uint8_t compute = 0;  // slices of 7, or of 4
    std::uint8_t memory = 0;   // slices of 8, or of 4
    std::int32_t sms = 0;  // streaming multiprocessors, 0 unknown: not compute / 7 of the card's
    std::int64_t memory_mib = 0;  // measured on A100, else the card's memory by slices

    bool operator==(const MigProfile&) const = default;
};

struct MigLayout {
    std::uint8_t memory = 0;  // used slices
    bool has_media = false;   // an instance owns the media engines

    bool operator==(const MigLayout&) const = default;
};

/// "1g.10gb", "1g.10gb+me", also as Kubernetes writes it ("nvidia.com/mig-1g.10gb.me"). On cards
/// with graphics
/// "+me.all" counts as +me, and "+gfx" and "-me" as the plain profile, whose place they take.
std::optional<MigProfile> find_mig_profile(const GpuProduct& product, std::string_view name);
/// All profiles of the product, by class.
std::vector<MigProfile> mig_profiles(const GpuProduct& product);
/// As NVIDIA writes it.
std::string mig_profile_name(const GpuProduct& product, MigClass kind);

/// Memory slices of an instance that stands at `start`.
std::uint8_t mig_slices(const MigProfile& profile, int start);
MigLayout with_instance(MigLayout layout, const MigProfile& profile, int start);
MigLayout without_instance(MigLayout layout, const MigProfile& profile, int start);

/// Bit s = the profile may stand at start s of this layout.
std::uint8_t fitting_starts(const MigProfile& profile, MigLayout layout);
/// The start that keeps most distinct mixes possible, then most maximal layouts, then the highest.
std::optional<int> best_start(const MigProfile& profile, MigLayout layout);
/// How many more instances of this profile alone.
int instances_that_fit(const MigProfile& profile, MigLayout layout);

/// What a layout can still become, over 1g, 2g, 3g, 4g, 7g: distinct sets of instances to add (the
/// empty one counts), and ways to fill it until nothing fits.
struct MigFuture {
    std::int32_t mixes = 0;
    std::int32_t maximal = 0;

    auto operator<=>(const MigFuture&) const = default;
};
MigFuture mig_future(MigCard card, MigLayout layout);

}  // namespace muster
