#include "lab/api_ask.h"
#include "lab/causes.h"
#include "lab/metadata.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

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

Outcome<> check_deletion(const json::object& options) {
    Causes out;
    const std::string_view policy = text_at(options, "propagationPolicy");
    if (!policy.empty() && options.contains("orphanDependents")) {
        out.wrong("propagationPolicy", json::value(policy),
                  "orphanDependents and deletionPropagation cannot be both set");
    }
    if (!policy.empty() && policy != "Orphan" && policy != "Background" && policy != "Foreground") {
        constexpr std::array<std::string_view, 4> supported{"Foreground", "Background", "Orphan",
                                                            "nil"};
        out.unsupported("propagationPolicy", json::value(policy), supported);
    }
    if (const json::array* dry = kube::array_at(options, "dryRun");
        dry != nullptr &&
        std::ranges::any_of(*dry, [](const json::value& one) { return one != "All"; })) {
        constexpr std::array<std::string_view, 1> all{"All"};
        out.unsupported("dryRun", *dry, all);
    }
    if (out.empty()) { return {}; }
    return invalid_options("DeleteOptions", out.take());
}

/// Kinds whose deletion answers with what was deleted; the others say that it was done.
bool gives_deleted(const ResourceType& type) {
    constexpr std::array<std::string_view, 8> kinds{
        "pods",          "services",       "serviceaccounts",        "resourcequotas",
        "deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"};
    return !type.is_custom && std::ranges::find(kinds, type.plural) != kinds.end();
}

bool is_dry(const json::object& options) {
    const json::array* dry = kube::array_at(options, "dryRun");
    return dry != nullptr && !dry->empty();
}

/// What the client says that it saw; refusals name the kind, unlike others.
Outcome<> check_preconditions(const ResourceType& type, std::string_view name,
                              const json::object& object, const json::object& options) {
    ResourceType named = type;
    named.plural = type.kind;
    const std::string_view uid = text_at(options, "preconditions.uid");
    const std::string_view has_uid = text_at(object, "metadata.uid");
    if (!uid.empty() && uid != has_uid) {
        return conflict(named, name,
                        fmt::format("the UID in the precondition ({}) does not match the UID in "
                                    "record ({}). The object might have been deleted and then "
                                    "recreated",
                                    uid, has_uid));
    }
    const std::string_view version = text_at(options, "preconditions.resourceVersion");
    const std::string_view has_version = text_at(object, "metadata.resourceVersion");
    if (!version.empty() && version != has_version) {
        return conflict(named, name,
                        fmt::format("the ResourceVersion in the precondition ({}) does not match "
                                    "the ResourceVersion in record ({}). The object might have "
                                    "been modified",
                                    version, has_version));
    }
    return {};
}

/// From the body, or without one from the query.
Outcome<json::object> read_options(const net::HttpRequest& request, const RequestPath& path) {
    json::object options;
    if (!request.body.empty()) {
        auto body = parse_body(request, false);
        if (!body) { return tl::unexpected(std::move(body.error())); }
        if (!body->is_object()) { return bad_request("DeleteOptions: expected an object"); }
        options = std::move(body->get_object());
        const std::string_view kind = text_at(options, "kind");
        if (!kind.empty() && kind != "DeleteOptions") {
            return bad_request(
                fmt::format("no kind \"{}\" is registered for version \"{}\" in "
                            "scheme \"pkg/runtime/scheme.go:111\"",
                            kind, text_at(options, "apiVersion")));
        }
    }
    for (const std::string_view key : {"propagationPolicy", "gracePeriodSeconds", "dryRun"}) {
        const auto found = path.query.find(key);
        if (found == path.query.end() || options.contains(key)) { continue; }
        if (key == "propagationPolicy") {
            options[key] = found->second;
            continue;
        }
        if (key == "dryRun") {
            options[key] = json::array{found->second};
            continue;
        }
        boost::system::error_code wrong;
        const json::value number = json::parse(found->second, wrong);
        if (wrong || !number.is_int64()) {
            return bad_request(fmt::format("strconv.ParseInt: parsing {}: invalid syntax",
                                           json::serialize(json::value(found->second))));
        }
        options[key] = number;
    }
    if (auto done = check_deletion(options); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    return options;
}

}  // namespace

