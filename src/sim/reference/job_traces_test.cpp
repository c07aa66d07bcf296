// Method: every public trace is read, and has as many jobs as its publishers say.
#include "sim/job_trace.h"
#include "sim/reference/study_testing.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

struct Listed {
    const char* file;
    std::size_t jobs;
};

TEST(JobTraces, HaveAsManyJobsAsPublished) {
    MUSTER_NEEDS_DATA(folder);
    for (const auto& [file, jobs] :
         {Listed{"swf/KTH-SP2-1996-2.1-cln.swf.gz", 28'476},
          Listed{"swf/NASA-iPSC-1993-3.1-cln.swf.gz", 18'239},
          Listed{"swf/LANL-CM5-1994-4.1-cln.swf.gz", 122'060}, Listed{"swf/hpc2n.swf", 3'170},
          Listed{"swf/wagap-2013.swf", 17'900}, Listed{"swf/lublin_256.swf", 10'000},
          Listed{"sia-sosp23/philly.csv", 82'247}, Listed{"tiresias-nsdi19/60_job.csv", 60},
          Listed{"alibaba-gpu-v2023/openb_pod_list_default.csv", 8'152}}) {
        const auto trace = load_job_trace({.file = *folder / file});

        ASSERT_TRUE(trace) << trace.error().message;
        EXPECT_EQ(trace->jobs.size(), jobs) << file;
    }
}

TEST(JobTraces, GavelsStepsTakeTimeOnEachGpu) {
    MUSTER_NEEDS_DATA(folder);
    const std::string speeds = *folder / "gavel-osdi20/simulation_throughputs.json";
    std::size_t jobs = 0;
    for (const char* part : {"msr-seed0", "physical_cluster"}) {
        for (const auto& entry :
             std::filesystem::directory_iterator(*folder / "gavel-osdi20" / part)) {
            const auto trace =
                load_job_trace({.file = entry.path(), .speeds_file = speeds, .gpu = "v100"});

            ASSERT_TRUE(trace) << trace.error().message;
            jobs += trace->jobs.size();
        }
    }

    EXPECT_EQ(jobs, 15'264U + 251U);
}

}  // namespace
}  // namespace muster::sim
