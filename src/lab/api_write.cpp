#include "lab/api_ask.h"
#include "lab/apply.h"
#include "lab/check_metadata.h"
#include "lab/limit_range.h"
#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// What no client writes.
constexpr std::array<std::string_view, 6> system_metadata{
    "uid",        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "generation", "selfLink"};

/// Two states without what every write changes.
bool is_same(json::object a, json::object b) {
    for (json::object* one : {&a, &b}) {
        json::object& metadata = child(*one, "metadata");
        metadata.erase("resourceVersion");
        metadata.erase("managedFields");
        metadata.erase("generation");
    }
    return a == b;
}

/// Whether the generation counts: anything but metadata and status is another. Deployments count
/// annotations too.
bool has_other_spec(const ResourceType& type, const json::object& a, const json::object& b) {
    if (type.plural == "priorityclasses") { return false; }
    if (type.plural == "deployments") {
        const json::value* left = value_at(a, "metadata.annotations");
        const json::value* right = value_at(b, "metadata.annotations");
        if ((left == nullptr) != (right == nullptr) || (left != nullptr && *left != *right)) {
            return true;
        }
    }
    const auto rest = [](json::object one) {
        one.erase("metadata");
        one.erase("status");
        return one;
    };
    return rest(a) != rest(b);
}

/// What a status of a pod or a node has although nobody said it: times of conditions, for their
/// type has no way to leave them out; a class of service that stays; what may be used of a node.
void fill_conditions(const ResourceType& type, const json::object& before, json::object& object) {
    const bool is_pod = type.group.empty() && type.plural == "pods";
    if (!is_pod && (!type.group.empty() || type.plural != "nodes")) { return; }
    json::object& status = child(object, "status");
    if (const json::value* quality = value_at(before, "status.qosClass");
        is_pod && quality != nullptr && !status.contains("qosClass")) {
        status["qosClass"] = *quality;
    }
    if (const json::value* capacity = value_at(object, "status.capacity");
        !is_pod && capacity != nullptr && !status.contains("allocatable")) {
        const json::value copy = *capacity;
        status["allocatable"] = copy;
    }
    if (is_pod && status.contains("containerStatuses")) {
        for (json::value& one : children(status, "containerStatuses")) {
            if (!one.is_object()) { continue; }
            for (const std::string_view key : {"state", "lastState"}) {
                child(one.get_object(), key);
            }
        }
    }
    if (value_at(object, "status.conditions") == nullptr) { return; }
    for (json::value& one : children(child(object, "status"), "conditions")) {
        if (!one.is_object()) { continue; }
        for (const std::string_view key :
             {std::string_view(is_pod ? "lastProbeTime" : "lastHeartbeatTime"),
              std::string_view("lastTransitionTime")}) {
            if (!one.get_object().contains(key)) { one.get_object()[key] = nullptr; }
        }
    }
}

/// The object before with another status. Labels and annotations of built-in kinds come with it,
/// as they do on a real server.
json::object with_status(const ResourceType& type, const json::object& before,
                         const json::object& now, bool is_apply) {
    json::object whole = before;
    if (const json::value* owners = value_at(now, "metadata.managedFields");
        is_apply && owners != nullptr) {
        child(whole, "metadata")["managedFields"] = *owners;
    }
    const json::value* status = now.if_contains("status");
    if (status != nullptr) {
        whole["status"] = *status;
    } else if (!type.is_custom) {
        whole["status"] = json::object();
    } else {
        whole.erase("status");
    }
    if (type.is_custom) { return whole; }
    fill_conditions(type, before, whole);
    for (const std::string_view key : {"labels", "annotations"}) {
        const json::value* sent = value_at(now, fmt::format("metadata.{}", key));
        if (sent == nullptr || sent->is_null()) {
            child(whole, "metadata").erase(key);
        } else {
            child(whole, "metadata")[key] = *sent;
        }
    }
    return whole;
}

/// Kinds that nobody may replace without saying what they saw.
bool needs_version(const ResourceType& type) {
    return type.is_custom || type.plural == "leases" || type.plural == "poddisruptionbudgets" ||
           type.plural == "customresourcedefinitions" ||
           (type.group == "scheduling.k8s.io" && type.plural != "priorityclasses");
}

