#include "dialect/lint_pod.h"

#include "dialect/kubernetes_gpu.h"
#include "dialect/kubernetes_resources.h"

#include <fmt/format.h>

#include <map>
#include <string>

namespace muster::dialect {

namespace {

void find(std::vector<Finding>& findings, Severity severity, const Field& field, std::string text,
          std::string advice) {
    findings.push_back({severity, field.place(), std::move(text), std::move(advice)});
}

bool is_gpu_resource(std::string_view name) {
    return find_gpu_vendor(name) != nullptr || name.starts_with("nvidia.com/mig-") ||
           name.starts_with("nvidia.com/gpu");
}

bool asks_for_gpus(const Field& metadata, const Field& spec) {
    for (const std::string_view key : {"gpu-fraction", "gpu-memory"}) {
        if (metadata["annotations"][key].is_present()) { return true; }
    }
    for (const Field& container : spec["containers"].items()) {
        for (const std::string_view list : {"requests", "limits"}) {
            for (const auto& [name, amount] : container["resources"][list].members()) {
                if (is_gpu_resource(name)) { return true; }
            }
        }
    }
    return false;
}

void lint_scheduler(const Field& scheduler, bool is_volcano, std::vector<Finding>& findings) {
    const std::string_view name = scheduler.text(is_volcano ? "volcano" : "");
    if (!name.empty() && name != "default-scheduler") { return; }
    find(
        findings, Severity::warning, scheduler,
        "the pods ask for GPUs and are left to the default scheduler, which places them one by one",
        "set schedulerName: muster");
}

void lint_limits(const Field& spec, std::vector<Finding>& findings) {
    for (const std::string_view list : {"initContainers", "containers"}) {
        for (const Field& container : spec[list].items()) {
            const Field requests = container["resources"]["requests"];
            const Field limits = container["resources"]["limits"];
            for (const auto& [name, request] : requests.members()) {
                if (!is_gpu_resource(name)) { continue; }
                const Field limit = limits[name];
                if (!limit.is_present()) {
                    find(findings, Severity::error, request,
                         fmt::format("{} is requested without a limit, which Kubernetes refuses",
                                     name),
                         fmt::format("give limits the same {}", name));
                } else if (limit.quantity_milli(INT64_MAX) != request.quantity_milli(INT64_MAX)) {
                    find(findings, Severity::error, limit,
                         fmt::format(
                             "{} has a limit other than its request, which Kubernetes refuses",
                             name),
                         "make both equal");
                }
            }
        }
    }
}

void lint_restarts(const Document& document, const Field& spec, std::vector<Finding>& findings) {
    const Field policy = spec["restartPolicy"];
    const std::string_view text = policy.text("Always");
    const bool is_job = document.kind == "Job";
    const bool is_volcano = document.api_version.starts_with("batch.volcano.sh/");
    if (is_job && !is_volcano && text == "Always") {
        find(findings, Severity::error, policy,
             "a Job's pods can't have restartPolicy Always, the default",
             "set restartPolicy: Never, or OnFailure");
    } else if (is_volcano && text == "Always") {
        find(findings, Severity::warning, policy,
             "with restartPolicy Always, the default, a failed member restarts behind its gang's "
             "back and "
             "the job never completes",
             "set restartPolicy: Never, or OnFailure");
    } else if (!is_job && document.kind != "Pod" && text != "Always") {
        find(findings, Severity::error, policy,
             fmt::format("a {}'s pods need restartPolicy Always", document.kind),
             "remove restartPolicy, or use a Job");
    } else if (text != "Always" && text != "OnFailure" && text != "Never") {
        find(findings, Severity::error, policy,
             fmt::format("restartPolicy \"{}\" does not exist", text),
             "use Always, OnFailure or Never");
    }
}

void lint_pod(const Document& document, const Field& metadata, const Field& spec,
              const Field& scheduler, std::vector<Finding>& findings) {
    const bool is_volcano = document.api_version.starts_with("batch.volcano.sh/");
    lint_limits(spec, findings);
    lint_restarts(document, spec, findings);
    if (asks_for_gpus(metadata, spec)) { lint_scheduler(scheduler, is_volcano, findings); }
    for (const std::string_view key : {"gpu-fraction", "gpu-memory"}) {
        const Field share = metadata["annotations"][key];
        if (!share.is_present()) { continue; }
        find(findings, Severity::warning, share,
             fmt::format("{} reserves a share, but nothing keeps the pod inside it", key),
             "use HAMi's nvidia.com/gpumem or a MIG instance where a neighbour must be safe");
    }
}

void lint_volcano(const Document& document, const Field& root, std::vector<Finding>& findings) {
    constexpr std::int64_t any = INT64_MAX;
    std::int64_t total = 0;
    for (const Field& task : root["spec"]["tasks"].items()) {
        const std::int64_t replicas = task["replicas"].integer(0, INT32_MAX, 1);
        total += replicas;
        if (const Field minimum = task["minAvailable"]; minimum.integer(0, any) > replicas) {
            find(findings, Severity::error, minimum,
                 fmt::format("minAvailable {} is over the task's {} replicas",
                             minimum.integer(0, any), replicas),
                 "lower minAvailable or raise replicas");
        }
        const Field spec = task["template"]["spec"];
        lint_pod(document, task["template"]["metadata"], spec, root["spec"]["schedulerName"],
                 findings);
    }
    if (const Field minimum = root["spec"]["minAvailable"]; minimum.integer(0, any) > total) {
        find(findings, Severity::error, minimum,
             fmt::format(
                 "minAvailable {} is over the {} replicas of all tasks: the job could never start",
                 minimum.integer(0, any), total),
             "lower minAvailable or raise replicas");
    }
}

struct Members {
    std::int64_t pods = 0;
    std::int64_t minimum = 0;  // of a job that has one of its own
    std::string what;
};

void count_members(const Field& root, const Field& template_metadata, std::int64_t pods,
                   const std::string& what, std::map<std::string, Members>& groups) {
    const std::string name_space = namespace_of(root["metadata"]);
    const Field labels = template_metadata["labels"];
    const Field annotations = template_metadata["annotations"];
    for (const Field& field : {annotations["scheduling.k8s.io/group-name"],
                               annotations["scheduling.volcano.sh/group-name"],
                               labels["scheduling.x-k8s.io/pod-group"]}) {
        if (!field.is_present()) { continue; }
        Members& members = groups[fmt::format("{}/{}", name_space, field.text())];
        members.pods += pods;
        members.what = what;
        return;
    }
}

}  // namespace

void lint_object(const Document& document, std::vector<Finding>& findings) {
    Faults ignored;  // the readers report them
    const Field root(document, ignored);
    const std::string_view kind = document.kind;
    if (kind == "Pod") {
        return lint_pod(document, root["metadata"], root["spec"], root["spec"]["schedulerName"],
                        findings);
    }
    if (kind == "Job" && document.api_version.starts_with("batch.volcano.sh/")) {
        return lint_volcano(document, root, findings);
    }
    if (kind == "Job" || kind == "Deployment" || kind == "StatefulSet" || kind == "ReplicaSet") {
        const Field pod = root["spec"]["template"];
        lint_pod(document, pod["metadata"], pod["spec"], pod["spec"]["schedulerName"], findings);
    }
}

void lint_groups(const Documents& documents, std::vector<Finding>& findings) {
    Faults ignored;
    std::map<std::string, Members> groups;  // by "namespace/name"
    for (const Document& document : documents.all()) {
        const Field root(document, ignored);
        const Field spec = root["spec"];
        const std::string name =
            fmt::format("{} {}", document.kind, root["metadata"]["name"].text());
        if (document.kind == "Pod") { count_members(root, root["metadata"], 1, name, groups); }
        if (document.kind == "Job" && document.api_version.starts_with("batch.volcano.sh/")) {
            std::int64_t total = 0;
            for (const Field& task : spec["tasks"].items()) {
                total += task["replicas"].integer(0, INT32_MAX, 1);
            }
            const std::int64_t minimum = spec["minAvailable"].integer(0, INT32_MAX, 0);
            groups[full_name(root["metadata"])] = {total, minimum > 0 ? minimum : total, name};
        } else if (document.kind == "Job") {
            count_members(root, spec["template"]["metadata"],
                          spec["parallelism"].integer(0, INT32_MAX, 1), name, groups);
        } else if (spec["template"].is_present()) {
            count_members(root, spec["template"]["metadata"],
                          spec["replicas"].integer(0, INT32_MAX, 1), name, groups);
        }
    }
    for (const Document& document : documents.all()) {
        if (document.kind != "PodGroup") { continue; }
        const Field root(document, ignored);
        const Field minimum = root["spec"]["minMember"];
        const auto found = groups.find(full_name(root["metadata"]));
        if (found == groups.end() || !minimum.is_present()) { continue; }
        const std::int64_t wanted = minimum.integer(0, INT32_MAX, 0);
        const Members& members = found->second;
        if (members.minimum > 0 && wanted != members.minimum) {
            find(findings, Severity::warning, minimum,
                 fmt::format("minMember {} is not the minAvailable {} of {}", wanted,
                             members.minimum, members.what),
                 "make both equal, or leave the PodGroup to the job's controller");
        } else if (wanted > members.pods) {
            find(findings, Severity::error, minimum,
                 fmt::format("minMember {} is over the {} pods of the group: it could never start",
                             wanted, members.pods),
                 "lower minMember or add pods");
        }
    }
}

}  // namespace muster::dialect
