#include "lab/check_kinds.h"
#include "lab/cron_schedule.h"
#include "lab/field_rules.h"
#include "lab/kind_rules.h"
#include "lab/metadata.h"
#include "lab/names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// Labels as a server prints them: in order.
json::value value_or_null(const json::object& object, std::string_view path) {
    const json::object* found = kube::object_at(object, path);
    if (found == nullptr) { return json::value(nullptr); }
    std::vector<std::string_view> keys;
    for (const auto& member : *found) { keys.emplace_back(member.key()); }
    std::ranges::sort(keys);
    json::object out;
    for (const std::string_view key : keys) { out[key] = found->at(key); }
    return out;
}

/// Of matchLabels and matchExpressions, whether labels have it.
bool selects(const json::object& selector, const json::object& labels) {
    for (const auto& [key, value] : map_in(selector, "matchLabels")) {
        const json::value* its = labels.if_contains(key);
        if (its == nullptr || *its != value) { return false; }
    }
    const json::array* expressions = kube::array_at(selector, "matchExpressions");
    for (const json::value& one : expressions == nullptr ? json::array() : *expressions) {
        if (!one.is_object()) { continue; }
        const json::value* its = labels.if_contains(text_at(one.get_object(), "key"));
        const json::array* values = kube::array_at(one.get_object(), "values");
        const bool is_listed = its != nullptr && values != nullptr &&
                               std::ranges::find(*values, *its) != values->end();
        const std::string_view op = text_at(one.get_object(), "operator");
        if ((op == "In" && !is_listed) || (op == "NotIn" && is_listed) ||
            (op == "Exists" && its == nullptr) || (op == "DoesNotExist" && its != nullptr)) {
            return false;
        }
    }
    return true;
}

/// The selector, and that it finds the pods of the template.
void check_own_selector(const json::object& spec, std::string_view what, Causes& out) {
    const json::object* selector = kube::object_at(spec, "selector");
    const json::object& labels = map_in(spec, "template.metadata.labels");
    Causes wrong;
    if (selector == nullptr) {
        out.required("spec.selector");
    } else {
        check_selector(*selector, "spec.selector", wrong);
        const bool is_empty = map_in(*selector, "matchLabels").empty() &&
                              (kube::array_at(*selector, "matchExpressions") == nullptr ||
                               kube::array_at(*selector, "matchExpressions")->empty());
        if (is_empty && !what.empty()) {
            out.wrong("spec.selector", json::object(),
                      fmt::format("empty selector is invalid for {}", what));
        }
    }
    if (!wrong.empty()) {
        out.add(wrong.take());
        out.wrong("spec.selector", *selector, "invalid label selector");
        return;
    }
    if (selector == nullptr || !selects(*selector, labels)) {
        out.wrong("spec.template.metadata.labels", value_or_null(spec, "template.metadata.labels"),
                  "`selector` does not match template `labels`");
    }
}

void check_template(const json::object& spec, const std::string& path, Causes& out) {
    const json::object& inner = map_in(spec, "template");
    if (const json::value* labels = value_at(inner, "metadata.labels")) {
        check_label_map(*labels, path + ".template.labels", out);
    }
    if (const json::value* annotations = value_at(inner, "metadata.annotations")) {
        check_annotation_map(*annotations, path + ".template.annotations", out);
    }
    out.add(check_pod_spec(map_in(inner, "spec"), path + ".template.spec"));
}

/// Pods that are kept up: they restart, and have no end.
void check_kept_up(const json::object& spec, Causes& out) {
    constexpr std::array<std::string_view, 1> always{"Always"};
    const std::string_view policy = text_at(spec, "template.spec.restartPolicy");
    if (policy == "OnFailure" || policy == "Never") {
        out.unsupported("spec.template.spec.restartPolicy", json::value(policy), always);
    }
    if (value_at(spec, "template.spec.activeDeadlineSeconds") != nullptr) {
        out.forbidden("spec.template.spec.activeDeadlineSeconds",
                      "activeDeadlineSeconds in ReplicaSet is not Supported");
    }
}

bool is_zero_share(const json::value* value) {
    if (value == nullptr) { return false; }
    return (value->is_int64() && value->get_int64() == 0) ||
           (value->is_string() && value->get_string() == "0%");
}

json::object internal_strategy(const json::object& strategy) {
    json::object out{{"Type", text_at(strategy, "type")}};
    out["RollingUpdate"] = nullptr;
    return out;
}