bool counts_generations(const ResourceType& type) {
    constexpr std::array<std::string_view, 5> others{"pods", "priorityclasses", "deviceclasses",
                                                     "resourceslices", "customresourcedefinitions"};
    return type.is_custom || type.group == "apps" || type.group == "batch" ||
           type.group == "policy" || type.group.ends_with(".volcano.sh") ||
           std::ranges::find(others, type.plural) != others.end();
}

/// Kinds that come to be when they are replaced without being there.
bool is_made_by_update(const ResourceType& type) {
    return (type.group.empty() && (type.plural == "services" || type.plural == "events" ||
                                   type.plural == "limitranges")) ||
           type.plural == "leases";
}

}  // namespace

Outcome<net::HttpResponse> Api::create(Ask& ask) {
    if (ask.type->is_namespaced && ask.at.space.empty()) { return not_allowed("resource"); }
    if (auto done = check_options("CreateOptions", ask.path); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    auto body = read_body(ask);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    auto made = store_new(ask, std::move(*body));
    if (!made) { return tl::unexpected(std::move(made.error())); }
    return answer_object(registry_, *ask.type, 201, *made, ask.request, options_.now());
}

Outcome<json::object> Api::store_new(Ask& ask, json::object object) {
    const ResourceType& type = *ask.type;
    json::object& metadata = child(object, "metadata");
    std::string name(text_at(metadata, "name"));
    if (name.empty() && type.group.empty() && type.plural == "limitranges") {
        name = new_uid();  // the only kind that needs none
        metadata["name"] = name;
    }
    if (name.empty()) {
        const std::string_view prefix = text_at(metadata, "generateName");
        if (!prefix.empty()) {
            name = std::string(prefix.substr(0, 58)) + random_suffix();
            metadata["name"] = name;
        }
    }
    if (!text_at(metadata, "resourceVersion").empty() && !ask.is_apply()) {
        return internal_error("resourceVersion should not be set on objects to be created");
    }
    ask.at.name = name;
    if (type.is_namespaced) {
        const ResourceType* spaces = registry_.find("", "v1", "namespaces");
        const Stored* space = store_.find("namespaces", {"", ask.at.space});
        if (space == nullptr) { return not_found(*spaces, ask.at.space); }
        const json::value parsed = json::parse(*space->text);
        if (is_leaving(parsed.get_object())) {
            auto refused =
                forbidden(type, name,
                          fmt::format("unable to create new content in namespace {} because it is "
                                      "being terminated",
                                      ask.at.space));
            refused.value().causes.push_back(
                {.reason = "NamespaceTerminating",
                 .message = fmt::format("namespace {} is being terminated", ask.at.space),
                 .field = "metadata.namespace"});
            return refused;
        }
    }
    const std::string now = time_text(options_.now());
    for (const std::string_view key : system_metadata) { metadata.erase(key); }
    metadata.erase("resourceVersion");
    metadata["uid"] = new_uid();
    metadata["creationTimestamp"] = now;
    if (counts_generations(type)) { metadata["generation"] = 1; }
    begin_status(type, object);
    fill_kind(type, object);
    note_owner(ask, object, nullptr);
    if (auto admitted = admit_kind(type, object, nullptr, store_); !admitted) {
        return tl::unexpected(std::move(admitted.error()));
    }
    fill_admitted(ask, object);
    Causes causes;
    check_metadata(type, object, causes);
    if (type.plural == "customresourcedefinitions") { causes.add(check_definition(object)); }
    causes.add(check_kind(type, object));
    if (!causes.empty()) { return invalid(type, name, causes.take()); }
    if (type.plural == "customresourcedefinitions") { establish(object, now); }
    if (const Stored* there = store_.find(ask.storage, ask.key()); there != nullptr) {
        auto refused = already_exists(type, name);
        if (is_leaving(json::parse(*there->text).get_object())) {
            refused.value().message = "object is being deleted: " + refused.value().message;
        }
        return refused;
    }
    if (auto admitted = admit(ask, object); !admitted) {
        return tl::unexpected(std::move(admitted.error()));
    }
    finish_kind(type, object);
    if (ask.is_dry()) { return object; }
    object = kind_first(std::move(object));
    const auto stored = store_.put(ask.storage, ask.key(), object);
    if (auto done = written(stored); !done) { return tl::unexpected(std::move(done.error())); }
    return object;
}

void Api::fill_admitted(const Ask& ask, json::object& object) const {
    if (ask.storage != "pods") { return; }
    fill_by_limit_ranges(object, ask.at.space, store_);
    child(object, "status")["qosClass"] = qos_class(child(object, "spec"));
}

Outcome<> Api::admit(const Ask& ask, const json::object& object) const {
    if (!ask.type->is_namespaced) { return {}; }
    if (ask.storage == "pods") {
        const auto wrong = check_limit_ranges(object, ask.at.space, store_);
        if (wrong.size() == 1) { return forbidden(*ask.type, ask.at.name, wrong.front()); }
        if (!wrong.empty()) {
            return forbidden(*ask.type, ask.at.name, fmt::format("[{}]", fmt::join(wrong, ", ")));
        }
    }
    if (!quotas_) { return {}; }
    if (const std::string why = quotas_->refusal(ask.storage, ask.at.space, object); !why.empty()) {
        return forbidden(*ask.type, ask.at.name, why);
    }
    return {};
}

Outcome<net::HttpResponse> Api::update(Ask& ask) {
    if (auto done = check_options("UpdateOptions", ask.path); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    auto body = read_body(ask);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (const std::string_view name = name_of(*body); !name.empty() && name != ask.at.name) {
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        ask.at.name));
    }
    const auto before = find(ask);
    if (!before && before.error().code == 404 && ask.at.subresource.empty() &&
        is_made_by_update(*ask.type)) {
        auto made = store_new(ask, std::move(*body));
        if (!made) { return tl::unexpected(std::move(made.error())); }
        return answer_object(registry_, *ask.type, 201, *made, ask.request, options_.now());
    }
    if (!before) { return tl::unexpected(before.error()); }
    if (ask.at.subresource.empty() && needs_version(*ask.type) &&
        text_at(*body, "metadata.resourceVersion").empty()) {
        ResourceType named = *ask.type;  // told by its resource, unlike other refusals
        named.kind = named.plural;
        return invalid(named, ask.at.name,
                       {{.reason = "FieldValueInvalid",
                         .message = "Invalid value: 0: must be specified for an update",
                         .field = "metadata.resourceVersion"}});
    }
    auto changed = store_changed(ask, std::move(*body), *before);
    if (!changed) { return tl::unexpected(std::move(changed.error())); }
    return answer_object(registry_, *ask.type, 200, *changed, ask.request, options_.now());
}

