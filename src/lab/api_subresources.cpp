#include "lab/api_ask.h"
#include "lab/metadata.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

json::object success(int code) {
    return {{"kind", "Status"},
            {"apiVersion", "v1"},
            {"metadata", json::object()},
            {"status", "Success"},
            {"code", code}};
}

json::object scale_of(const json::object& object) {
    json::object metadata;
    for (const std::string_view key :
         {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
        if (const json::value* found = value_at(object, fmt::format("metadata.{}", key))) {
            metadata[key] = *found;
        }
    }
    json::object status{{"replicas", int_at(object, "status.replicas")}};
    std::string selector;
    if (const json::value* labels = value_at(object, "spec.selector.matchLabels");
        labels != nullptr && labels->is_object()) {
        for (const auto& [key, value] : labels->get_object()) {
            if (!selector.empty()) { selector += ','; }
            selector += fmt::format(
                "{}={}", std::string_view(key),
                value.is_string() ? std::string_view(value.get_string()) : std::string_view());
        }
    }
    if (!selector.empty()) { status["selector"] = selector; }
    return {{"kind", "Scale"},
            {"apiVersion", "autoscaling/v1"},
            {"metadata", std::move(metadata)},
            {"spec", {{"replicas", int_at(object, "spec.replicas")}}},
            {"status", std::move(status)}};
}

/// `True` since now, in place of what was said before.
void set_condition(json::object& object, std::string_view type, std::string_view now) {
    json::array& conditions = children(child(object, "status"), "conditions");
    const auto found =
        std::find_if(conditions.begin(), conditions.end(), [&](const json::value& one) {
            return one.is_object() && text_at(one.get_object(), "type") == type;
        });
    json::object condition{{"type", type},
                           {"status", "True"},
                           {"lastProbeTime", nullptr},
                           {"lastTransitionTime", now}};
    if (found == conditions.end()) {
        conditions.push_back(std::move(condition));
    } else {
        *found = std::move(condition);
    }
}

}  // namespace

Outcome<net::HttpResponse> Api::subresource(Ask& ask) {
    const std::string& method = ask.request.method;
    const std::string& sub = ask.at.subresource;
    // "finalize" of a namespace takes its finalizers away, which is an update here.
    if (!ask.type->has(sub)) { return no_such_path(); }
    if (sub == "status" || sub == "finalize") {
        if (method == "GET" || method == "HEAD") { return get(ask); }
        if (method == "PUT") { return update(ask); }
        if (method == "PATCH" && sub == "status") { return patch(ask); }
    } else if (sub == "scale") {
        return scale(ask);
    } else if (sub == "binding" && method == "POST") {
        return bind(ask);
    } else if (sub == "eviction" && method == "POST") {
        return evict(ask);
    } else if (sub == "log" && method == "GET") {
        return log(ask);
    } else if (sub == "exec" || sub == "attach" || sub == "portforward") {
        return exec(ask);
    }
    return not_allowed("resource");
}

Outcome<net::HttpResponse> Api::scale(Ask& ask) {
    const auto before = find(ask);
    if (!before) { return tl::unexpected(before.error()); }
    const std::string& method = ask.request.method;
    if (method == "GET") { return answer(200, scale_of(*before)); }
    if (method != "PUT" && method != "PATCH") { return not_allowed("resource"); }
    auto body = parse_body(ask.request, false);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (!body->is_object()) { return bad_request("Scale: expected an object"); }
    const json::value* wanted = value_at(body->get_object(), "spec.replicas");
    if (wanted == nullptr || !wanted->is_int64() || wanted->get_int64() < 0) {
        return bad_request("Scale: spec.replicas: expected a number from 0 on");
    }
    json::object now = *before;
    child(now, "spec")["replicas"] = *wanted;
    const std::string_view version = text_at(body->get_object(), "metadata.resourceVersion");
    if (!version.empty()) { child(now, "metadata")["resourceVersion"] = version; }
    ask.at.subresource.clear();
    auto changed = store_changed(ask, std::move(now), *before);
    if (!changed) { return tl::unexpected(std::move(changed.error())); }
    return answer(200, scale_of(*changed));
}

Outcome<net::HttpResponse> Api::bind(Ask& ask) {
    auto body = parse_body(ask.request, false);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (!body->is_object()) { return bad_request("Binding: expected an object"); }
    const json::object& binding = body->get_object();
    const std::string node(text_at(binding, "target.name"));
    if (node.empty()) {
        return invalid(*ask.type, ask.at.name,
                       {{.reason = "FieldValueRequired",
                         .message = "Required value",
                         .field = "target.name"}});
    }
    auto found = find(ask);
    if (!found) { return tl::unexpected(std::move(found.error())); }
    json::object& pod = *found;
    if (const std::string_view uid = text_at(binding, "metadata.uid");
        !uid.empty() && uid != text_at(pod, "metadata.uid")) {
        return conflict(*ask.type, ask.at.name,
                        fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                    "meta: {}",
                                    uid, text_at(pod, "metadata.uid")));
    }
    if (is_leaving(pod)) {
        return conflict(
            *ask.type, ask.at.name,
            fmt::format("pod {} is being deleted, cannot be assigned to a host", ask.at.name));
    }
    if (const std::string_view has = text_at(pod, "spec.nodeName"); !has.empty()) {
        return conflict(*ask.type, ask.at.name,
                        fmt::format("pod {} is already assigned to node \"{}\"", ask.at.name, has));
    }
    const json::value* gates = value_at(pod, "spec.schedulingGates");
    if (gates != nullptr && gates->is_array() && !gates->get_array().empty()) {
        return conflict(*ask.type, ask.at.name,
                        fmt::format("pod {} has non-empty .spec.schedulingGates", ask.at.name));
    }
    child(pod, "spec")["nodeName"] = node;
    set_condition(pod, "PodScheduled", time_text(options_.now()));
    if (const json::value* notes = value_at(binding, "metadata.annotations");
        notes != nullptr && notes->is_object()) {
        json::object& annotations = child(child(pod, "metadata"), "annotations");
        for (const auto& [key, value] : notes->get_object()) { annotations[key] = value; }
    }
    if (!ask.is_dry()) {
        if (auto done = written(store_.put(ask.storage, ask.key(), std::move(pod))); !done) {
            return tl::unexpected(std::move(done.error()));
        }
    }
    return answer(201, success(201));
}

