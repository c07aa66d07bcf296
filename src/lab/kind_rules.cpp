#include "lab/kind_rules.h"

#include "lab/check_kinds.h"
#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

void fill_value(json::object& object, std::string_view key, json::value value) {
    if (!object.contains(key)) { object[key] = std::move(value); }
}

bool is_kind(const ResourceType& type, std::string_view group, std::string_view plural) {
    return type.group == group && type.plural == plural;
}

/// What DefaultTolerationSeconds adds.
void add_tolerations(json::object& spec) {
    json::array& tolerations = children(spec, "tolerations");
    for (const std::string_view key :
         {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
        const bool is_there =
            std::any_of(tolerations.begin(), tolerations.end(), [&](const json::value& one) {
                if (!one.is_object()) { return false; }
                const std::string_view its = text_at(one.get_object(), "key");
                const std::string_view effect = text_at(one.get_object(), "effect");
                return (its == key || its.empty()) && (effect.empty() || effect == "NoExecute");
            });
        if (is_there) { continue; }
        tolerations.push_back(json::object{{"key", key},
                                           {"operator", "Exists"},
                                           {"effect", "NoExecute"},
                                           {"tolerationSeconds", 300}});
    }
}

/// What the admission plug-in Priority does.
Outcome<> set_priority(const ResourceType& type, json::object& object, const ObjectStore& store) {
    json::object& spec = object["spec"].get_object();
    const std::string_view wanted = text_at(spec, "priorityClassName");
    std::int64_t value = 0;
    std::string policy = "PreemptLowerPriority";
    bool is_found = wanted.empty();
    for (const auto& [key, stored] : store.all("scheduling.k8s.io/priorityclasses")) {
        const bool is_named = key.second == wanted;
        if (!is_named && !wanted.empty()) { continue; }
        const json::value priority = json::parse(*stored.text);
        const json::object& priority_class = priority.get_object();
        const json::value* global = priority_class.if_contains("globalDefault");
        const bool is_default = global != nullptr && global->is_bool() && global->get_bool();
        if (!is_named && !is_default) { continue; }
        is_found = true;
        value = int_at(priority_class, "value");
        if (const std::string_view its = text_at(priority_class, "preemptionPolicy");
            !its.empty()) {
            policy = std::string(its);
        }
        if (wanted.empty()) { spec["priorityClassName"] = key.second; }
        break;
    }
    if (!is_found) {
        return forbidden(type, name_of(object),
                         fmt::format("no PriorityClass with name {} was found", wanted));
    }
    if (const json::value* sent = spec.if_contains("priority");
        sent != nullptr && sent->is_int64() && sent->get_int64() != value) {
        return forbidden(type, name_of(object),
                         fmt::format("the integer value of priority ({}) must not be provided in "
                                     "pod spec; priority admission controller computed {} from the "
                                     "given PriorityClass name",
                                     sent->get_int64(), value));
    }
    spec["priority"] = value;
    fill_value(spec, "preemptionPolicy", json::string(policy));
    return {};
}

void fill_template(json::object& spec) {
    if (json::value* found = spec.if_contains("template"); found != nullptr && found->is_object()) {
        json::object& inner = found->get_object();
        child(inner, "metadata");
        fill_pod_spec(child(inner, "spec"));
    }
}

void fill_deployment(json::object& spec) {
    fill_value(spec, "replicas", 1);
    fill_value(spec, "revisionHistoryLimit", 10);
    fill_value(spec, "progressDeadlineSeconds", 600);
    json::object& strategy = child(spec, "strategy");
    fill_value(strategy, "type", "RollingUpdate");
    if (text_at(strategy, "type") == "RollingUpdate") {
        json::object& rolling = child(strategy, "rollingUpdate");
        fill_value(rolling, "maxUnavailable", "25%");
        fill_value(rolling, "maxSurge", "25%");
    }
}

void fill_stateful_set(json::object& spec) {
    fill_value(spec, "replicas", 1);
    fill_value(spec, "revisionHistoryLimit", 10);
    fill_value(spec, "podManagementPolicy", "OrderedReady");
    json::object& strategy = child(spec, "updateStrategy");
    fill_value(strategy, "type", "RollingUpdate");
    if (text_at(strategy, "type") == "RollingUpdate") {
        json::object& rolling = child(strategy, "rollingUpdate");
        fill_value(rolling, "partition", 0);
        fill_value(rolling, "maxUnavailable", 1);
    }
    json::object& retention = child(spec, "persistentVolumeClaimRetentionPolicy");
    fill_value(retention, "whenDeleted", "Retain");
    fill_value(retention, "whenScaled", "Retain");
    if (json::value* claims = spec.if_contains("volumeClaimTemplates");
        claims != nullptr && claims->is_array()) {
        for (json::value& one : claims->get_array()) {
            if (!one.is_object()) { continue; }
            json::object& claim = one.get_object();
            fill_value(claim, "kind", "PersistentVolumeClaim");
            fill_value(claim, "apiVersion", "v1");
            fill_value(child(claim, "spec"), "volumeMode", "Filesystem");
            fill_value(child(claim, "status"), "phase", "Pending");
        }
    }
}

void fill_job(json::object& spec) {
    const bool has_completions = spec.contains("completions");
    if (!has_completions && !spec.contains("parallelism")) { spec["completions"] = 1; }
    fill_value(spec, "parallelism", 1);
    fill_value(spec, "backoffLimit", spec.contains("backoffLimitPerIndex") ? INT32_MAX : 6);
    fill_value(spec, "completionMode", "NonIndexed");
    fill_value(spec, "suspend", false);
    fill_value(spec, "podReplacementPolicy",
               spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
    fill_value(spec, "manualSelector", false);
    json::value* policy = spec.if_contains("podFailurePolicy");
    if (policy == nullptr || !policy->is_object()) { return; }
    for (json::value& rule : children(policy->get_object(), "rules")) {
        if (!rule.is_object() || !rule.get_object().contains("onPodConditions")) { continue; }
        for (json::value& one : children(rule.get_object(), "onPodConditions")) {
            if (one.is_object()) { fill_value(one.get_object(), "status", "True"); }
        }
    }
}

/// A Job's pods are found by its uid, unless somebody chose otherwise.
void select_job_pods(json::object& object) {
    json::object& spec = child(object, "spec");
    const json::value* manual = spec.if_contains("manualSelector");
    if (manual != nullptr && manual->is_bool() && manual->get_bool()) { return; }
    const std::string uid(text_at(object, "metadata.uid"));
    const std::string name(name_of(object));
    json::object& labels = child(child(child(spec, "template"), "metadata"), "labels");
    labels["batch.kubernetes.io/controller-uid"] = uid;
    labels["controller-uid"] = uid;
    labels["batch.kubernetes.io/job-name"] = name;
    labels["job-name"] = name;
    child(child(spec, "selector"), "matchLabels")["batch.kubernetes.io/controller-uid"] = uid;
}

/// A job without labels of its own has those of its pods.
void label_job(json::object& object) {
    const json::value* labels = value_at(object, "spec.template.metadata.labels");
    if (labels == nullptr || value_at(object, "metadata.labels") != nullptr) { return; }
    const json::value copy = *labels;
    child(object, "metadata")["labels"] = copy;
}

void fill_service(json::object& spec) {
    fill_value(spec, "type", "ClusterIP");
    fill_value(spec, "sessionAffinity", "None");
    const std::string_view type = text_at(spec, "type");
    if (type != "ExternalName") { fill_value(spec, "internalTrafficPolicy", "Cluster"); }
    if (type == "NodePort" || type == "LoadBalancer") {
        fill_value(spec, "externalTrafficPolicy", "Cluster");
    }
    json::array& ports = children(spec, "ports");
    for (json::value& one : ports) {
        if (!one.is_object()) { continue; }
        json::object& port = one.get_object();
        fill_value(port, "protocol", "TCP");
        if (const json::value* number = port.if_contains("port")) {
            const json::value copy = *number;
            fill_value(port, "targetPort", copy);
        }
    }
    if (ports.empty()) { spec.erase("ports"); }
}

/// What a type holds as text has no way to be absent.
void fill_event(json::object& object) {
    fill_value(object, "source", json::object());
    for (const std::string_view key : {"firstTimestamp", "lastTimestamp", "eventTime"}) {
        fill_value(object, key, nullptr);
    }
    fill_value(object, "reportingComponent", "");
    fill_value(object, "reportingInstance", "");
}

void fill_node(json::object& object) {
    json::object& spec = child(object, "spec");
    if (const std::string range(text_at(spec, "podCIDR")); !range.empty()) {
        fill_value(spec, "podCIDRs", json::array{json::string(range)});
    }
    json::object& status = child(object, "status");
    fill_value(child(child(status, "daemonEndpoints"), "kubeletEndpoint"), "Port", 0);
    json::object& info = child(status, "nodeInfo");
    for (const std::string_view key : {"machineID", "systemUUID", "bootID", "kernelVersion",
                                       "osImage", "containerRuntimeVersion", "kubeletVersion",
                                       "kubeProxyVersion", "operatingSystem", "architecture"}) {
        fill_value(info, key, "");
    }
    if (!status.contains("conditions")) { return; }
    for (json::value& one : children(status, "conditions")) {
        if (!one.is_object()) { continue; }
        fill_value(one.get_object(), "lastHeartbeatTime", nullptr);
        fill_value(one.get_object(), "lastTransitionTime", nullptr);
    }
}

std::string base64_of(std::string_view text) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += 3) {
        std::uint32_t bits = 0;
        const std::size_t count = std::min<std::size_t>(3, text.size() - i);
        for (std::size_t k = 0; k < 3; ++k) {
            bits = (bits << 8U) | (k < count ? static_cast<unsigned char>(text[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += k <= count ? letters[(bits >> (18 - 6 * k)) & 63U] : '=';
        }
    }
    return out;
}

/// stringData is another way to write data.
void fill_secret(json::object& object) {
    fill_value(object, "type", "Opaque");
    const json::value* found = object.if_contains("stringData");
    if (found == nullptr || !found->is_object()) { return; }
    const json::object texts = found->get_object();
    json::object& data = child(object, "data");
    for (const auto& [key, text] : texts) {
        if (text.is_string()) { data[key] = base64_of(text.get_string()); }
    }
    object.erase("stringData");
}

/// What a container may have at most it has, and asks for, unless it says otherwise.
void fill_limit_range(json::object& spec) {
    for (json::value& one : children(spec, "limits")) {
        if (!one.is_object() || text_at(one.get_object(), "type") != "Container") { continue; }
        json::object& limit = one.get_object();
        const auto copy = [&](std::string_view from, std::string_view to) {
            const json::value* found = limit.if_contains(from);
            if (found == nullptr || !found->is_object()) { return; }
            const json::object amounts = found->get_object();
            for (const auto& [name, amount] : amounts) {
                fill_value(child(limit, to), name, amount);
            }
        };
        copy("max", "default");
        copy("default", "defaultRequest");
        copy("min", "defaultRequest");
    }
}

void fill_requests(json::object& spec) {
    json::value& devices = spec["devices"];
    if (!devices.is_object()) { devices.emplace_object(); }
    json::object& wanted = devices.get_object();
    if (!wanted.contains("requests") || !wanted["requests"].is_array()) { return; }
    for (json::value& one : wanted["requests"].get_array()) {
        if (!one.is_object()) { continue; }
        std::vector<json::object*> asked;
        if (json::value* exactly = one.get_object().if_contains("exactly");
            exactly != nullptr && exactly->is_object()) {
            asked.push_back(&exactly->get_object());
        }
        if (json::value* any = one.get_object().if_contains("firstAvailable");
            any != nullptr && any->is_array()) {
            for (json::value& choice : any->get_array()) {
                if (choice.is_object()) { asked.push_back(&choice.get_object()); }
            }
        }
        for (json::object* request : asked) {
            fill_value(*request, "allocationMode", "ExactCount");
            if (text_at(*request, "allocationMode") == "ExactCount") {
                fill_value(*request, "count", 1);
            }
        }
    }
}

void fill_upstream_group(json::object& spec) {
    if (!spec.contains("disruptionMode")) {
        spec["disruptionMode"] = json::object{{"single", json::object()}};
    }
}

void check_volcano_job(const json::object& object, Causes& out) {
    const json::array* tasks = kube::array_at(object, "spec.tasks");
    std::int64_t replicas = 0;
    if (tasks == nullptr || tasks->empty()) {
        out.add({{.reason = "FieldValueInvalid",
                  .message = "No task specified in job spec",
                  .field = "spec.tasks"}});
    } else {
        for (const json::value& task : *tasks) {
            if (task.is_object()) { replicas += int_at(task.get_object(), "replicas", 1); }
        }
    }
    const std::int64_t least = int_at(object, "spec.minAvailable");
    if (least < 0 || least > replicas) {
        out.wrong("spec.minAvailable", json::value(least),
                  fmt::format("job 'minAvailable' must be from 0 to the total replicas of its "
                              "tasks, {}",
                              replicas));
    }
}

}  // namespace

std::string storage_name(const ResourceType& type) {
    return type.group.empty() ? type.plural : fmt::format("{}/{}", type.group, type.plural);
}

void fill_kind(const ResourceType& type, json::object& object) {
    if (type.is_custom) { return; }
    if (is_kind(type, "", "pods")) {
        json::object& spec = child(object, "spec");
        fill_pod_spec(spec);
        fill_pod_requests(spec);
        fill_value(spec, "enableServiceLinks", true);
        return;
    }
    if (is_kind(type, "", "namespaces")) {
        child(child(object, "metadata"), "labels")["kubernetes.io/metadata.name"] =
            std::string(name_of(object));
    } else if (is_kind(type, "", "services")) {
        fill_service(child(object, "spec"));
    } else if (is_kind(type, "", "secrets")) {
        fill_secret(object);
    } else if (is_kind(type, "", "nodes")) {
        fill_node(object);
    } else if (is_kind(type, "", "limitranges")) {
        fill_limit_range(child(object, "spec"));
    } else if (is_kind(type, "", "resourcequotas") ||
               is_kind(type, "policy", "poddisruptionbudgets") ||
               is_kind(type, "coordination.k8s.io", "leases") ||
               is_kind(type, "resource.k8s.io", "deviceclasses")) {
        child(object, "spec");
    } else if (is_kind(type, "resource.k8s.io", "resourceclaims")) {
        fill_requests(child(object, "spec"));
    } else if (is_kind(type, "resource.k8s.io", "resourceclaimtemplates")) {
        json::object& spec = child(object, "spec");
        child(spec, "metadata");
        fill_requests(child(spec, "spec"));
    } else if (is_kind(type, "scheduling.k8s.io", "podgroups")) {
        fill_upstream_group(child(object, "spec"));
    } else if (is_kind(type, "scheduling.k8s.io", "workloads")) {
        json::object& spec = child(object, "spec");
        if (!spec.contains("podGroupTemplates")) { return; }
        for (json::value& one : children(spec, "podGroupTemplates")) {
            if (one.is_object()) { fill_value(one.get_object(), "schedulingConstraints", nullptr); }
        }
    } else if (is_kind(type, "apps", "deployments")) {
        fill_deployment(child(object, "spec"));
    } else if (is_kind(type, "apps", "statefulsets")) {
        fill_stateful_set(child(object, "spec"));
    } else if (is_kind(type, "apps", "replicasets")) {
        fill_value(child(object, "spec"), "replicas", 1);
    } else if (is_kind(type, "batch", "jobs")) {
        fill_job(child(object, "spec"));
    } else if (is_kind(type, "batch", "cronjobs")) {
        json::object& spec = child(object, "spec");
        fill_value(spec, "concurrencyPolicy", "Allow");
        fill_value(spec, "suspend", false);
        fill_value(spec, "successfulJobsHistoryLimit", 3);
        fill_value(spec, "failedJobsHistoryLimit", 1);
        json::object& job = child(spec, "jobTemplate");
        child(job, "metadata");
        fill_template(child(job, "spec"));
    } else if (is_kind(type, "scheduling.k8s.io", "priorityclasses")) {
        fill_value(object, "preemptionPolicy", "PreemptLowerPriority");
    } else if (is_kind(type, "batch.volcano.sh", "jobs")) {
        json::object& spec = child(object, "spec");
        fill_value(spec, "schedulerName", "volcano");
        fill_value(spec, "queue", "default");
        fill_value(spec, "maxRetry", 3);
    } else if (is_kind(type, "scheduling.volcano.sh", "podgroups")) {
        fill_value(child(object, "spec"), "queue", "default");
    } else if (is_kind(type, "scheduling.volcano.sh", "queues")) {
        fill_value(child(object, "spec"), "weight", 1);
        fill_value(child(object, "spec"), "reclaimable", true);
    }
    if ((type.group == "apps" || type.group == "batch") && type.plural != "cronjobs") {
        fill_template(child(object, "spec"));
    }
}

/// Of a real server's range; the lowest that no service has.
std::string free_address(const ObjectStore& store) {
    std::set<std::string> taken;
    for (const auto& [key, stored] : store.all("services")) {
        const json::value service = json::parse(*stored.text);
        taken.emplace(text_at(service.get_object(), "spec.clusterIP"));
    }
    for (int i = 2; i < 65'535; ++i) {
        std::string address = fmt::format("10.96.{}.{}", i / 256, i % 256);
        if (!taken.contains(address)) { return address; }
    }
    return {};
}

void admit_service(json::object& spec, const json::object* before, const ObjectStore& store) {
    if (text_at(spec, "type") == "ExternalName") { return; }
    fill_value(spec, "ipFamilies", json::array{"IPv4"});
    fill_value(spec, "ipFamilyPolicy", "SingleStack");
    if (text_at(spec, "clusterIP").empty()) {
        const std::string had(before == nullptr ? "" : text_at(*before, "spec.clusterIP"));
        spec["clusterIP"] = had.empty() ? free_address(store) : had;
    }
    const std::string address(text_at(spec, "clusterIP"));
    fill_value(spec, "clusterIPs", json::array{json::string(address)});
}

Outcome<> admit_pod(const ResourceType& type, json::object& object, const json::object* before,
                    const ObjectStore& store) {
    json::object& spec = child(object, "spec");
    add_tolerations(spec);
    if (before == nullptr) { return set_priority(type, object, store); }
    for (const std::string_view key : {"priority", "preemptionPolicy"}) {
        const json::value* had = value_at(*before, fmt::format("spec.{}", key));
        if (had != nullptr) { fill_value(spec, key, *had); }
    }
    return {};
}

Outcome<> admit_kind(const ResourceType& type, json::object& object, const json::object* before,
                     const ObjectStore& store) {
    if (type.is_custom) { return {}; }
    if (is_kind(type, "", "pods")) { return admit_pod(type, object, before, store); }
    if (is_kind(type, "", "namespaces")) {
        child(object, "spec")["finalizers"] = json::array{"kubernetes"};
    } else if (is_kind(type, "", "services")) {
        admit_service(child(object, "spec"), before, store);
    } else if (is_kind(type, "", "events")) {
        fill_event(object);
    } else if (is_kind(type, "apps", "statefulsets")) {
        fill_value(child(object, "spec"), "serviceName", "");
    } else if (is_kind(type, "batch", "jobs")) {
        if (before == nullptr) { select_job_pods(object); }
    } else if (is_kind(type, "scheduling.k8s.io", "podgroups")) {
        fill_value(child(object, "spec"), "priority", 0);
    } else if (is_kind(type, "resource.k8s.io", "resourceclaims")) {
        fill_value(child(child(object, "spec"), "devices"), "requests", nullptr);
    }
    return {};
}

void finish_kind(const ResourceType& type, json::object& object) {
    if (is_kind(type, "batch", "jobs")) { label_job(object); }
}

std::vector<ApiCause> check_kind_status(const ResourceType& type, const json::object& object) {
    Causes out;
    if (type.group != "apps") { return {}; }
    const auto at_most = [&](std::string_view key, std::string_view most, std::string_view words) {
        const json::value* value = value_at(object, fmt::format("status.{}", key));
        if (value != nullptr && value->is_int64() &&
            value->get_int64() > int_at(object, fmt::format("status.{}", most))) {
            out.wrong(fmt::format("status.{}", key), *value,
                      fmt::format("cannot be greater than {}", words));
        }
    };
    if (type.plural == "deployments") {
        at_most("updatedReplicas", "replicas", "status.replicas");
        at_most("readyReplicas", "replicas", "status.replicas");
        at_most("availableReplicas", "replicas", "status.replicas");
        at_most("availableReplicas", "readyReplicas", "readyReplicas");
    }
    return out.take();
}

void begin_status(const ResourceType& type, json::object& object) {
    if (is_kind(type, "", "pods")) {
        json::object status{{"phase", "Pending"}};
        if (const json::value* spec = object.if_contains("spec");
            spec != nullptr && spec->is_object()) {
            status["qosClass"] = qos_class(spec->get_object());
            if (const json::array* gates = kube::array_at(spec->get_object(), "schedulingGates");
                gates != nullptr && !gates->empty()) {
                status["conditions"] = json::array{json::object{
                    {"type", "PodScheduled"},
                    {"status", "False"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", text_at(object, "metadata.creationTimestamp")},
                    {"reason", "SchedulingGated"},
                    {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
            }
        }
        object["status"] = std::move(status);
    } else if (is_kind(type, "", "namespaces")) {
        object["status"] = json::object{{"phase", "Active"}};
    } else if (is_kind(type, "", "nodes")) {
        // Whoever makes a node says what it has: there is no kubelet that registers first.
        json::object& status = child(object, "status");
        if (const json::value* capacity = status.if_contains("capacity")) {
            const json::value copy = *capacity;
            fill_value(status, "allocatable", copy);
        }
    } else if (is_kind(type, "scheduling.volcano.sh", "podgroups")) {
        object["status"] = json::object{{"phase", "Pending"}};
    } else if (type.has("status")) {
        object.erase("status");
        if (type.group == "apps" || type.group == "batch" || type.plural == "services" ||
            type.plural == "resourcequotas" || type.plural == "resourceclaims" ||
            is_kind(type, "scheduling.k8s.io", "podgroups")) {
            object["status"] = json::object();
        }
        if (type.plural == "replicasets") { object["status"] = json::object{{"replicas", 0}}; }
        if (type.plural == "statefulsets") {
            object["status"] = json::object{{"replicas", 0}, {"availableReplicas", 0}};
        }
        if (type.plural == "poddisruptionbudgets") {
            object["status"] = json::object{{"disruptionsAllowed", 0},
                                            {"currentHealthy", 0},
                                            {"desiredHealthy", 0},
                                            {"expectedPods", 0}};
        }
        if (type.plural == "services") {
            object["status"] = json::object{{"loadBalancer", json::object()}};
        }
    }
}

std::vector<ApiCause> check_kind(const ResourceType& type, const json::object& object) {
    Causes out;
    if (type.is_custom) { return {}; }
    if (type.group.empty() || type.group == "events.k8s.io") {
        check_core(type, object, out);
    } else if (type.group == "apps" || type.group == "batch") {
        check_workload(type, object, out);
    } else if (is_kind(type, "batch.volcano.sh", "jobs")) {
        check_volcano_job(object, out);
    } else if (type.group == "policy" || type.group.ends_with(".k8s.io")) {
        check_scheduling(type, object, out);
    }
    return out.take();
}

std::vector<ApiCause> check_kind_update(const ResourceType& type, const json::object& now,
                                        const json::object& before) {
    Causes out;
    if (type.is_custom) { return {}; }
    if (type.group.empty()) {
        check_core_update(type, now, before, out);
    } else if (type.group == "apps" || type.group == "batch") {
        check_workload_update(type, now, before, out);
    } else if (type.group == "policy" || type.group.ends_with(".k8s.io")) {
        check_scheduling_update(type, now, before, out);
    }
    return out.take();
}

}  // namespace muster::lab
