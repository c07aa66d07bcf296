#include "model/mig.h"

#include "base/assert.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

namespace muster {
namespace {

using enum MigClass;

/// Where a class may stand, in memory slices. Identical in `nvidia-smi mig -lgipp` of A100, H100
/// and H100 NVL, and in NVIDIA's k8s-test-infra mock of H200 and B200; small cards from the MIG
/// user guide.
struct Stand {
    std::uint8_t compute = 0;
    std::uint8_t size = 0;  // 0 = the card has no such class
    std::uint8_t starts = 0;
    std::uint8_t column = 0;  // of the product's tables
    const char* suffix = "";
};
using Stands = std::array<Stand, mig_class_count>;

constexpr Stands seven_slices{{
    {1, 1, 0b0111'1111, 0, ""},
    {1, 1, 0b0111'1111, 0, "+me"},
    {1, 2, 0b0101'0101, 1, ""},
    {2, 2, 0b0001'0101, 2, ""},
    {},
    {3, 4, 0b0001'0001, 3, ""},
    {4, 4, 0b0000'0001, 4, ""},
    {7, 8, 0b0000'0001, 5, ""},
}};
constexpr Stands four_slices{{
    {1, 1, 0b1111, 0, ""},
    {1, 1, 0b1111, 0, "+me"},
    {},
    {2, 2, 0b0101, 2, ""},
    {2, 2, 0b0101, 2, "+me"},
    {},
    {4, 4, 0b0001, 4, ""},
    {},
}};

/// A100 gives a little less than the name says, as go-nvml's mock of a real card shows; MiB by
/// memory slices.
constexpr std::array<std::int64_t, 9> a100_40_mib{0, 4'864, 9'856, 0, 19'968, 0, 0, 0, 40'192};
constexpr std::array<std::int64_t, 9> a100_80_mib{0, 9'856, 19'968, 0, 40'192, 0, 0, 0, 80'384};

const Stands& stands_of(MigCard card) {
    static constexpr Stands none{};
    switch (card) {
        case MigCard::none: return none;
        case MigCard::seven: return seven_slices;
        case MigCard::four: return four_slices;
    }
    return none;
}

const Stand& stand_of(MigCard card, MigClass kind) {
    return stands_of(card)[static_cast<std::size_t>(kind)];
}

bool owns_media(MigClass kind) { return kind == g1_me || kind == g2_me; }

constexpr std::uint8_t slices(const Stand& stand, int start) {
    return static_cast<std::uint8_t>(((1U << stand.size) - 1) << start);
}

/// The classes that a future is counted over.
constexpr std::array<MigClass, 5> base_classes{g1, g2, g3, g4, g7};

/// Per mask of used slices, what it can become. 256 entries, the same on every build.
class Futures {
public:
    explicit Futures(const Stands& stands) : stands_(stands) {
        for (std::size_t mask = 0; mask < futures_.size(); ++mask) {
            futures_[mask] = count(static_cast<std::uint8_t>(mask));
        }
    }

    [[nodiscard]] MigFuture of(std::uint8_t memory) const { return futures_[memory]; }

private:
    /// Fills from the lowest slice up, so that each set of instances is met once.
    void fill(std::uint8_t memory, int from, std::uint32_t mix, std::vector<std::uint32_t>& mixes,
              std::int32_t& maximal) const {
        mixes.push_back(mix);
        bool is_full = true;
        for (std::size_t i = 0; i < base_classes.size(); ++i) {
            const Stand& stand = stands_[static_cast<std::size_t>(base_classes[i])];
            for (int start = 0; stand.size != 0 && start < 8; ++start) {
                const std::uint8_t place = slices(stand, start);
                if ((stand.starts >> start & 1) == 0 || (memory & place) != 0) { continue; }
                is_full = false;
                if (start < from) { continue; }
                fill(static_cast<std::uint8_t>(memory | place), start + 1, mix + (1U << 4 * i),
                     mixes, maximal);
            }
        }
        maximal += static_cast<int>(is_full);
    }

    [[nodiscard]] MigFuture count(std::uint8_t memory) const {
        std::vector<std::uint32_t> mixes;
        MigFuture future;
        fill(memory, 0, 0, mixes, future.maximal);
        std::sort(mixes.begin(), mixes.end());
        future.mixes =
            static_cast<std::int32_t>(std::unique(mixes.begin(), mixes.end()) - mixes.begin());
        return future;
    }

    const Stands& stands_;
    std::array<MigFuture, 256> futures_{};
};

MigProfile make_profile(const GpuProduct& product, MigClass kind) {
    const Stand& stand = stand_of(product.mig, kind);
    const std::string_view key = product.key;
    const std::int64_t card_slices = product.mig == MigCard::seven ? 8 : 4;
    std::int64_t mib = product.memory_mib * stand.size / card_slices;
    if (key == "a100" || key == "a800") {
        mib = (product.memory_mib > 60 * 1'024 ? a100_80_mib : a100_40_mib)[stand.size];
    }
    return {.card = product.mig,
            .kind = kind,
            .compute = stand.compute,
            .memory = stand.size,
            .sms = product.mig_sms[stand.column],
            .memory_mib = mib};
}

bool has_profile(const GpuProduct& product, MigClass kind) {
    const Stand& stand = stand_of(product.mig, kind);
    return stand.size != 0 && product.mig_gb[stand.column] != 0;
}

/// One spelling for all: "NVIDIA.com/mig-1g.10gb.me" → "1g.10gb+me".
std::string plain_profile(std::string_view name) {
    for (const std::string_view prefix : {"nvidia.com/", "mig-"}) {
        if (name.starts_with(prefix)) { name.remove_prefix(prefix.size()); }
    }
    std::string text(name);
    for (const std::string_view suffix : {"+gfx", ".gfx", "-me"}) {
        if (text.ends_with(suffix)) { text.resize(text.size() - suffix.size()); }
    }
    for (const std::string_view suffix : {"+me.all", ".me.all", ".me"}) {
        if (text.ends_with(suffix)) {
            text.replace(text.size() - suffix.size(), suffix.size(), "+me");
        }
    }
    return text;
}

}  // namespace

std::optional<MigProfile> find_mig_profile(const GpuProduct& product, std::string_view name) {
    const std::string plain = plain_profile(name);
    for (std::size_t i = 0; i < mig_class_count; ++i) {
        const auto kind = static_cast<MigClass>(i);
        if (has_profile(product, kind) && mig_profile_name(product, kind) == plain) {
            return make_profile(product, kind);
        }
    }
    return std::nullopt;
}

std::vector<MigProfile> mig_profiles(const GpuProduct& product) {
    std::vector<MigProfile> profiles;
    for (std::size_t i = 0; i < mig_class_count; ++i) {
        const auto kind = static_cast<MigClass>(i);
        if (has_profile(product, kind)) { profiles.push_back(make_profile(product, kind)); }
    }
    return profiles;
}

std::string mig_profile_name(const GpuProduct& product, MigClass kind) {
    const Stand& stand = stand_of(product.mig, kind);
    MUSTER_ASSERT(has_profile(product, kind));
    return fmt::format("{}g.{}gb{}", stand.compute, product.mig_gb[stand.column], stand.suffix);
}

std::uint8_t mig_slices(const MigProfile& profile, int start) {
    const Stand& stand = stand_of(profile.card, profile.kind);
    MUSTER_ASSERT(start >= 0 && start < 8);
    MUSTER_ASSERT((stand.starts >> start & 1) != 0);
    return slices(stand, start);
}

MigLayout with_instance(MigLayout layout, const MigProfile& profile, int start) {
    const std::uint8_t place = mig_slices(profile, start);
    MUSTER_ASSERT((layout.memory & place) == 0);
    MUSTER_ASSERT(!(layout.has_media && owns_media(profile.kind)));
    return {.memory = static_cast<std::uint8_t>(layout.memory | place),
            .has_media = layout.has_media || owns_media(profile.kind)};
}

MigLayout without_instance(MigLayout layout, const MigProfile& profile, int start) {
    const std::uint8_t place = mig_slices(profile, start);
    MUSTER_ASSERT((layout.memory & place) == place);
    MUSTER_ASSERT(layout.has_media || !owns_media(profile.kind));
    return {.memory = static_cast<std::uint8_t>(layout.memory & ~place),
            .has_media = layout.has_media && !owns_media(profile.kind)};
}

std::uint8_t fitting_starts(const MigProfile& profile, MigLayout layout) {
    if (layout.has_media && owns_media(profile.kind)) { return 0; }
    const Stand& stand = stand_of(profile.card, profile.kind);
    std::uint8_t starts = 0;
    for (int start = 0; start < 8; ++start) {
        const bool is_start = (stand.starts >> start & 1) != 0;
        if (is_start && (layout.memory & slices(stand, start)) == 0) {
            starts |= static_cast<std::uint8_t>(1U << start);
        }
    }
    return starts;
}

std::optional<int> best_start(const MigProfile& profile, MigLayout layout) {
    std::optional<int> best;
    MigFuture best_future;
    const std::uint8_t starts = fitting_starts(profile, layout);
    for (int start = 0; start < 8; ++start) {
        if ((starts >> start & 1) == 0) { continue; }
        const MigFuture future = mig_future(profile.card, with_instance(layout, profile, start));
        if (!best || future >= best_future) {
            best = start;
            best_future = future;
        }
    }
    return best;
}

int instances_that_fit(const MigProfile& profile, MigLayout layout) {
    // The starts of one class never overlap, so that all of them can be taken.
    const int starts = std::popcount(fitting_starts(profile, layout));
    return owns_media(profile.kind) ? std::min(starts, 1) : starts;
}

MigFuture mig_future(MigCard card, MigLayout layout) {
    static const Futures seven(seven_slices);
    static const Futures four(four_slices);
    MUSTER_ASSERT(card != MigCard::none);
    return (card == MigCard::seven ? seven : four).of(layout.memory);
}

}  // namespace muster
