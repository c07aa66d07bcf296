#include "sim/reference/per_pod.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

TEST(PerPod, HalfBoundJobsWaitForEachOtherForEver) {
    const PodJobsRun run = run_per_pod(8, {{"A", 5, 10}, {"B", 5, 10}}, 100);

    EXPECT_EQ(run.jobs[0], (PodJobEnd{"A", 4, -1, -1}));
    EXPECT_EQ(run.jobs[1], (PodJobEnd{"B", 4, -1, -1}));
    EXPECT_EQ(run.useful_gpu_seconds, 0);
    EXPECT_EQ(run.wasted_gpu_seconds, 800);
}

TEST(PerPod, GangsOfTheEngineRunOneAfterTheOther) {
    const PodJobsRun run = run_as_gangs(8, {{"A", 5, 10}, {"B", 5, 10}}, 100);

    EXPECT_EQ(run.jobs[0], (PodJobEnd{"A", 0, 0, 10}));
    EXPECT_EQ(run.jobs[1], (PodJobEnd{"B", 0, 10, 20}));
    EXPECT_EQ(run.useful_gpu_seconds, 100);
    EXPECT_EQ(run.wasted_gpu_seconds, 0);
}

TEST(PerPod, JobsThatFitRunAtOnceEitherWay) {
    const std::vector<PodJob> jobs = {{"A", 4, 10}, {"B", 4, 20}};

    EXPECT_EQ(run_per_pod(8, jobs, 100), run_as_gangs(8, jobs, 100));
}

}  // namespace
}  // namespace muster::sim