void check_deployment(const json::object& spec, Causes& out) {
    constexpr std::array<FieldRule, 4> rules{{
        {"replicas", MustBe::not_negative},
        {"minReadySeconds", MustBe::not_negative},
        {"revisionHistoryLimit", MustBe::not_negative},
        {"progressDeadlineSeconds", MustBe::not_negative},
    }};
    check_rules(rules, spec, "spec", out);
    const json::value* deadline = value_at(spec, "progressDeadlineSeconds");
    if (deadline != nullptr && deadline->is_int64() && deadline->get_int64() >= 0 &&
        deadline->get_int64() <= int_at(spec, "minReadySeconds")) {
        out.wrong("spec.progressDeadlineSeconds", *deadline,
                  "must be greater than minReadySeconds");
    }
    const json::object& strategy = map_in(spec, "strategy");
    const std::string_view type = text_at(strategy, "type");
    const json::object* rolling = kube::object_at(strategy, "rollingUpdate");
    if (type == "Recreate") {
        if (rolling != nullptr) {
            out.forbidden("spec.strategy.rollingUpdate",
                          "may not be specified when strategy `type` is 'Recreate'");
        }
    } else if (type != "RollingUpdate") {
        constexpr std::array<std::string_view, 2> types{"Recreate", "RollingUpdate"};
        out.unsupported("spec.strategy", internal_strategy(strategy), types);
    } else if (rolling != nullptr) {
        const json::value* surge = rolling->if_contains("maxSurge");
        const json::value* gone = rolling->if_contains("maxUnavailable");
        if (surge != nullptr) { check_share(*surge, "spec.strategy.rollingUpdate.maxSurge", out); }
        if (gone != nullptr) {
            check_share(*gone, "spec.strategy.rollingUpdate.maxUnavailable", out);
        }
        if (is_zero_share(surge) && is_zero_share(gone)) {
            out.wrong("spec.strategy.rollingUpdate.maxUnavailable", *gone,
                      "may not be 0 when `maxSurge` is 0");
        }
    }
}

void check_stateful_set(const json::object& spec, Causes& out) {
    constexpr std::array<FieldRule, 5> rules{{
        {"replicas", MustBe::not_negative},
        {"minReadySeconds", MustBe::not_negative},
        {"revisionHistoryLimit", MustBe::not_negative},
        {"updateStrategy.rollingUpdate.partition", MustBe::not_negative},
        {"serviceName", MustBe::dns_label},
    }};
    check_rules(rules, spec, "spec", out);
    const std::string_view management = text_at(spec, "podManagementPolicy");
    if (management != "OrderedReady" && management != "Parallel") {
        out.wrong("spec.podManagementPolicy", json::value(management),
                  "must be 'OrderedReady' or 'Parallel'");
    }
    const json::object& strategy = map_in(spec, "updateStrategy");
    const std::string_view type = text_at(strategy, "type");
    if (type != "RollingUpdate" && type != "OnDelete") {
        out.wrong("spec.updateStrategy", internal_strategy(strategy),
                  "must be 'RollingUpdate' or 'OnDelete'");
    }
}

void check_job_spec(const json::object& spec, const std::string& path, Causes& out) {
    constexpr std::array<FieldRule, 9> rules{{
        {"parallelism", MustBe::not_negative},
        {"completions", MustBe::not_negative},
        {"activeDeadlineSeconds", MustBe::not_negative},
        {"backoffLimit", MustBe::not_negative},
        {"ttlSecondsAfterFinished", MustBe::not_negative},
        {"backoffLimitPerIndex", MustBe::not_negative},
        {"maxFailedIndexes", MustBe::not_negative},
        {"completionMode", MustBe::one_of, "NonIndexed Indexed"},
        {"podReplacementPolicy", MustBe::one_of, "Failed TerminatingOrFailed"},
    }};
    check_rules(rules, spec, path, out);
    const bool is_indexed = text_at(spec, "completionMode") == "Indexed";
    if (const json::value* limit = spec.if_contains("backoffLimitPerIndex");
        limit != nullptr && !is_indexed) {
        out.wrong(path + ".backoffLimitPerIndex", *limit, "requires indexed completion mode");
    }
    if (const json::value* policy = spec.if_contains("successPolicy");
        policy != nullptr && !is_indexed) {
        out.wrong(path + ".successPolicy", *policy, "requires indexed completion mode");
    }
    const std::string field = path + ".template.spec.restartPolicy";
    const std::string_view policy = text_at(spec, "template.spec.restartPolicy");
    if (policy == "Always" || policy.empty()) {
        out.required(field, "valid values: \"OnFailure\", \"Never\"");
    } else if (policy != "OnFailure" && policy != "Never") {
        constexpr std::array<std::string_view, 2> both{"OnFailure", "Never"};
        out.unsupported(field, json::value(policy), both);
    } else if (spec.contains("podFailurePolicy") && policy != "Never") {
        out.wrong(field, json::value(policy),
                  "only \"Never\" is supported when podFailurePolicy is specified");
    }
    check_template(spec, path, out);
}

