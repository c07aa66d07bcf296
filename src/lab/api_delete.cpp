#include "lab/api_ask.h"
#include "lab/metadata.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view foreground = "foregroundDeletion";
constexpr std::string_view orphan = "orphan";

void add_finalizer(json::object& metadata, std::string_view name) {
    json::array& finalizers = children(metadata, "finalizers");
    const bool is_there =
        std::any_of(finalizers.begin(), finalizers.end(), [&](const json::value& one) {
            return one.is_string() && std::string_view(one.get_string()) == name;
        });
    if (!is_there) { finalizers.push_back(json::value(name)); }
}

/// A pod that has a node goes when its kubelet says so; one that has none, or ran to its end, at
/// once.
std::int64_t grace_of(const ResourceType& type, const json::object& object,
                      const json::object& options) {
    if (!type.group.empty() || type.plural != "pods") { return 0; }
    if (text_at(object, "spec.nodeName").empty() || is_over(object)) { return 0; }
    return std::max<std::int64_t>(0,
                                  int_at(options, "gracePeriodSeconds",
                                         int_at(object, "spec.terminationGracePeriodSeconds", 30)));
}

Outcome<json::object> read_options(const net::HttpRequest& request, const RequestPath& path) {
    json::object options;
    if (!request.body.empty()) {
        auto body = parse_body(request, false);
        if (!body) { return tl::unexpected(std::move(body.error())); }
        if (!body->is_object()) { return bad_request("DeleteOptions: expected an object"); }
        options = std::move(body->get_object());
    }
    for (const std::string_view key : {"propagationPolicy", "gracePeriodSeconds"}) {
        const auto found = path.query.find(key);
        if (found == path.query.end()) { continue; }
        if (key == "propagationPolicy") {
            options[key] = found->second;
            continue;
        }
        boost::system::error_code wrong;
        const json::value number = json::parse(found->second, wrong);
        if (wrong || !number.is_int64()) {
            return bad_request(
                fmt::format("gracePeriodSeconds: \"{}\" is no number", found->second));
        }
        options[key] = number;
    }
    return options;
}

}  // namespace

Outcome<net::HttpResponse> Api::remove(Ask& ask) {
    auto options = read_options(ask.request, ask.path);
    if (!options) { return tl::unexpected(std::move(options.error())); }
    auto object = find(ask);
    if (!object) { return tl::unexpected(std::move(object.error())); }
    const json::object before = *object;
    auto ended = begin_end(ask, std::move(*object), *options);
    if (!ended) { return tl::unexpected(std::move(ended.error())); }
    if (!ended->empty()) {  // it is still there
        return answer_object(registry_, *ask.type, 200, *ended, ask.request, options_.now());
    }
    if (ask.type->plural == "pods") {
        return answer_object(registry_, *ask.type, 200, before, ask.request, options_.now());
    }
    json::object details{{"name", ask.at.name}};
    if (!ask.type->group.empty()) { details["group"] = ask.type->group; }
    details["kind"] = ask.type->plural;
    details["uid"] = text_at(before, "metadata.uid");
    return answer(200, {{"kind", "Status"},
                        {"apiVersion", "v1"},
                        {"metadata", json::object()},
                        {"status", "Success"},
                        {"details", std::move(details)}});
}

/// What is left of it: nothing when it has gone.
Outcome<json::object> Api::begin_end(Ask& ask, json::object object, const json::object& options) {
    const ResourceType& type = *ask.type;
    json::object& metadata = child(object, "metadata");
    for (const auto& [key, what] : {std::pair<std::string_view, std::string_view>{"uid", "UID"},
                                    {"resourceVersion", "ResourceVersion"}}) {
        const std::string_view wanted = text_at(options, fmt::format("preconditions.{}", key));
        if (!wanted.empty() && wanted != text_at(metadata, key)) {
            return conflict(type, ask.at.name,
                            fmt::format("Precondition failed: {} in precondition: {}, {} in object "
                                        "meta: {}",
                                        what, wanted, what, text_at(metadata, key)));
        }
    }
    const bool was_leaving = is_leaving(object);
    std::string_view policy = text_at(options, "propagationPolicy");
    if (const json::value* orphans = options.if_contains("orphanDependents");
        policy.empty() && orphans != nullptr && orphans->is_bool()) {
        policy = orphans->get_bool() ? "Orphan" : "Background";
    }
    if (!policy.empty() && policy != "Orphan" && policy != "Background" && policy != "Foreground") {
        return invalid(type, ask.at.name,
                       {{.reason = "FieldValueInvalid",
                         .message = fmt::format("Invalid value: \"{}\": must be \"Foreground\", "
                                                "\"Background\" or \"Orphan\"",
                                                policy),
                         .field = "propagationPolicy"}});
    }
    if (!was_leaving && policy == "Foreground") { add_finalizer(metadata, foreground); }
    if (!was_leaving && policy == "Orphan") { add_finalizer(metadata, orphan); }
    const std::int64_t grace = grace_of(type, object, options);
    const bool is_namespace = type.group.empty() && type.plural == "namespaces";
    const bool goes_now = grace == 0 && !has_finalizers(object) && !is_namespace;
    if (ask.is_dry()) { return goes_now ? json::object() : object; }
    if (goes_now) {
        const auto removed = store_.remove(ask.storage, ask.key());
        if (auto done = written(removed); !done) { return tl::unexpected(std::move(done.error())); }
        return json::object();
    }
    if (was_leaving && grace >= int_at(metadata, "deletionGracePeriodSeconds", INT32_MAX)) {
        return object;
    }
    metadata["deletionTimestamp"] = time_text(options_.now() + grace * 1'000);
    metadata["deletionGracePeriodSeconds"] = grace;
    if (metadata.contains("generation")) {
        metadata["generation"] = int_at(metadata, "generation") + 1;
    }
    if (is_namespace) { child(object, "status")["phase"] = "Terminating"; }
    const auto stored = store_.put(ask.storage, ask.key(), std::move(object));
    if (auto done = written(stored); !done) { return tl::unexpected(std::move(done.error())); }
    return json::parse(*stored->text).get_object();
}

Outcome<net::HttpResponse> Api::remove_collection(Ask& ask) {
    if (ask.type->is_namespaced && ask.at.space.empty()) { return not_allowed("resource"); }
    auto wanted = read_wanted(ask.query("labelSelector"), ask.query("fieldSelector"));
    if (!wanted) { return tl::unexpected(std::move(wanted.error())); }
    auto options = read_options(ask.request, ask.path);
    if (!options) { return tl::unexpected(std::move(options.error())); }
    std::vector<Key> keys;
    for (const auto& [key, stored] : store_.all(ask.storage)) {
        if (!ask.at.space.empty() && key.first != ask.at.space) { continue; }
        if (wanted->takes(key, stored)) { keys.push_back(key); }
    }
    json::array items;
    for (const Key& key : keys) {
        ask.at.space = key.first;
        ask.at.name = key.second;
        auto object = find(ask);
        if (!object) { continue; }
        items.push_back(*object);
        auto ended = begin_end(ask, std::move(*object), *options);
        if (!ended) { return tl::unexpected(std::move(ended.error())); }
    }
    return answer(200, {{"kind", ask.type->kind + "List"},
                        {"apiVersion", ask.type->api_version()},
                        {"metadata", {{"resourceVersion", std::to_string(store_.version())}}},
                        {"items", std::move(items)}});
}

Outcome<> Api::erase(const ResourceType& type, const Key& key) {
    return written(store_.remove(storage_name(type), key));
}

}  // namespace muster::lab
