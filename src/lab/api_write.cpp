#include "lab/api_ask.h"
#include "lab/apply.h"
#include "lab/metadata.h"
#include "lab/names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

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

/// Whether the generation counts: anything but metadata and status is another.
bool has_other_spec(const json::object& a, const json::object& b) {
    const auto rest = [](json::object one) {
        one.erase("metadata");
        one.erase("status");
        return one;
    };
    return rest(a) != rest(b);
}

/// The object before with another status; kubelets write annotations so too.
json::object with_status(const ResourceType& type, const json::object& before,
                         const json::object& now) {
    json::object whole = before;
    const json::value* status = now.if_contains("status");
    whole["status"] = status != nullptr ? *status : json::value(json::object());
    const json::value* annotations = value_at(now, "metadata.annotations");
    if (annotations != nullptr && !annotations->is_null() &&
        (type.plural == "nodes" || type.plural == "pods")) {
        child(whole, "metadata")["annotations"] = *annotations;
    }
    return whole;
}

bool counts_generations(const ResourceType& type) {
    return type.is_custom || type.has("status") || type.has("scale");
}

}  // namespace

Outcome<net::HttpResponse> Api::create(Ask& ask) {
    auto body = read_body(ask);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (ask.type->is_namespaced && ask.at.space.empty()) {
        ask.at.space = std::string(text_at(*body, "metadata.namespace"));
    }
    auto made = store_new(ask, std::move(*body));
    if (!made) { return tl::unexpected(std::move(made.error())); }
    return answer_object(registry_, *ask.type, 201, *made, ask.request, options_.now());
}

Outcome<json::object> Api::store_new(Ask& ask, json::object object) {
    const ResourceType& type = *ask.type;
    json::object& metadata = child(object, "metadata");
    std::string name(text_at(metadata, "name"));
    if (name.empty()) {
        const std::string_view prefix = text_at(metadata, "generateName");
        if (prefix.empty()) {
            return invalid(type, "",
                           {{.reason = "FieldValueRequired",
                             .message = "Required value: name or generateName is required",
                             .field = "metadata.name"}});
        }
        name = std::string(prefix.substr(0, 58)) + random_suffix();
        metadata["name"] = name;
    }
    std::vector<ApiCause> wrong_name;
    for (const std::string& why : check_subdomain(name)) {
        wrong_name.push_back({.reason = "FieldValueInvalid",
                              .message = fmt::format("Invalid value: \"{}\": {}", name, why),
                              .field = "metadata.name"});
    }
    if (!wrong_name.empty()) { return invalid(type, name, std::move(wrong_name)); }
    ask.at.name = name;
    if (type.is_namespaced) {
        const ResourceType* spaces = registry_.find("", "v1", "namespaces");
        const Stored* space = store_.find("namespaces", {"", ask.at.space});
        if (space == nullptr) { return not_found(*spaces, ask.at.space); }
        const json::value parsed = json::parse(*space->text);
        if (is_leaving(parsed.get_object())) {
            return forbidden(
                type, name,
                fmt::format("unable to create new content in namespace {} because it is "
                            "being terminated",
                            ask.at.space));
        }
    }
    if (store_.find(ask.storage, ask.key()) != nullptr) { return already_exists(type, name); }
    const std::string now = time_text(options_.now());
    for (const std::string_view key : system_metadata) { metadata.erase(key); }
    metadata.erase("resourceVersion");
    metadata["uid"] = new_uid();
    metadata["creationTimestamp"] = now;
    if (counts_generations(type)) { metadata["generation"] = 1; }
    begin_status(type, object);
    if (auto filled = fill_kind(type, object, store_); !filled) {
        return tl::unexpected(std::move(filled.error()));
    }
    if (type.plural == "customresourcedefinitions") {
        if (auto causes = check_definition(object); !causes.empty()) {
            return invalid(type, name, std::move(causes));
        }
        establish(object, now);
    }
    if (auto causes = check_kind(type, object); !causes.empty()) {
        return invalid(type, name, std::move(causes));
    }
    if (const auto schema = registry_.schema(type); schema && !ask.is_apply()) {
        json::value after(std::move(object));
        note_update(json::value(nullptr), after, *schema,
                    {.name = ask.manager(),
                     .api_version = type.api_version(),
                     .subresource = "",
                     .time = now});
        object = std::move(after.get_object());
    }
    if (ask.is_dry()) { return object; }
    const auto stored = store_.put(ask.storage, ask.key(), std::move(object));
    if (auto done = written(stored); !done) { return tl::unexpected(std::move(done.error())); }
    return json::parse(*stored->text).get_object();
}

