#include "dialect/kubernetes_trace.h"

#include "codec/field.h"
#include "dialect/kubernetes_resources.h"
#include "dialect/trace_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace muster::dialect {

namespace {

constexpr std::string_view gpu_resource = "nvidia.com/gpu";
constexpr std::string_view queue_label = "kueue.x-k8s.io/queue-name";

/// −1 when absent; what is no time is recorded as a fault.
std::int64_t read_time(const Field& field) {
    if (!field.is_present()) { return -1; }
    const auto time = parse_civil_time(field.text());
    if (!time) { field.refuse(time.error().message); }
    return time.value_or(-1);
}

std::int64_t last_end(const Field& pod) {
    std::int64_t end = -1;
    for (const Field& container : pod["status"]["containerStatuses"].items()) {
        const std::int64_t one = read_time(container["state"]["terminated"]["finishedAt"]);
        if (one < 0) { return -1; }
        end = std::max(end, one);
    }
    return end;
}

Job read_job(const Field& root, bool is_pod) {
    const Field metadata = root["metadata"];
    const Field status = root["status"];
    const Field pod = is_pod ? root["spec"] : root["spec"]["template"]["spec"];
    const std::int64_t pods = is_pod ? 1 : root["spec"]["parallelism"].integer(0, job_size_max, 1);
    Job job{.name = std::string(metadata["name"].name()),
            .user = std::string(metadata["namespace"].text("default")),
            .queue = std::string(metadata["labels"][queue_label].text()),
            .priority_class = std::string(pod["priorityClassName"].text()),
            .submit_s = read_time(metadata["creationTimestamp"])};
    if (job.submit_s < 0) { metadata["creationTimestamp"].expected("when it was submitted"); }
    const std::int64_t start = read_time(status["startTime"]);
    const std::int64_t end = is_pod ? last_end(root) : read_time(status["completionTime"]);
    if (start >= 0 && end >= start) { job.run_s = end - start; }
    const std::int64_t gpus = amount_of(read_pod_request(pod).amounts, gpu_resource);
    job.size = std::min(job_size_max, std::min(gpus, job_size_max) * pods);
    job.requested_s = root["spec"]["activeDeadlineSeconds"].integer(0, trace_seconds_max, -1);
    return job;
}

/// "namespace/name" of the Job that owns this pod.
std::string owner_of(const Field& pod) {
    for (const Field& owner : pod["metadata"]["ownerReferences"].items()) {
        if (owner["kind"].text() == "Job") {
            return fmt::format("{}/{}", pod["metadata"]["namespace"].text("default"),
                               owner["name"].text());
        }
    }
    return {};
}

}  // namespace

Result<JobTrace> read_kubernetes_trace(std::string_view file, std::string_view text) {
    const SourceText source{.name = std::string(file), .text = std::string(text)};
    MUSTER_TRY(documents, read_documents({&source, 1}));
    JobTrace trace{.name = std::string(file), .unit = JobUnit::gpu};
    Faults faults;
    std::set<std::string> jobs;
    for (const Document& document : documents.all()) {
        if (document.kind != "Job") { continue; }
        const Job job = read_job(Field(document, faults), false);
        jobs.insert(fmt::format("{}/{}", job.user, job.name));
    }
    for (const Document& document : documents.all()) {
        const bool is_pod = document.kind == "Pod";
        if (!is_pod && document.kind != "Job") { continue; }
        const Field root(document, faults);
        if (is_pod && jobs.contains(owner_of(root))) { continue; }
        trace.jobs.push_back(read_job(root, is_pod));
    }
    if (!faults.is_empty()) { return tl::unexpected(faults.error()); }
    return trace;
}

}  // namespace muster::dialect