Outcome<net::HttpResponse> Api::remove(Ask& ask) {
    auto options = read_options(ask.request, ask.path);
    if (!options) { return tl::unexpected(std::move(options.error())); }
    auto object = find(ask);
    if (!object) { return tl::unexpected(std::move(object.error())); }
    const bool keeps_pods = ask.type->group == "batch" && ask.type->plural == "jobs" &&
                            !options->contains("propagationPolicy") &&
                            !options->contains("orphanDependents");
    if (keeps_pods) {
        (*options)["propagationPolicy"] = "Orphan";
        ask.warnings.emplace_back(
            "child pods are preserved by default when jobs are deleted; set "
            "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
            "suppress this warning");
    }
    json::object before = *object;
    auto ended = begin_end(ask, std::move(*object), *options);
    if (!ended) { return tl::unexpected(std::move(ended.error())); }
    if (!ended->empty()) {  // it is still there
        return answer_object(registry_, *ask.type, 200, *ended, ask.request, options_.now());
    }
    if (ask.type->plural == "pods") {
        json::object& metadata = child(before, "metadata");
        if (!is_leaving(before)) {
            metadata["generation"] = int_at(metadata, "generation", 1) + 1;
            metadata["deletionTimestamp"] = time_text(options_.now());
        }
        metadata["deletionGracePeriodSeconds"] = 0;
    }
    if (gives_deleted(*ask.type)) {
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
    if (auto done = check_preconditions(type, ask.at.name, object, options); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    if (type.group.empty() && type.plural == "namespaces" &&
        (ask.at.name == "default" || ask.at.name == "kube-system" ||
         ask.at.name == "kube-public")) {
        return forbidden(type, ask.at.name, "this namespace may not be deleted");
    }
    if (type.plural == "priorityclasses" && ask.at.name.starts_with("system-")) {
        return forbidden(type, ask.at.name,
                         "this is a system priority class and cannot be deleted");
    }
    const bool was_leaving = is_leaving(object);
    std::string_view policy = text_at(options, "propagationPolicy");
    if (const json::value* orphans = options.if_contains("orphanDependents");
        policy.empty() && orphans != nullptr && orphans->is_bool()) {
        policy = orphans->get_bool() ? "Orphan" : "Background";
    }
    if (!was_leaving && policy == "Foreground") { add_finalizer(metadata, foreground); }
    if (!was_leaving && policy == "Orphan") { add_finalizer(metadata, orphan); }
    const std::int64_t grace = grace_of(type, object, options);
    const bool is_namespace = type.group.empty() && type.plural == "namespaces";
    const bool goes_now = grace == 0 && !has_finalizers(object) && !is_namespace;
    const bool is_tried = ask.is_dry() || is_dry(options);
    if (is_tried && goes_now) { return json::object(); }
    if (goes_now) {
        const auto removed = store_.remove(ask.storage, ask.key());
        if (auto done = written(removed); !done) { return tl::unexpected(std::move(done.error())); }
        return json::object();
    }
    if (was_leaving && grace >= int_at(metadata, "deletionGracePeriodSeconds", INT32_MAX)) {
        return object;
    }
    metadata["deletionTimestamp"] = time_text(options_.now() + grace * 1'000);
    if (!is_namespace) { metadata["deletionGracePeriodSeconds"] = grace; }
    if (!was_leaving && metadata.contains("generation")) {
        metadata["generation"] = int_at(metadata, "generation") + 1;
    }
    if (is_namespace) { child(object, "status")["phase"] = "Terminating"; }
    if (is_tried) { return object; }
    const auto stored = store_.put(ask.storage, ask.key(), object);
    if (auto done = written(stored); !done) { return tl::unexpected(std::move(done.error())); }
    return object;
}

Outcome<net::HttpResponse> Api::remove_collection(Ask& ask) {
    if (ask.type->is_namespaced && ask.at.space.empty()) { return not_allowed("resource"); }
    auto wanted = read_wanted(*ask.type, ask.query("labelSelector"), ask.query("fieldSelector"));
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
        json::object item = *object;
        if (!ask.type->is_custom) {
            item.erase("kind");
            item.erase("apiVersion");
        }
        items.push_back(std::move(item));
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
