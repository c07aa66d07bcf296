#include "lab/api_ask.h"
#include "lab/apply.h"
#include "lab/metadata.h"
#include "lab/patch.h"
#include "lab/schema_walk.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

std::string_view media_type(const net::HttpRequest& request) {
    const std::string_view header = request.header("Content-Type");
    return header.substr(0, header.find(';'));
}

/// Says no more than that, whatever it was.
tl::unexpected<ApiError> rejected() {
    return tl::unexpected(
        ApiError{.code = 422,
                 .reason = "Invalid",
                 .message = "the server rejected our request due to an error in our request",
                 .has_details = true});
}

tl::unexpected<ApiError> patch_failed(bool is_json, const Error& error) {
    if (is_json) { return rejected(); }
    return bad_request(error.message);
}

/// The words behind "X in version "v1" cannot be handled as a X: ".
std::string_view without_kinds(std::string_view message) {
    constexpr std::string_view before = " cannot be handled as a ";
    const std::size_t at = message.find(before);
    const std::size_t colon = at == std::string_view::npos ? at : message.find(": ", at);
    return colon == std::string_view::npos ? message : message.substr(colon + 2);
}

std::string_view kind_in_go(const json::value& value) {
    if (value.is_object()) { return "object"; }
    if (value.is_array()) { return "array"; }
    if (value.is_string()) { return "string"; }
    return value.is_bool() ? "bool" : "number";
}

/// A patch is a list of operations, or an object.
Outcome<json::value> read_patch(const net::HttpRequest& request, bool is_json) {
    auto body = parse_body(request, false);
    if (!body && body.error().code == 400) { return bad_request("invalid JSON patch"); }
    if (!body) { return body; }
    const bool fits = is_json ? body->is_array() : body->is_object();
    if (fits || body->is_null()) { return body; }
    return bad_request(fmt::format(
        "error decoding patch: json: cannot unmarshal {} into Go value "
        "of type {}",
        kind_in_go(*body), is_json ? "[]handlers.jsonPatchOp" : "map[string]interface {}"));
}

/// What a refusal of the schema begins with, in server-side apply.
std::string untyped_words(const ResourceType& type, const json::object& body) {
    return fmt::format("failed to create typed patch object ({}/{}; {}, Kind={}): ",
                       text_at(body, "metadata.namespace"), name_of(body),
                       type.group.empty() ? "/" + type.version : type.api_version(), type.kind);
}

std::string_view word_of(Schema::Type type) {
    switch (type) {
        case Schema::Type::object: return "map";
        case Schema::Type::list: return "list";
        case Schema::Type::string: return "string";
        case Schema::Type::integer:
        case Schema::Type::number: return "numeric (int or float)";
        case Schema::Type::boolean: return "boolean";
        case Schema::Type::any: return "value";
    }
    return {};
}

/// As the merging of applied configurations tells what does not fit the schema.
void find_untyped(const json::value& value, const Schema& schema, Rules rules,
                  const std::string& path, std::vector<std::string>& out) {
    if (value.is_null()) { return; }
    const Schema::Type type = schema.type();
    const bool fits =
        type == Schema::Type::any || schema.is_int_or_string() ||
        (type == Schema::Type::object && value.is_object()) ||
        (type == Schema::Type::list && value.is_array()) ||
        (type == Schema::Type::string && value.is_string()) ||
        (type == Schema::Type::boolean && value.is_bool()) ||
        ((type == Schema::Type::integer || type == Schema::Type::number) && value.is_number());
    if (!fits) {
        const std::string what =
            value.is_string() ? std::string(value.get_string()) : json::serialize(value);
        out.push_back(fmt::format("{}: expected {}, got &value.valueUnstructured{{Value:{}}}", path,
                                  word_of(type),
                                  value.is_string() ? json::serialize(value) : what));
        return;
    }
    if (const json::array* list = value.if_array()) {
        const auto items = schema.items();
        for (std::size_t i = 0; items && i < list->size(); ++i) {
            find_untyped((*list)[i], *items, rules, fmt::format("{}[{}]", path, i), out);
        }
    }
    const json::object* object = value.if_object();
    if (object == nullptr) { return; }
    for (const auto& member : *object) {
        const Member found = member_of(schema, member.key(), rules, path.empty());
        const std::string below = fmt::format("{}.{}", path, std::string_view(member.key()));
        if (found.schema) {
            find_untyped(member.value(), *found.schema, rules, below, out);
        } else if (found.is == Member::Is::unknown) {
            out.push_back(fmt::format("{}: field not declared in schema", below));
        }
    }
}

constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";

/// kubectl that applied by itself before may go on by server-side apply: what it owned as a client
/// is its own.
bool is_taken_over(const Manager& manager, const json::value& live,
                   const std::vector<FieldConflict>& conflicts) {
    if (manager.name != "kubectl" || !live.is_object() || conflicts.empty() ||
        kube::annotation_of(live.get_object(), last_applied).empty()) {
        return false;
    }
    return std::ranges::all_of(conflicts, [](const FieldConflict& one) {
        return one.manager == "kubectl-client-side-apply";
    });
}

struct ApplyTarget {
    const net::HttpRequest& request;
    const ResourceType& type;
    std::string_view name;
    std::string_view space;
};

/// The body of an apply: YAML or JSON, for this kind and name, as the schema has it.
Outcome<json::object> read_configuration(const ApplyTarget& target, const Schema& schema) {
    auto body = parse_body(target.request, false);
    if (!body) {
        return bad_request(fmt::format("error decoding patch: {}", body.error().message));
    }
    if (!body->is_object()) {
        return bad_request(
            fmt::format("error decoding patch: error unmarshaling JSON: while "
                        "decoding JSON: json: cannot unmarshal {} into Go value of "
                        "type map[string]interface {{}}",
                        kind_in_go(*body)));
    }
    json::object object = std::move(body->get_object());
    const std::string version(text_at(object, "apiVersion"));
    const std::string_view kind = text_at(object, "kind");
    if (version != target.type.api_version() || kind != target.type.kind) {
        return bad_request(fmt::format("invalid object type: {}{}, Kind={}",
                                       version.find('/') == std::string::npos ? "/" : "", version,
                                       kind));
    }
    if (value_at(object, "metadata.managedFields") != nullptr) {
        return bad_request("metadata.managedFields must be nil");
    }
    const std::string_view name = name_of(object);
    if (!name.empty() && name != target.name) {
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        target.name));
    }
    const std::string_view space = text_at(object, "metadata.namespace");
    if (!space.empty() && space != target.space) {
        return bad_request(
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
    }
    std::vector<std::string> wrong;
    const json::value whole(std::move(object));
    find_untyped(whole, schema, rules_of(schema), "", wrong);
    object = whole.get_object();
    if (wrong.empty()) { return object; }
    std::string all = wrong.front();
    if (wrong.size() > 1) {
        all = "errors:";
        for (const std::string& one : wrong) { all += "\n  " + one; }
    }
    return internal_error(untyped_words(target.type, object) + all);
}

}  // namespace