Outcome<net::HttpResponse> Api::update(Ask& ask) {
    auto body = read_body(ask);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (const std::string_view name = name_of(*body); !name.empty() && name != ask.at.name) {
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        ask.at.name));
    }
    const auto before = find(ask);
    if (!before) { return tl::unexpected(before.error()); }
    auto changed = store_changed(ask, std::move(*body), *before);
    if (!changed) { return tl::unexpected(std::move(changed.error())); }
    return answer_object(registry_, *ask.type, 200, *changed, ask.request, options_.now());
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
    if (auto filled = fill_kind(type, now, store_); !filled) { return filled; }
    if (type.plural == "customresourcedefinitions") {
        if (auto causes = check_definition(now); !causes.empty()) {
            return invalid(type, ask.at.name, std::move(causes));
        }
        establish(now, time_text(options_.now()));
    }
    auto causes = check_kind(type, now);
    for (ApiCause& cause : check_kind_update(type, now, before)) {
        causes.push_back(std::move(cause));
    }
    if (!causes.empty()) { return invalid(type, ask.at.name, std::move(causes)); }
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
    if (!uid.empty() && uid != text_at(had, "uid")) {
        return conflict(type, ask.at.name,
                        fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                    "meta: {}",
                                    uid, text_at(had, "uid")));
    }
    const bool is_status = ask.at.subresource == "status";
    if (is_status) {
        now = with_status(type, before, now);
    } else if (auto settled = settle_main(ask, now, before); !settled) {
        return tl::unexpected(std::move(settled.error()));
    }
    json::object& after = child(now, "metadata");
    after["resourceVersion"] = had.at("resourceVersion");
    if (counts_generations(type) && !is_status) {
        after["generation"] = int_at(had, "generation", 1) + (has_other_spec(now, before) ? 1 : 0);
    }
    if (is_same(now, before)) {
        const bool has_same_owners = !after.contains("managedFields") ||
                                     !had.contains("managedFields") ||
                                     after.at("managedFields") == had.at("managedFields");
        if (has_same_owners || !ask.is_apply()) {
            return before;
        }  // nothing is written, nobody is told
    }
    if (const auto schema = registry_.schema(type); schema && !ask.is_apply()) {
        if (!after.contains("managedFields") && had.contains("managedFields")) {
            after["managedFields"] = had.at("managedFields");
        }
        json::value whole(std::move(now));
        note_update(json::value(before), whole, *schema,
                    {.name = ask.manager(),
                     .api_version = type.api_version(),
                     .subresource = ask.at.subresource,
                     .time = time_text(options_.now())});
        now = std::move(whole.get_object());
    }
    if (ask.is_dry()) { return now; }
    // The last finalizer of what is leaving was taken away.
    if (is_leaving(now) && !has_finalizers(now) &&
        int_at(now, "metadata.deletionGracePeriodSeconds") == 0 && type.plural != "namespaces") {
        const auto removed = store_.remove(ask.storage, ask.key());
        if (auto done = written(removed); !done) { return tl::unexpected(std::move(done.error())); }
        return now;
    }
    const auto stored = store_.put(ask.storage, ask.key(), std::move(now));
    if (auto done = written(stored); !done) { return tl::unexpected(std::move(done.error())); }
    return json::parse(*stored->text).get_object();
}

}  // namespace muster::lab
