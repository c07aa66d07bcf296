#include "lab/kind_rules.h"

#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

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
        fill_value(child(strategy, "rollingUpdate"), "partition", 0);
    }
}

void fill_job(json::object& spec) {
    const bool has_completions = spec.contains("completions");
    if (!has_completions && !spec.contains("parallelism")) { spec["completions"] = 1; }
    fill_value(spec, "parallelism", 1);
    fill_value(spec, "backoffLimit", 6);
    fill_value(spec, "completionMode", "NonIndexed");
    fill_value(spec, "suspend", false);
    fill_value(spec, "podReplacementPolicy",
               spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
    fill_value(spec, "manualSelector", false);
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

void fill_service(json::object& spec) {
    fill_value(spec, "type", "ClusterIP");
    fill_value(spec, "sessionAffinity", "None");
    fill_value(spec, "internalTrafficPolicy", "Cluster");
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

ApiCause missing(std::string field) {
    return {.reason = "FieldValueRequired", .message = "Required value", .field = std::move(field)};
}

}  // namespace

std::string storage_name(const ResourceType& type) {
    return type.group.empty() ? type.plural : fmt::format("{}/{}", type.group, type.plural);
}

Outcome<> fill_kind(const ResourceType& type, json::object& object, const ObjectStore& store) {
    if (type.is_custom) { return {}; }
    if (is_kind(type, "", "pods")) {
        json::object& spec = child(object, "spec");
        fill_pod_spec(spec);
        fill_value(spec, "enableServiceLinks", true);
        add_tolerations(spec);
        return set_priority(type, object, store);
    }
    if (is_kind(type, "", "namespaces")) {
        child(child(object, "metadata"), "labels")["kubernetes.io/metadata.name"] =
            std::string(name_of(object));
        child(object, "spec")["finalizers"] = json::array{"kubernetes"};
    } else if (is_kind(type, "", "services")) {
        fill_service(child(object, "spec"));
    } else if (is_kind(type, "", "secrets")) {
        fill_value(object, "type", "Opaque");
    } else if (is_kind(type, "apps", "deployments")) {
        fill_deployment(child(object, "spec"));
    } else if (is_kind(type, "apps", "statefulsets")) {
        fill_stateful_set(child(object, "spec"));
    } else if (is_kind(type, "apps", "replicasets")) {
        fill_value(child(object, "spec"), "replicas", 1);
    } else if (is_kind(type, "batch", "jobs")) {
        fill_job(child(object, "spec"));
        select_job_pods(object);
    } else if (is_kind(type, "batch", "cronjobs")) {
        json::object& spec = child(object, "spec");
        fill_value(spec, "concurrencyPolicy", "Allow");
        fill_value(spec, "suspend", false);
        fill_value(spec, "successfulJobsHistoryLimit", 3);
        fill_value(spec, "failedJobsHistoryLimit", 1);
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
    return {};
}

void begin_status(const ResourceType& type, json::object& object) {
    if (is_kind(type, "", "pods")) {
        json::object status{{"phase", "Pending"}};
        if (const json::value* spec = object.if_contains("spec");
            spec != nullptr && spec->is_object()) {
            status["qosClass"] = qos_class(spec->get_object());
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
        if (type.group == "apps" || type.group == "batch" || type.plural == "services") {
            object["status"] = json::object();
        }
        if (type.plural == "services") {
            object["status"] = json::object{{"loadBalancer", json::object()}};
        }
    }
}

std::vector<ApiCause> check_kind(const ResourceType& type, const json::object& object) {
    const json::value* found = object.if_contains("spec");
    static const json::object nothing;
    const json::object& spec =
        found != nullptr && found->is_object() ? found->get_object() : nothing;
    if (type.is_custom) { return {}; }
    if (is_kind(type, "", "pods")) { return check_pod_spec(spec, "spec"); }
    std::vector<ApiCause> out;
    const bool has_template = (type.group == "apps" && type.plural != "controllerrevisions") ||
                              is_kind(type, "batch", "jobs");
    if (has_template) {
        const json::value* pods = value_at(spec, "template.spec");
        if (pods == nullptr || !pods->is_object()) {
            out.push_back(missing("spec.template.spec.containers"));
        } else {
            out = check_pod_spec(pods->get_object(), "spec.template.spec");
        }
        if (type.group == "apps") {
            const json::value* wanted = value_at(spec, "selector.matchLabels");
            const json::value* labels = value_at(spec, "template.metadata.labels");
            if (value_at(spec, "selector") == nullptr) {
                out.push_back(missing("spec.selector"));
            } else if (wanted != nullptr && wanted->is_object()) {
                for (const auto& [key, value] : wanted->get_object()) {
                    const json::value* its = labels == nullptr || !labels->is_object()
                                                 ? nullptr
                                                 : labels->get_object().if_contains(key);
                    if (its != nullptr && *its == value) { continue; }
                    out.push_back({.reason = "FieldValueInvalid",
                                   .message = fmt::format(
                                       "Invalid value: {}: `selector` does not match template "
                                       "`labels`",
                                       labels == nullptr ? "null" : json::serialize(*labels)),
                                   .field = "spec.template.metadata.labels"});
                    break;
                }
            }
        }
        if (is_kind(type, "batch", "jobs") &&
            text_at(spec, "template.spec.restartPolicy") == "Always") {
            out.push_back({.reason = "FieldValueNotSupported",
                           .message = "Unsupported value: \"Always\": supported values: "
                                      "\"OnFailure\", \"Never\"",
                           .field = "spec.template.spec.restartPolicy"});
        }
    }
    if (is_kind(type, "batch.volcano.sh", "jobs")) {
        const json::value* tasks = spec.if_contains("tasks");
        std::int64_t replicas = 0;
        if (tasks == nullptr || !tasks->is_array() || tasks->get_array().empty()) {
            out.push_back({.reason = "FieldValueInvalid",
                           .message = "No task specified in job spec",
                           .field = "spec.tasks"});
        } else {
            for (const json::value& task : tasks->get_array()) {
                if (task.is_object()) { replicas += int_at(task.get_object(), "replicas", 1); }
            }
        }
        if (const std::int64_t least = int_at(spec, "minAvailable");
            least < 0 || least > replicas) {
            out.push_back(
                {.reason = "FieldValueInvalid",
                 .message = fmt::format("Invalid value: {}: job 'minAvailable' must be from "
                                        "0 to the total replicas of its tasks, {}",
                                        least, replicas),
                 .field = "spec.minAvailable"});
        }
    }
    return out;
}

std::vector<ApiCause> check_kind_update(const ResourceType& type, const json::object& now,
                                        const json::object& before) {
    std::vector<ApiCause> out;
    const auto same = [&](std::string_view path) {
        const json::value* a = value_at(now, path);
        const json::value* b = value_at(before, path);
        return (a == nullptr) == (b == nullptr) && (a == nullptr || *a == *b);
    };
    const auto fixed = [&](std::string_view path) {
        if (same(path)) { return; }
        const json::value* value = value_at(now, path);
        out.push_back({.reason = "FieldValueInvalid",
                       .message = fmt::format("Invalid value: {}: field is immutable",
                                              value == nullptr ? "null" : json::serialize(*value)),
                       .field = std::string(path)});
    };
    if (is_kind(type, "", "pods")) {
        // What may change: images, deadlines, more tolerations, and the end of scheduling gates.
        json::object a =
            value_at(now, "spec") != nullptr ? now.at("spec").as_object() : json::object();
        json::object b =
            value_at(before, "spec") != nullptr ? before.at("spec").as_object() : json::object();
        for (json::object* spec : {&a, &b}) {
            for (const std::string_view key :
                 {"activeDeadlineSeconds", "tolerations", "schedulingGates",
                  "terminationGracePeriodSeconds"}) {
                spec->erase(key);
            }
            for (const std::string_view list : {"initContainers", "containers"}) {
                json::value* containers = spec->if_contains(list);
                if (containers == nullptr || !containers->is_array()) { continue; }
                for (json::value& one : containers->get_array()) {
                    if (one.is_object()) { one.get_object().erase("image"); }
                }
            }
        }
        if (a != b) {
            out.push_back({.reason = "FieldValueForbidden",
                           .message =
                               "Forbidden: pod updates may not change fields other than "
                               "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                               "`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
                               "additions to existing tolerations),"
                               "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 "
                               "if it was previously negative)",
                           .field = "spec"});
        }
    } else if (is_kind(type, "batch", "jobs")) {
        fixed("spec.selector");
        fixed("spec.completionMode");
        if (const json::value* suspend = value_at(before, "spec.suspend");
            suspend == nullptr || !suspend->is_bool() || !suspend->get_bool()) {
            fixed("spec.template");
        }
    } else if (type.group == "apps") {
        fixed("spec.selector");
    } else if (is_kind(type, "scheduling.k8s.io", "priorityclasses")) {
        fixed("value");
    }
    return out;
}

}  // namespace muster::lab