Outcome<net::HttpResponse> Api::patch(Ask& ask) {
    const std::string_view media = media_type(ask.request);
    if (media == "application/apply-patch+yaml") { return apply(ask); }
    const bool is_json = media == "application/json-patch+json";
    const bool is_merge = media == "application/merge-patch+json";
    const bool is_strategic = media == "application/strategic-merge-patch+json";
    if (!is_json && !is_merge && !is_strategic) {
        return tl::unexpected(ApiError{.code = 415,
                                       .reason = "UnsupportedMediaType",
                                       .message = "415: Unsupported Media Type",
                                       .has_details = true});
    }
    if (auto done = check_options("PatchOptions", ask.path); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    const auto schema = registry_.schema(*ask.type);
    if (is_strategic && (ask.type->is_custom || !schema)) {
        return unsupported_media(
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
    }
    auto body = read_patch(ask.request, is_json);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    const auto before = find(ask);
    if (!before) { return tl::unexpected(before.error()); }
    Result<json::value> patched =
        is_json    ? json_patch(json::value(*before), *body)
        : is_merge ? Result<json::value>(merge_patch(json::value(*before), *body))
                   : strategic_patch(json::value(*before), *body, *schema);
    if (!patched) { return patch_failed(is_json, patched.error()); }
    if (!patched->is_object()) { return bad_request("the patch leaves no object"); }
    json::object now = std::move(patched->get_object());
    const std::string became = json::serialize(now);
    if (text_at(now, "kind") != ask.type->kind ||
        text_at(now, "apiVersion") != ask.type->api_version()) {
        auto wrong = check_kind_of(ask, text_at(now, "apiVersion"), text_at(now, "kind"));
        if (!wrong) { return invalid_patch(became, without_kinds(wrong.error().message)); }
        now["kind"] = ask.type->kind;
        now["apiVersion"] = ask.type->api_version();
    }
    if (auto done = check_fields(ask, now); !done) {
        if (done.error().code != 400) { return tl::unexpected(std::move(done.error())); }
        return invalid_patch(became, without_kinds(done.error().message));
    }
    if (const std::string_view name = name_of(now); name != ask.at.name) {
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        ask.at.name));
    }
    if (ask.type->is_namespaced && text_at(now, "metadata.namespace") != ask.at.space) {
        return bad_request(
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
    }
    // A client that names no version takes the object as it finds it.
    auto changed = store_changed(ask, std::move(now), *before);
    if (!changed) { return tl::unexpected(std::move(changed.error())); }
    return answer_object(registry_, *ask.type, 200, *changed, ask.request, options_.now());
}

Outcome<net::HttpResponse> Api::apply(Ask& ask) {
    if (auto done = check_options("PatchOptions", ask.path, true); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    const auto schema = registry_.schema(*ask.type);
    if (!schema) { return unsupported_media("application/json-patch+json"); }
    auto body = read_configuration(
        {.request = ask.request, .type = *ask.type, .name = ask.at.name, .space = ask.at.space},
        *schema);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    const auto before = find(ask);
    const Manager manager{.name = std::string(ask.query("fieldManager")),
                          .api_version = ask.type->api_version(),
                          .subresource = ask.at.subresource,
                          .time = time_text(options_.now())};
    std::vector<FieldConflict> conflicts;
    const json::value live = before ? json::value(*before) : json::value(nullptr);
    if (!before && name_of(*body).empty()) {
        return bad_request(
            fmt::format("the name of the object ({} based on URL) was "
                        "undeterminable: name must be provided",
                        ask.at.name));
    }
    child(*body, "metadata")["name"] = ask.at.name;
    if (const std::string_view version = text_at(*body, "metadata.resourceVersion");
        before && !version.empty() && version != text_at(*before, "metadata.resourceVersion")) {
        return conflict(*ask.type, ask.at.name,
                        "the object has been modified; please apply your changes to the latest "
                        "version and try again");
    }
    if (const std::string_view uid = text_at(*body, "metadata.uid");
        before && !uid.empty() && uid != text_at(*before, "metadata.uid")) {
        return invalid(*ask.type, ask.at.name,
                       {{.reason = "FieldValueInvalid",
                         .message = fmt::format("Invalid value: {}: field is immutable",
                                                json::serialize(json::value(uid))),
                         .field = "metadata.uid"}});
    }
    const std::string untyped = untyped_words(*ask.type, *body);
    const json::value wanted(std::move(*body));
    auto applied =
        apply_configuration(live, wanted, *schema, manager, ask.is_asked("force"), conflicts);
    if (!applied && is_taken_over(manager, live, conflicts)) {
        applied = apply_configuration(live, wanted, *schema, manager, true, conflicts);
    }
    if (!applied) {
        if (applied.error().code != Code::conflict) {
            return internal_error(fmt::format("{}{}", untyped, applied.error().message));
        }
        ApiError error{.code = 409, .reason = "Conflict", .message = conflict_text(conflicts)};
        for (const FieldConflict& one : conflicts) {
            error.causes.push_back({.reason = "FieldManagerConflict",
                                    .message = fmt::format("conflict with {}", one.owner),
                                    .field = one.field});
        }
        return tl::unexpected(std::move(error));
    }
    json::object now = std::move(applied->get_object());
    if (ask.type->is_namespaced) { child(now, "metadata")["namespace"] = ask.at.space; }
    if (before && manager.name == "kubectl" && !kube::annotation_of(now, last_applied).empty()) {
        child(child(now, "metadata"), "annotations")[last_applied] = json::serialize(wanted) + "\n";
    }
    if (auto done = check_fields(ask, now); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    if (!before) {
        if (const std::string_view uid = text_at(now, "metadata.uid"); !uid.empty()) {
            return conflict(*ask.type, ask.at.name,
                            fmt::format("uid mismatch: the provided object specified uid {}, and "
                                        "no existing object was found",
                                        uid));
        }
        auto made = store_new(ask, std::move(now));
        if (!made) { return tl::unexpected(std::move(made.error())); }
        return answer_object(registry_, *ask.type, 201, *made, ask.request, options_.now());
    }
    auto changed = store_changed(ask, std::move(now), *before);
    if (!changed) { return tl::unexpected(std::move(changed.error())); }
    return answer_object(registry_, *ask.type, 200, *changed, ask.request, options_.now());
}

}  // namespace muster::lab
