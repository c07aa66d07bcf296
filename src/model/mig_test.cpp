#include "model/mig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

namespace muster {
namespace {

using testing::ElementsAre;

const GpuProduct& product(std::string_view model) { return *find_gpu_product(model); }

MigProfile profile(std::string_view model, std::string_view name) {
    return *find_mig_profile(product(model), name);
}

using Mix = std::array<int, mig_class_count>;
using Instances = std::set<std::pair<int, int>>;  // class, start

/// Everything that instances of `profiles` can be put together to, starting from an empty card.
struct Enumeration {
    std::map<Instances, Mix> reachable;
    std::map<Instances, Mix> maximal;

    Enumeration(const std::vector<MigProfile>& profiles, MigLayout layout) {
        visit(profiles, layout, {}, {});
    }

    void visit(const std::vector<MigProfile>& profiles, MigLayout layout, const Instances& set,
               const Mix& mix) {
        if (!reachable.emplace(set, mix).second) { return; }
        bool is_maximal = true;
        for (const MigProfile& next : profiles) {
            const std::uint8_t starts = fitting_starts(next, layout);
            is_maximal = is_maximal && starts == 0;
            for (int start = 0; start < 8; ++start) {
                if ((starts >> start & 1) == 0) { continue; }
                Instances grown = set;
                grown.emplace(static_cast<int>(next.kind), start);
                Mix grown_mix = mix;
                ++grown_mix[static_cast<std::size_t>(next.kind)];
                visit(profiles, with_instance(layout, next, start), grown, grown_mix);
            }
        }
        if (is_maximal) { maximal.emplace(set, mix); }
    }

