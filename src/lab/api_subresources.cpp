#include "lab/api_ask.h"
#include "lab/metadata.h"
#include "lab/patch.h"
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
    if (!ask.type->has(sub)) { return no_such_path(); }
    if (sub == "status" || sub == "finalize") {
        if (method == "GET" || method == "HEAD") { return get(ask); }
        if (method == "PUT" && sub == "finalize") { return finalize(ask); }
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

/// What still holds a namespace that leaves; it goes when nothing does.
Outcome<net::HttpResponse> Api::finalize(Ask& ask) {
    auto body = read_body(ask);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    auto found = find(ask);
    if (!found) { return tl::unexpected(std::move(found.error())); }
    json::object now = std::move(*found);
    const json::array* kept = kube::array_at(*body, "spec.finalizers");
    json::object& spec = child(now, "spec");
    const bool is_free = kept == nullptr || kept->empty();
    if (is_free) {
        spec.erase("finalizers");
    } else {
        spec["finalizers"] = *kept;
    }
    const bool goes = is_free && is_leaving(now) && !has_finalizers(now);
    if (goes) {
        if (auto done = written(store_.remove(ask.storage, ask.key())); !done) {
            return tl::unexpected(std::move(done.error()));
        }
    } else if (auto done = written(store_.put(ask.storage, ask.key(), now)); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    return answer_object(registry_, *ask.type, 200, now, ask.request, options_.now());
}

/// A patch of a scale is one of the Scale that a client sees, not of the object behind it.
Outcome<json::value> Api::scale_sent(Ask& ask, const json::object& before) {
    auto body = parse_body(ask.request, false);
    if (!body) { return body; }
    if (ask.request.method == "PUT") { return body; }
    const std::string_view media = ask.request.header("Content-Type");
    if (media.starts_with("application/json-patch+json")) {
        auto patched = json_patch(json::value(scale_of(before)), *body);
        if (!patched) { return bad_request(patched.error().message); }
        return std::move(*patched);
    }
    return merge_patch(json::value(scale_of(before)), *body);
}

Outcome<net::HttpResponse> Api::scale(Ask& ask) {
    const std::string& method = ask.request.method;
    if (method != "GET" && method != "PUT" && method != "PATCH") { return not_allowed("resource"); }
    const auto before = find(ask);
    if (!before) { return tl::unexpected(before.error()); }
    const auto seen = [&](const json::object& object) {
        const json::object scale = scale_of(object);
        ResourceType type;
        type.group = "autoscaling";
        type.version = "v1";
        type.kind = "Scale";
        return answer_object(registry_, type, 200, scale, ask.request, options_.now());
    };
    if (method == "GET") { return seen(*before); }
    auto body = scale_sent(ask, *before);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (!body->is_object()) { return bad_request("Scale: expected an object"); }
    const json::value* wanted = value_at(body->get_object(), "spec.replicas");
    const json::value none(0);
    if (wanted == nullptr) { wanted = &none; }
    if (!wanted->is_int64() || wanted->get_int64() < 0) {
        ResourceType type;
        type.group = "autoscaling";
        type.kind = "Scale";
        return invalid(type, ask.at.name,
                       {{.reason = "FieldValueInvalid",
                         .message = fmt::format("Invalid value: {}: must be greater than or equal "
                                                "to 0",
                                                json::serialize(*wanted)),
                         .field = "spec.replicas"}});
    }
    json::object now = *before;
    child(now, "spec")["replicas"] = *wanted;
    const std::string_view version = text_at(body->get_object(), "metadata.resourceVersion");
    if (!version.empty()) { child(now, "metadata")["resourceVersion"] = version; }
    auto changed = store_changed(ask, std::move(now), *before);
    if (!changed) { return tl::unexpected(std::move(changed.error())); }
    return seen(*changed);
}

Outcome<net::HttpResponse> Api::bind(Ask& ask) {
    auto body = parse_body(ask.request, false);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (!body->is_object()) { return bad_request("Binding: expected an object"); }
    const json::object& binding = body->get_object();
    const std::string node(text_at(binding, "target.name"));
    const std::string_view kind = text_at(binding, "target.kind");
    if (const std::string_view name = name_of(binding); !name.empty() && name != ask.at.name) {
        return bad_request("name in URL does not match name in Binding object");
    }
    if (!kind.empty() && kind != "Node") {
        return internal_error(
            fmt::format("target.kind: Unsupported value: {}: supported values: "
                        "\"Node\", \"<empty>\"",
                        json::serialize(json::value(kind))));
    }
    if (node.empty()) { return internal_error("target.name: Required value"); }
    auto found = find(ask);
    if (!found) { return tl::unexpected(std::move(found.error())); }
    json::object& pod = *found;
    ResourceType bound = *ask.type;
    bound.plural = "pods/binding";
    if (const std::string_view uid = text_at(binding, "metadata.uid");
        !uid.empty() && uid != text_at(pod, "metadata.uid")) {
        return conflict(*ask.type, ask.at.name,
                        fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                    "meta: {}",
                                    uid, text_at(pod, "metadata.uid")));
    }
    if (is_leaving(pod)) {
        return conflict(
            bound, ask.at.name,
            fmt::format("pod {} is being deleted, cannot be assigned to a host", ask.at.name));
    }
    if (const std::string_view has = text_at(pod, "spec.nodeName"); !has.empty()) {
        return conflict(bound, ask.at.name,
                        fmt::format("pod {} is already assigned to node \"{}\"", ask.at.name, has));
    }
    const json::value* gates = value_at(pod, "spec.schedulingGates");
    if (gates != nullptr && gates->is_array() && !gates->get_array().empty()) {
        return conflict(bound, ask.at.name,
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
        if (auto done = written(store_.put(ask.storage, ask.key(), pod)); !done) {
            return tl::unexpected(std::move(done.error()));
        }
    }
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
    if (kind == "TokenReview" && text_at(out, "spec.token").empty()) {
        return bad_request("token is required for TokenReview in authentication");
    }
    if (kind.ends_with("AccessReview") &&
        (value_at(out, "spec.resourceAttributes") == nullptr) ==
            (value_at(out, "spec.nonResourceAttributes") == nullptr)) {
        ResourceType nameless;
        nameless.group = ask.type->group;
        const json::value* other = value_at(out, "spec.nonResourceAttributes");
        return invalid(
            nameless, "",
            {{.reason = "FieldValueInvalid",
              .message = fmt::format("Invalid value: {}: exactly one of "
                                     "nonResourceAttributes or resourceAttributes must "
                                     "be specified",
                                     other == nullptr ? "null" : json::serialize(*other)),
              .field = "spec"}});
    }
    if (kind == "SelfSubjectReview") {
        out["status"] = json::object{{"userInfo", user}};
    } else if (kind == "TokenReview") {
        const bool is_known =
            !options_.token.empty() && text_at(out, "spec.token") == options_.token;
        json::object status;
        if (is_known) { status = {{"authenticated", true}, {"user", user}}; }
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
