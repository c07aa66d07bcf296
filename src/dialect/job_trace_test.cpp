// The readers of job traces, one made-up text for each format.
#include "dialect/job_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::dialect {
namespace {

using testing::HasSubstr;

constexpr std::string_view philly_header = "timestamp,duration,num_gpus,gpu_time,cluster\n";
constexpr std::string_view tiresias_header =
    "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";
constexpr std::string_view openb_header =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";
constexpr std::string_view speeds =
    R"_({"v9": {"('Net', 1)": {"null": 2.0, "('Net', 1)": [1.0, 1.0]}, "('Net', 4)": {"null": 8}}})_";

std::string text(std::string_view header, std::string_view rows) {
    return std::string(header) + std::string(rows);
}

std::string error_of(TraceFormat format, std::string_view input, const TraceExtras& extras = {}) {
    const auto trace = read_job_trace(format, "t", input, extras);
    return trace ? "no error" : trace.error().message;
}

TEST(JobTrace, ReadsPhilly) {
    const auto trace = read_job_trace(
        TraceFormat::philly, "t", text(philly_header, "1970-01-02 00:00:00,66.0,8,528.0,ab12\n\n"));

    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->jobs.size(), 1U);
    EXPECT_EQ(trace->jobs[0].name, "2");
    EXPECT_EQ(trace->jobs[0].queue, "ab12");
    EXPECT_EQ(trace->jobs[0].submit_s, 86'400);
    EXPECT_EQ(trace->jobs[0].run_s, 66);
    EXPECT_EQ(trace->jobs[0].limit_s(), 66);
    EXPECT_EQ(trace->jobs[0].size, 8);
}

TEST(JobTrace, ReadsTiresias) {
    const auto trace = read_job_trace(TraceFormat::tiresias, "t",
                                      text(tiresias_header, "0,4,30,606,net,164,30\n"));

    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->jobs[0].size, 4);
    EXPECT_EQ(trace->jobs[0].submit_s, 30);
    EXPECT_EQ(trace->jobs[0].run_s, 164);
}

TEST(JobTrace, ReadsOpenbPods) {
    const auto trace = read_job_trace(
        TraceFormat::openb, "t",
        text(openb_header, "p,1,64,1,300,,LS,Running,5,90,10\nq,1,0,0,0,,BE,Pending,5,6,\n"));

    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->jobs[0].gpu_milli, 300);
    EXPECT_EQ(trace->jobs[0].priority_class, "LS");
    EXPECT_EQ(trace->jobs[0].run_s, 80);
    EXPECT_EQ(trace->jobs[1].size, 0);
    EXPECT_EQ(trace->jobs[1].run_s, -1);
    EXPECT_THAT(error_of(TraceFormat::openb,
                         "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,64,8,1000\n"),
                HasSubstr("t: has no times; expected the columns"));
}

TEST(JobTrace, ReadsGavelByTheSpeeds) {
    const TraceExtras extras{.speeds_file = "s", .speeds = std::string(speeds), .gpu = "v9"};
    const auto trace = read_job_trace(TraceFormat::gavel, "t",
                                      "Net\trun\t-n\t1\t9\t6.000000\t1\n"
                                      "Net\trun\tnet\t-n\t1\t80\t16\t5\t-1.000000\t7\n",
                                      extras);

    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->jobs[0].run_s, 5);
    EXPECT_EQ(trace->jobs[0].submit_s, 6);
    EXPECT_EQ(trace->jobs[0].user, "Net");
    EXPECT_EQ(trace->jobs[1].run_s, 10);
    EXPECT_EQ(trace->jobs[1].size, 16);
    EXPECT_EQ(trace->jobs[1].priority_class, "5");
}