    static std::size_t mixes(const std::map<Instances, Mix>& layouts) {
        std::set<Mix> distinct;
        for (const auto& [set, mix] : layouts) { distinct.insert(mix); }
        return distinct.size();
    }
};

std::vector<MigProfile> profiles_of(std::string_view model,
                                    std::initializer_list<const char*> names) {
    std::vector<MigProfile> found;
    for (const char* name : names) { found.push_back(profile(model, name)); }
    return found;
}

TEST(Mig, NineteenConfigurations) {
    const Enumeration all(
        profiles_of("H100", {"1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}), {});

    EXPECT_EQ(all.reachable.size(), 298U);
    EXPECT_EQ(all.maximal.size(), 19U);
    EXPECT_EQ(Enumeration::mixes(all.maximal), 14U);
    EXPECT_EQ(Enumeration::mixes(all.reachable), 38U);
}

TEST(Mig, DoubleMemoryAddsLayouts) {
    const Enumeration all(
        profiles_of("H100", {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}),
        {});

    EXPECT_EQ(all.reachable.size(), 723U);
    EXPECT_EQ(all.maximal.size(), 78U);
    EXPECT_EQ(Enumeration::mixes(all.reachable), 78U);
    EXPECT_EQ(Enumeration::mixes(all.maximal), 38U);
}

TEST(Mig, SmallCards) {
    const Enumeration all(profiles_of("A30", {"1g.6gb", "2g.12gb", "4g.24gb"}), {});

    EXPECT_EQ(all.reachable.size(), 26U);
    EXPECT_EQ(all.maximal.size(), 5U);
    EXPECT_EQ(Enumeration::mixes(all.reachable), 10U);
    EXPECT_EQ(Enumeration::mixes(all.maximal), 4U);
}

TEST(Mig, ComputeNeverRunsOutBeforeMemory) {
    for (const char* model : {"H100", "A30"}) {
        const int compute_max = product(model).mig == MigCard::seven ? 7 : 4;
        const std::vector<MigProfile> profiles = mig_profiles(product(model));
        for (const auto& [set, mix] : Enumeration(profiles, {}).reachable) {
            int compute = 0;
            for (const MigProfile& p : profiles) {
                compute += p.compute * mix[static_cast<std::size_t>(p.kind)];
            }
            EXPECT_LE(compute, compute_max);
        }
    }
}

TEST(Mig, FirstInstanceDecidesWhatStaysPossible) {
    struct Case {
        const char* name;
        int start;
        MigFuture future;
    };
    std::vector<Case> cases{{"1g.10gb", 6, {24, 12}}, {"2g.20gb", 0, {16, 6}},
                            {"2g.20gb", 2, {16, 6}},  {"2g.20gb", 4, {16, 6}},
                            {"3g.40gb", 4, {11, 6}},  {"3g.40gb", 0, {7, 3}},
                            {"4g.40gb", 0, {7, 3}},   {"7g.80gb", 0, {1, 1}}};
    for (int start = 0; start < 6; ++start) { cases.push_back({"1g.10gb", start, {21, 6}}); }
    for (const Case& c : cases) {
        const MigFuture future =
            mig_future(MigCard::seven, with_instance({}, profile("H100", c.name), c.start));
        EXPECT_EQ(future.mixes, c.future.mixes) << c.name << " at " << c.start;
        EXPECT_EQ(future.maximal, c.future.maximal) << c.name << " at " << c.start;
    }
    EXPECT_EQ(mig_future(MigCard::seven, {}), (MigFuture{38, 19}));
    EXPECT_EQ(mig_future(MigCard::four, {}), (MigFuture{10, 5}));
}

TEST(Mig, FuturesAgreeWithTheEnumeration) {
    const auto base = profiles_of("H100", {"1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"});
    for (int memory = 0; memory < 256; ++memory) {
        const MigLayout layout{.memory = static_cast<std::uint8_t>(memory)};
        const Enumeration all(base, layout);
        EXPECT_EQ(mig_future(MigCard::seven, layout).mixes, Enumeration::mixes(all.reachable))
            << memory;
        EXPECT_EQ(mig_future(MigCard::seven, layout).maximal, all.maximal.size()) << memory;
    }
}

TEST(Mig, BestStartFillsFromTheEndThatHurtsLeast) {
    const MigProfile one = profile("H100", "1g.10gb");
    MigLayout layout;
    std::vector<int> starts;
    std::vector<int> mixes;
    while (const std::optional<int> start = best_start(one, layout)) {
        layout = with_instance(layout, one, *start);
        starts.push_back(*start);
        mixes.push_back(mig_future(MigCard::seven, layout).mixes);
    }

    EXPECT_THAT(starts, ElementsAre(6, 5, 4, 3, 2, 1, 0));
    EXPECT_THAT(mixes, ElementsAre(24, 16, 11, 6, 4, 2, 1));
    EXPECT_EQ(best_start(profile("H100", "3g.40gb"), {}), 4);
    EXPECT_EQ(best_start(profile("H100", "2g.20gb"), {}), 4);
    EXPECT_EQ(best_start(profile("H100", "1g.20gb"), {}), 6);
}

TEST(Mig, FreeSlicesAreNoFeasibilityTest) {
    const MigProfile four = profile("H100", "4g.40gb");
    const MigLayout one_at_three = with_instance({}, profile("H100", "1g.10gb"), 3);

    EXPECT_EQ(fitting_starts(four, one_at_three), 0U);
    EXPECT_EQ(instances_that_fit(four, one_at_three), 0);
    EXPECT_EQ(instances_that_fit(profile("H100", "3g.40gb"), one_at_three), 1);
    EXPECT_EQ(instances_that_fit(profile("H100", "2g.20gb"), one_at_three), 2);
    EXPECT_EQ(instances_that_fit(profile("H100", "1g.20gb"), one_at_three), 3);
    EXPECT_EQ(instances_that_fit(profile("H100", "1g.10gb"), one_at_three), 6);
}

TEST(Mig, OneInstanceOwnsTheMediaEngines) {
    const MigProfile media = profile("H100", "1g.10gb+me");
    const MigLayout layout = with_instance({}, media, 6);

    EXPECT_EQ(instances_that_fit(media, {}), 1);
    EXPECT_TRUE(layout.has_media);
    EXPECT_EQ(fitting_starts(media, layout), 0U);
    EXPECT_EQ(instances_that_fit(profile("H100", "1g.10gb"), layout), 6);
    EXPECT_EQ(without_instance(layout, media, 6), MigLayout{});
}

TEST(Mig, MostInstancesPerCard) {
    const std::map<std::string, int> most{{"1g.10gb", 7}, {"1g.10gb+me", 1}, {"1g.20gb", 4},
                                          {"2g.20gb", 3}, {"3g.40gb", 2},    {"4g.40gb", 1},
                                          {"7g.80gb", 1}};
    EXPECT_EQ(mig_profiles(product("H100")).size(), most.size());
    for (const auto& [name, count] : most) {
        EXPECT_EQ(instances_that_fit(profile("H100", name), {}), count) << name;
    }
    EXPECT_EQ(instances_that_fit(profile("A30", "1g.6gb"), {}), 4);
    EXPECT_EQ(instances_that_fit(profile("A30", "2g.12gb+me"), {}), 1);
}

TEST(Mig, ProfileNamesOfEveryProduct) {
    struct Case {
        const char* model;
        std::vector<std::string> names;
    };
    const Case cases[] = {
        {"NVIDIA-A100-SXM4-40GB",
         {"1g.5gb", "1g.5gb+me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"}},
        {"NVIDIA-A100-SXM4-80GB",
         {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}},
        {"NVIDIA-A800-SXM4-80GB",
         {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}},
        {"NVIDIA-H100-80GB-HBM3",
         {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}},
        {"NVIDIA-H100-NVL",
         {"1g.12gb", "1g.12gb+me", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"}},
        {"NVIDIA-H20",
         {"1g.12gb", "1g.12gb+me", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"}},
        {"NVIDIA-GH200-480GB",
         {"1g.12gb", "1g.12gb+me", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"}},
        {"NVIDIA-GH200-144G-HBM3e",
         {"1g.18gb", "1g.18gb+me", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"}},
        {"NVIDIA-H200",
         {"1g.18gb", "1g.18gb+me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"}},
        {"NVIDIA-B200",
         {"1g.23gb", "1g.23gb+me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"}},
        {"NVIDIA-GB200",
         {"1g.23gb", "1g.23gb+me", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"}},
        {"NVIDIA-B300",
         {"1g.34gb", "1g.34gb+me", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"}},
        {"NVIDIA-GB300",
         {"1g.35gb", "1g.35gb+me", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb"}},
        {"NVIDIA-A30", {"1g.6gb", "1g.6gb+me", "2g.12gb", "2g.12gb+me", "4g.24gb"}},
        {"NVIDIA-RTX-PRO-6000-Blackwell",
         {"1g.24gb", "1g.24gb+me", "2g.48gb", "2g.48gb+me", "4g.96gb"}},
        {"Tesla-T4", {}},
    };
    for (const Case& c : cases) {
        std::vector<std::string> names;
        for (const MigProfile& p : mig_profiles(product(c.model))) {
            names.push_back(mig_profile_name(product(c.model), p.kind));
            EXPECT_EQ(find_mig_profile(product(c.model), names.back()), p);
        }
        EXPECT_EQ(names, c.names) << c.model;
    }
}

TEST(Mig, LookupTakesEverySpelling) {
    EXPECT_EQ(profile("H100", "nvidia.com/mig-1g.10gb").kind, MigClass::g1);
    EXPECT_EQ(profile("H100", "mig-1g.10gb.me").kind, MigClass::g1_me);
    EXPECT_EQ(profile("RTX PRO 6000", "1g.24gb+me.all").kind, MigClass::g1_me);
    EXPECT_EQ(profile("RTX PRO 6000", "1g.24gb-me").kind, MigClass::g1);
    EXPECT_EQ(profile("RTX PRO 6000", "2g.48gb+gfx").kind, MigClass::g2);
    EXPECT_EQ(find_mig_profile(product("H100"), "1g.5gb"), std::nullopt)
        << "that is an A100 40 GB's";
    EXPECT_EQ(find_mig_profile(product("T4"), "1g.5gb"), std::nullopt);
    EXPECT_EQ(find_mig_profile(product("H100"), ""), std::nullopt);
}

TEST(Mig, SmsAndMemoryStandBesideTheSlices) {
    EXPECT_EQ(profile("H100", "3g.40gb").sms, 60);
    EXPECT_EQ(profile("H100", "1g.20gb").sms, 26);
    EXPECT_EQ(profile("H200", "1g.35gb").sms, 0) << "never seen";
    EXPECT_EQ(profile("A100", "7g.40gb").sms, 98);
    EXPECT_EQ(profile("A100", "1g.5gb").memory_mib, 4'864);
    EXPECT_EQ(profile("A100-80GB", "3g.40gb").memory_mib, 40'192);
    EXPECT_EQ(profile("H100", "3g.40gb").memory_mib, 40'960);
}

}  // namespace
}  // namespace muster
