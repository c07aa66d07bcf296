#include "lab/run_plan.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

struct PlanCase {
    std::string container;
    RunPlan plan;
};

class ContainerRun : public testing::TestWithParam<PlanCase> {};

TEST_P(ContainerRun, IsReadFromTheCommand) {
    const json::value container = json::parse(GetParam().container);

    const RunPlan plan = plan_of_container(container.as_object());

    EXPECT_EQ(plan.milliseconds, GetParam().plan.milliseconds) << GetParam().container;
    EXPECT_EQ(plan.exit_code, GetParam().plan.exit_code) << GetParam().container;
}

constexpr RunPlan for_ever{};

INSTANTIATE_TEST_SUITE_P(
    Of, ContainerRun,
    testing::Values(
        PlanCase{R"({})", for_ever}, PlanCase{R"({"command":["python","train.py"]})", for_ever},
        PlanCase{R"({"command":["sleep","30"]})", {30'000, 0}},
        PlanCase{R"({"command":["/bin/sleep"],"args":["1.5"]})", {1'500, 0}},
        PlanCase{R"({"args":["sleep","2m"]})", {120'000, 0}},
        PlanCase{R"({"command":["sleep","infinity"]})", for_ever},
        PlanCase{R"({"command":["sleep","99999999999999999999"]})", for_ever},
        PlanCase{R"({"command":["true"]})", {0, 0}}, PlanCase{R"({"command":["false"]})", {0, 1}},
        PlanCase{R"({"command":["sh","-c","echo sleep 9; sleep 5; exit 3"]})", {5'000, 3}},
        PlanCase{R"({"command":["sh","-c"],"args":["sleep 1 && sleep 2"]})", {3'000, 0}},
        PlanCase{R"({"command":["bash","-ec","python train.py; sleep 2"]})", {2'000, 0}},
        PlanCase{R"({"command":["sh","-c","echo 'sleep 9; exit 4'"]})", {0, 0}},
        PlanCase{R"({"command":["sh","-c","exit 256"]})", {0, 0}},
        PlanCase{R"({"command":["sh","-c","while true; do sleep 5; done"]})", for_ever},
        PlanCase{R"({"command":["sh","-c","python train.py"]})", for_ever},
        PlanCase{R"({"command":["sh","-c",""]})", for_ever},
        PlanCase{R"({"command":["sh"]})", for_ever}));

TEST(RunPlan, AnnotationsComeFirst) {
    const json::value pod = json::parse(R"({"metadata":{"annotations":
        {"lab.muster/run-seconds":"7","lab.muster/exit-code":"9"}}})");
    const json::value container = json::parse(R"({"command":["sleep","30"]})");

    const RunPlan expected{.milliseconds = 7'000, .exit_code = 9};
    EXPECT_EQ(plan_of_run(pod.as_object(), container.as_object()), expected);
}

}  // namespace
}  // namespace muster::lab