/// A budget that would be broken answers 429, as the eviction API does.
Outcome<net::HttpResponse> Api::evict(Ask& ask) {
    json::object options;
    if (!ask.request.body.empty()) {
        auto body = parse_body(ask.request, false);
        if (!body) { return tl::unexpected(std::move(body.error())); }
        if (body->is_object()) {
            if (const json::value* found = body->get_object().if_contains("deleteOptions");
                found != nullptr && found->is_object()) {
                options = found->get_object();
            }
        }
    }
    auto pod = find(ask);
    if (!pod) { return tl::unexpected(std::move(pod.error())); }
    const json::value* labels = value_at(*pod, "metadata.labels");
    const bool counts = is_standing(*pod);
    for (const auto& [key, stored] : store_.all("policy/poddisruptionbudgets")) {
        if (key.first != ask.at.space || !counts) { continue; }
        const json::value budget = json::parse(*stored.text);
        const json::value* wanted = value_at(budget.get_object(), "spec.selector");
        const auto selector =
            read_label_selector(wanted == nullptr ? json::value(nullptr) : *wanted);
        if (!selector || wanted == nullptr ||
            !matches_labels(*selector, labels == nullptr ? nullptr : labels->if_object())) {
            continue;
        }
        if (int_at(budget.get_object(), "status.disruptionsAllowed") > 0) { continue; }
        ApiError error{
            .code = 429,
            .reason = "TooManyRequests",
            .message = "Cannot evict pod as it would violate the pod's disruption budget."};
        error.causes.push_back(
            {.reason = "DisruptionBudget",
             .message =
                 fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                             key.second, int_at(budget.get_object(), "status.desiredHealthy"),
                             int_at(budget.get_object(), "status.currentHealthy")),
             .field = ""});
        return tl::unexpected(std::move(error));
    }
    ask.at.subresource.clear();
    auto ended = begin_end(ask, std::move(*pod), options);
    if (!ended) { return tl::unexpected(std::move(ended.error())); }
    return answer(201, success(201));
}

/// Pods of the lab print nothing; what they would have done is told instead.
Outcome<net::HttpResponse> Api::log(Ask& ask) {
    const auto pod = find(ask);
    if (!pod) { return tl::unexpected(pod.error()); }
    const std::string_view node = text_at(*pod, "spec.nodeName");
    if (node.empty()) {
        return bad_request(fmt::format("pod {} does not have a host assigned", ask.at.name));
    }
    std::string text = fmt::format("fake pod {}/{} on node {}: {}\n", ask.at.space, ask.at.name,
                                   node, text_at(*pod, "status.phase"));
    const std::string_view began = text_at(*pod, "status.startTime");
    if (!began.empty()) { text += fmt::format("started at {}\n", began); }
    return net::HttpResponse{.status = 200,
                             .headers = {{"Content-Type", "text/plain"}},
                             .body = std::move(text),
                             .stream = nullptr};
}

/// Whoever got in may do everything.
Outcome<net::HttpResponse> Api::review(Ask& ask) {
    auto body = read_body(ask);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    json::object out = std::move(*body);
    const json::object user{{"username", "muster-admin"},
                            {"groups", json::array{"system:masters", "system:authenticated"}}};
    const std::string& kind = ask.type->kind;
    if (kind == "SelfSubjectReview") {
        out["status"] = json::object{{"userInfo", user}};
    } else if (kind == "TokenReview") {
        const bool is_known =
            !options_.token.empty() && text_at(out, "spec.token") == options_.token;
        json::object status{{"authenticated", is_known}};
        if (is_known) { status["user"] = user; }
        out["status"] = std::move(status);
    } else if (kind == "SelfSubjectRulesReview") {
        const json::array all{"*"};
        out["status"] = json::object{
            {"resourceRules",
             json::array{json::object{{"verbs", all}, {"apiGroups", all}, {"resources", all}}}},
            {"nonResourceRules",
             json::array{json::object{{"verbs", all}, {"nonResourceURLs", all}}}},
            {"incomplete", false}};
    } else {
        out["status"] = json::object{{"allowed", true}};
    }
    return answer(201, out);
}

}  // namespace muster::lab
