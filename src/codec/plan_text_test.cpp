#include "codec/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

using rc::gen::inRange;

template <class T>
T any(T low, T past) {
    return *inRange<T>(low, past);
}

std::string any_text() {
    return *rc::gen::element<std::string>("", "rack r1", "a/b", "q\"\\\n\x01", "größer ≥ 8");
}

Devices any_devices() {
    Devices devices{.gpus = *rc::gen::arbitrary<std::uint64_t>(),
                    .mig = {},
                    .numa = static_cast<std::int8_t>(any(-1, 4))};
    for (int i = any(0, 3); i > 0; --i) {
        devices.mig.push_back(
            {static_cast<std::uint8_t>(any(0, 64)), static_cast<std::uint8_t>(any(0, 8))});
    }
    return devices;
}

Plan any_plan() {
    Plan plan;
    plan.cycle = any<std::uint64_t>(0, 1'000);
    const auto any_places = [] {
        std::vector<TaskPlace> places;
        for (int k = any(0, 4); k > 0; --k) {
            places.push_back(
                {any<std::uint32_t>(0, 99), any_text(), any_devices(), any(0, 2) == 1});
        }
        return places;
    };
    for (int i = any(0, 3); i > 0; --i) { plan.releases.push_back({any_text(), any_places()}); }
    for (int i = any(0, 3); i > 0; --i) {
        Placement placement{.workload = any_text(),
                            .tasks = {},
                            .domain = any_text(),
                            .level = any_text(),
                            .crossings = any(0, 9)};
        placement.tasks = any_places();
        plan.placements.push_back(std::move(placement));
    }
    for (int i = any(0, 3); i > 0; --i) {
        Reason reason;
        reason.link = static_cast<ChainLink>(any(0, 5));
        reason.why = static_cast<Why>(any(0, 13));
        reason.role = any_text();
        reason.subject = any_text();
        reason.needed = any<std::int64_t>(-9, 99);
        reason.have = *rc::gen::arbitrary<std::int64_t>();
        reason.closest = any_text();
        reason.nodes = any<std::int64_t>(0, 99);
        for (int k = any(0, 4); k > 0; --k) {
            reason.causes.push_back({static_cast<Cause>(any(0, 16)), any<std::int64_t>(0, 99)});
        }
        for (int k = any(0, 3); k > 0; --k) { reason.known.push_back(any_text()); }
        for (int k = any(0, 3); k > 0; --k) {
            reason.wakes.push_back(static_cast<Wake>(any(0, 9)));
        }
        reason.text = any_text();
        plan.refusals.push_back({any_text(), std::move(reason)});
    }
    return plan;
}

RC_GTEST_PROP(PlanText, WrittenThenReadIsTheSame, ()) {
    const Plan plan = any_plan();

    const std::string text = write_plan(plan);
    const auto again = read_plan(text);

    RC_LOG() << text;
    if (!again) { RC_FAIL(again.error().message); }
    RC_ASSERT(*again == plan);
    RC_ASSERT(write_plan(*again) == text);
}

TEST(PlanText, KeepsItsBytes) {
    Plan plan;
    plan.cycle = 3;
    plan.placements.push_back({"train", {{0, "a", {0b101, {}, -1}, false}}, "rack r1", "rack", 0});

    EXPECT_EQ(
        write_plan(plan),
        R"({"cycle":3,"releases":[],"placements":[{"workload":"train","level":"rack","domain":"rack r1",)"
        R"("crossings":0,"tasks":[{"task":0,"node":"a","counted":false,"devices":{"gpus":[0,2],"mig":[],)"
        R"("numa":-1}}]}],"refusals":[]})");
}

TEST(PlanText, RefusesWhatIsNoPlanWithItsPath) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "no JSON"},
        {"[]", "expected an object"},
        {"{}", "cycle: missing"},
        {R"({"cycle":-1,"releases":[],"placements":[],"refusals":[]})",
         "cycle: expected a whole number from 0"},
        {R"({"cycle":1,"releases":[],"placements":[],"refusals":[],"more":1})",
         "5 members; expected 4"},
        {R"({"cycle":1,"releases":[],"placements":[{"workload":1}],"refusals":[]})",
         "placements[0].workload: expected a text"},
        {R"({"cycle":1,"releases":[],"placements":[],"refusals":[{"workload":"a","reason":{"link":"x"}}]})",
         "refusals[0].reason.link: unknown 'x'; expected one of: submit, admit"},
    };
    for (const auto& [text, message] : cases) {
        const auto plan = read_plan(text);

        ASSERT_FALSE(plan.has_value()) << text;
        EXPECT_THAT(plan.error().message, testing::HasSubstr(message));
    }
}

}  // namespace
}  // namespace muster