/// Who wrote which field of what was sent: what the server adds by itself has no owner.
void Api::note_owner(const Ask& ask, json::object& now, const json::object* before) {
    const auto schema = registry_.schema(*ask.type);
    if (!schema || ask.is_apply()) { return; }
    json::object& metadata = child(now, "metadata");
    const json::value* had =
        before == nullptr ? nullptr : value_at(*before, "metadata.managedFields");
    // Kubernetes keeps no account of what had none, until somebody applies it.
    const bool is_known = had != nullptr && had->is_array() && !had->get_array().empty();
    if (before == nullptr ? is_loading_ : !is_known) { return; }
    if (!metadata.contains("managedFields") && had != nullptr) { metadata["managedFields"] = *had; }
    json::value whole(std::move(now));
    const Manager manager{.name = ask.manager(),
                          .api_version = ask.type->api_version(),
                          .subresource = before == nullptr ? "" : ask.at.subresource,
                          .time = time_text(options_.now())};
    if (before != nullptr) {
        note_update(json::value(*before), whole, *schema, manager);
    } else if (ask.type->is_custom) {  // its schema may become another one
        note_update(json::value(nullptr), whole, *schema, manager);
    } else {
        owners_.note_create(ask.type->kind, whole, *schema, manager);
    }
    now = std::move(whole.get_object());
}