TEST(JobTrace, ReadsWhatKubernetesRemembers) {
    const auto trace = read_job_trace(TraceFormat::kubernetes, "t", R"(
kind: Job
apiVersion: batch/v1
metadata: {name: train, namespace: ml, creationTimestamp: "1970-01-01T00:00:10Z",
           labels: {kueue.x-k8s.io/queue-name: vision}}
spec:
  parallelism: 2
  activeDeadlineSeconds: 600
  template:
    spec:
      priorityClassName: high
      containers: [{name: c, resources: {limits: {nvidia.com/gpu: 4}}}]
status: {startTime: "1970-01-01T00:00:20Z", completionTime: "1970-01-01T00:02:00Z"}
---
kind: Pod
apiVersion: v1
metadata: {name: train-0, namespace: ml, creationTimestamp: "1970-01-01T00:00:10Z",
           ownerReferences: [{kind: Job, name: train}]}
---
kind: Pod
apiVersion: v1
metadata: {name: lone, creationTimestamp: "1970-01-01T00:01:00Z"}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}
status:
  startTime: "1970-01-01T00:01:00Z"
  containerStatuses: [{state: {terminated: {finishedAt: "1970-01-01T00:01:30Z"}}}]
)");

    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->jobs.size(), 2U);
    EXPECT_EQ(trace->jobs[0].size, 8);
    EXPECT_EQ(trace->jobs[0].run_s, 100);
    EXPECT_EQ(trace->jobs[0].requested_s, 600);
    EXPECT_EQ(trace->jobs[0].user, "ml");
    EXPECT_EQ(trace->jobs[0].queue, "vision");
    EXPECT_EQ(trace->jobs[0].priority_class, "high");
    EXPECT_EQ(trace->jobs[1].name, "lone");
    EXPECT_EQ(trace->jobs[1].run_s, 30);
}

TEST(JobTrace, NamesLineAndField) {
    EXPECT_THAT(error_of(TraceFormat::philly, text(philly_header, "then,66.0,8,528.0,ab12\n")),
                HasSubstr("t line 2, field timestamp: found 'then'; expected a time such as"));
    EXPECT_THAT(
        error_of(TraceFormat::philly, text(philly_header, "1970-01-02 00:00:00,-1,8,528.0,ab12\n")),
        HasSubstr("t line 2, field duration: found '-1'; expected seconds"));
    EXPECT_THAT(error_of(TraceFormat::tiresias, text(tiresias_header, "0,0,30,606,net,164,30\n")),
                HasSubstr("t line 2, field num_gpu: found 0; expected 1 to"));
    EXPECT_THAT(error_of(TraceFormat::gavel, "Net\trun\t-n\t1\t9\t6.000000\t1\n"),
                HasSubstr("t: counts steps; expected a table of speeds"));
    const TraceExtras extras{.speeds_file = "s", .speeds = std::string(speeds), .gpu = "v9"};
    EXPECT_THAT(error_of(TraceFormat::gavel, "Nut\trun\t-n\t1\t9\t6.000000\t1\n", extras),
                HasSubstr("t line 1, field 1: found job type 'Nut' on 1 GPUs"));
    EXPECT_THAT(error_of(TraceFormat::gavel, "Net\trun\n", extras),
                HasSubstr("t line 1: found 2 fields; expected 7 or 10"));
    EXPECT_THAT(error_of(TraceFormat::kubernetes,
                         "kind: Job\nmetadata: {name: a, creationTimestamp: soon}\n"),
                HasSubstr("t:2: metadata.creationTimestamp: found 'soon'; expected a time"));
}

TEST(JobTrace, GuessesTheFormat) {
    EXPECT_EQ(guess_trace_format("a.swf", ";").value(), TraceFormat::swf);
    EXPECT_EQ(guess_trace_format("a.trace", "").value(), TraceFormat::gavel);
    EXPECT_EQ(guess_trace_format("a.json", "{").value(), TraceFormat::kubernetes);
    EXPECT_EQ(guess_trace_format("a.csv", philly_header).value(), TraceFormat::philly);
    EXPECT_EQ(guess_trace_format("a.csv", openb_header).value(), TraceFormat::openb);
    EXPECT_EQ(guess_trace_format("a.csv", tiresias_header).value(), TraceFormat::tiresias);
    EXPECT_THAT(guess_trace_format("a.csv", "a,b").error().message, HasSubstr("say which: swf"));
    EXPECT_THAT(parse_trace_format("slurm").error().message,
                HasSubstr("found trace format 'slurm'; expected swf"));
}

}  // namespace
}  // namespace muster::dialect