void check_job(const json::object& object, Causes& out) {
    const json::object& spec = map_in(object, "spec");
    check_job_spec(spec, "spec", out);
    const std::string_view uid = text_at(object, "metadata.uid");
    const json::object* selector = kube::object_at(spec, "selector");
    const json::object& labels = map_in(spec, "template.metadata.labels");
    // Later it is fixed anyway.
    const bool is_new = text_at(object, "metadata.resourceVersion").empty();
    if (is_new && !kube::flag_at(spec, "manualSelector") && selector != nullptr) {
        const json::object own{
            {"matchLabels", json::object{{"batch.kubernetes.io/controller-uid", uid}}}};
        if (*selector != own) {
            out.wrong("spec.selector", *selector, "`selector` not auto-generated");
        }
    }
    if (selector == nullptr) { out.required("spec.selector"); }
    if (selector == nullptr || !selects(*selector, labels)) {
        out.wrong("spec.template.metadata.labels", value_or_null(spec, "template.metadata.labels"),
                  "`selector` does not match template `labels`");
    }
    const std::string_view name = name_of(object);
    const std::int64_t count = int_at(spec, "completions");
    if (text_at(spec, "completionMode") == "Indexed" && count > 0) {
        const std::string host = fmt::format("{}-{}", name, count - 1);
        if (!check_dns_label(host).empty()) {
            out.wrong("metadata.name", json::value(name),
                      fmt::format("will not able to create pod with invalid DNS label: {}", host));
        }
    }
}

void check_cron_job(const json::object& object, Causes& out) {
    constexpr std::array<FieldRule, 5> rules{{
        {"schedule", MustBe::there},
        {"concurrencyPolicy", MustBe::one_of, "Allow Forbid Replace"},
        {"startingDeadlineSeconds", MustBe::not_negative},
        {"successfulJobsHistoryLimit", MustBe::not_negative},
        {"failedJobsHistoryLimit", MustBe::not_negative},
    }};
    constexpr std::size_t name_max = 52;
    const json::object& spec = map_in(object, "spec");
    check_rules(rules, spec, "spec", out);
    const std::string_view name = name_of(object);
    if (name.size() > name_max) {
        out.wrong("metadata.name", json::value(name),
                  fmt::format("must be no more than {} characters", name_max));
    }
    const std::string_view schedule = text_at(spec, "schedule");
    if (schedule.find("TZ") != std::string_view::npos) {
        out.wrong("spec.schedule", json::value(schedule),
                  "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    } else if (!schedule.empty()) {
        if (const auto read = parse_cron(schedule); !read) {
            out.wrong("spec.schedule", json::value(schedule), read.error().message);
        }
    }
    if (spec.contains("timeZone") && text_at(spec, "timeZone").empty()) {
        out.wrong("spec.timeZone", json::value(""), "timeZone must be nil or non-empty string");
    }
    const json::object& job = map_in(spec, "jobTemplate.spec");
    check_job_spec(job, "spec.jobTemplate.spec", out);
    if (kube::flag_at(job, "manualSelector")) {
        std::vector<ApiCause> one{
            {.reason = "FieldValueNotSupported",
             .message = "Unsupported value: true: supported values: \"nil\", \"false\"",
             .field = "spec.jobTemplate.spec.manualSelector"}};
        out.add(std::move(one));
    }
    if (const json::value* selector = job.if_contains("selector")) {
        out.wrong("spec.jobTemplate.spec.selector", *selector, "`selector` will be auto-generated");
    }
}

}  // namespace

void check_workload(const ResourceType& type, const json::object& object, Causes& out) {
    const json::object& spec = map_in(object, "spec");
    if (type.plural == "jobs") { return check_job(object, out); }
    if (type.plural == "cronjobs") { return check_cron_job(object, out); }
    if (type.plural == "deployments") {
        check_own_selector(spec, "deployment", out);
        check_deployment(spec, out);
    } else if (type.plural == "replicasets") {
        constexpr std::array<FieldRule, 2> rules{{
            {"replicas", MustBe::not_negative},
            {"minReadySeconds", MustBe::not_negative},
        }};
        check_own_selector(spec, "ReplicaSet", out);
        check_rules(rules, spec, "spec", out);
    } else if (type.plural == "statefulsets") {
        check_own_selector(spec, "statefulset", out);
        check_stateful_set(spec, out);
    } else {
        return;
    }
    check_template(spec, "spec", out);
    check_kept_up(spec, out);
}

void check_workload_update(const ResourceType& type, const json::object& now,
                           const json::object& before, Causes& out) {
    if (type.plural == "deployments" || type.plural == "replicasets") {
        return check_fixed(now, before, "spec.selector", out);
    }
    if (type.plural == "statefulsets") {
        for (const std::string_view path :
             {"spec.selector", "spec.serviceName", "spec.podManagementPolicy"}) {
            check_fixed(now, before, path, out);
        }
        return;
    }
    if (type.plural != "jobs") { return; }
    check_fixed(now, before, "spec.selector", out);
    check_fixed(now, before, "spec.completionMode", out);
    check_fixed(now, before, "spec.podFailurePolicy", out);
    check_fixed(now, before, "spec.backoffLimitPerIndex", out);
    const bool was_suspended = kube::flag_at(before, "spec.suspend");
    if (!was_suspended) { check_fixed(now, before, "spec.template", out); }
    const bool is_indexed = text_at(now, "spec.completionMode") == "Indexed";
    // An indexed job may grow and shrink together with what runs at once.
    const bool grows_together =
        is_indexed && int_at(now, "spec.completions") == int_at(now, "spec.parallelism");
    if (!grows_together) { check_fixed(now, before, "spec.completions", out); }
}

}  // namespace muster::lab