/// Everything but the status: what no client writes stays, what is not said is filled in.
Outcome<> Api::settle_main(const Ask& ask, json::object& now, const json::object& before) {
    const ResourceType& type = *ask.type;
    const json::object& had = before.at("metadata").as_object();
    json::object& metadata = child(now, "metadata");
    for (const std::string_view key : system_metadata) {
        metadata.erase(key);
        if (const json::value* kept = had.if_contains(key)) { metadata[key] = *kept; }
    }
    metadata["name"] = ask.at.name;
    if (type.has("status")) {
        now.erase("status");
        if (const json::value* status = before.if_contains("status")) { now["status"] = *status; }
    }
    fill_kind(type, now);
    note_owner(ask, now, &before);
    if (auto admitted = admit_kind(type, now, &before, store_); !admitted) { return admitted; }
    if (type.plural == "customresourcedefinitions") {
        if (auto causes = check_definition(now); !causes.empty()) {
            return invalid(type, ask.at.name, std::move(causes));
        }
        establish(now, time_text(options_.now()));
    }
    Causes causes;
    check_metadata_update(now, before, causes);
    causes.add(check_kind(type, now));
    causes.add(check_kind_update(type, now, before));
    if (!causes.empty()) { return invalid(type, ask.at.name, causes.take()); }
    return {};
}

/// `now` may be anything that a client sent or a patch came to.
Outcome<json::object> Api::store_changed(Ask& ask, json::object now, const json::object& before) {
    const ResourceType& type = *ask.type;
    const json::object& had = before.at("metadata").as_object();
    json::object& metadata = child(now, "metadata");
    const std::string_view version = text_at(metadata, "resourceVersion");
    const std::string_view uid = text_at(metadata, "uid");
    if (!version.empty() && version != "0" && version != text_at(had, "resourceVersion")) {
        return conflict(type, ask.at.name,
                        "the object has been modified; please apply your changes to the latest "
                        "version and try again");
    }
    if (!uid.empty() && uid != text_at(had, "uid") && ask.request.method == "PATCH") {
        return invalid(type, ask.at.name,
                       {{.reason = "FieldValueInvalid",
                         .message = fmt::format("Invalid value: {}: field is immutable",
                                                json::serialize(json::value(uid))),
                         .field = "metadata.uid"}});
    }
    if (!uid.empty() && uid != text_at(had, "uid")) {
        return conflict(type, ask.at.name,
                        fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                    "meta: {}",
                                    uid, text_at(had, "uid")));
    }
    if (const std::string_view leaves = text_at(metadata, "deletionTimestamp");
        !leaves.empty() && leaves != text_at(had, "deletionTimestamp") &&
        ask.request.method == "PATCH") {
        return invalid(
            type, ask.at.name,
            {{.reason = "FieldValueInvalid",
              .message = fmt::format("Invalid value: \"{}\": field is immutable", leaves),
              .field = "metadata.deletionTimestamp"}});
    }
    const bool is_status = ask.at.subresource == "status";
    if (is_status) {
        now = with_status(type, before, now, ask.is_apply());
        if (auto causes = check_kind_status(type, now); !causes.empty()) {
            return invalid(type, ask.at.name, std::move(causes));
        }
        note_owner(ask, now, &before);
    } else if (auto settled = settle_main(ask, now, before); !settled) {
        return tl::unexpected(std::move(settled.error()));
    }
    json::object& after = child(now, "metadata");
    after["resourceVersion"] = had.at("resourceVersion");
    if (counts_generations(type) && !is_status) {
        after["generation"] =
            int_at(had, "generation", 1) + (has_other_spec(type, now, before) ? 1 : 0);
    }
    if (is_same(now, before)) {
        const bool has_same_owners = !after.contains("managedFields") ||
                                     !had.contains("managedFields") ||
                                     after.at("managedFields") == had.at("managedFields");
        const bool is_reset = had.contains("managedFields") && !after.contains("managedFields");
        if (!is_reset && (has_same_owners || !ask.is_apply())) {
            return before;
        }  // nothing is written, nobody is told
    }
    if (ask.is_dry()) { return now; }
    // The last finalizer of what is leaving was taken away.
    if (is_leaving(now) && !has_finalizers(now) &&
        int_at(now, "metadata.deletionGracePeriodSeconds") == 0 && type.plural != "namespaces") {
        const auto removed = store_.remove(ask.storage, ask.key());
        if (auto done = written(removed); !done) { return tl::unexpected(std::move(done.error())); }
        return now;
    }
    now = kind_first(std::move(now));
    const auto stored = store_.put(ask.storage, ask.key(), now);
    if (auto done = written(stored); !done) { return tl::unexpected(std::move(done.error())); }
    return now;
}

}  // namespace muster::lab
