#include "lab/api_ask.h"
#include "lab/apply.h"
#include "lab/metadata.h"
#include "lab/patch.h"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view accepted =
    "application/json-patch+json, application/merge-patch+json, "
    "application/strategic-merge-patch+json, application/apply-patch+yaml";

std::string_view media_type(const net::HttpRequest& request) {
    const std::string_view header = request.header("Content-Type");
    return header.substr(0, header.find(';'));
}

tl::unexpected<ApiError> patch_failed(const ResourceType& type, std::string_view name,
                                      const Error& error) {
    if (error.code == Code::not_found || error.code == Code::conflict) {
        return invalid(type, name,
                       {{.reason = "FieldValueInvalid",
                         .message = fmt::format("Invalid value: {}", error.message),
                         .field = "patch"}});
    }
    return bad_request(error.message);
}

}  // namespace

Outcome<net::HttpResponse> Api::patch(Ask& ask) {
    const std::string_view media = media_type(ask.request);
    if (media == "application/apply-patch+yaml") { return apply(ask); }
    const bool is_json = media == "application/json-patch+json";
    const bool is_merge = media == "application/merge-patch+json";
    const bool is_strategic = media == "application/strategic-merge-patch+json";
    if (!is_json && !is_merge && !is_strategic) { return unsupported_media(accepted); }
    const auto schema = registry_.schema(*ask.type);
    if (is_strategic && (ask.type->is_custom || !schema)) {
        return unsupported_media(
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
    }
    auto body = parse_body(ask.request, false);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    const auto before = find(ask);
    if (!before) { return tl::unexpected(before.error()); }
    Result<json::value> patched =
        is_json    ? json_patch(json::value(*before), *body)
        : is_merge ? Result<json::value>(merge_patch(json::value(*before), *body))
                   : strategic_patch(json::value(*before), *body, *schema);
    if (!patched) { return patch_failed(*ask.type, ask.at.name, patched.error()); }
    if (!patched->is_object()) { return bad_request("the patch leaves no object"); }
    json::object now = std::move(patched->get_object());
    if (auto done = check_fields(ask, now); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    // A client that names no version takes the object as it finds it.
    auto changed = store_changed(ask, std::move(now), *before);
    if (!changed) { return tl::unexpected(std::move(changed.error())); }
    return answer_object(registry_, *ask.type, 200, *changed, ask.request, options_.now());
}

Outcome<net::HttpResponse> Api::apply(Ask& ask) {
    if (ask.query("fieldManager").empty()) {
        return bad_request(
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: "
            "is required for apply patch");
    }
    const auto schema = registry_.schema(*ask.type);
    if (!schema) { return unsupported_media("application/json-patch+json"); }
    auto body = read_body(ask);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (const std::string_view name = name_of(*body); !name.empty() && name != ask.at.name) {
        return bad_request(fmt::format("metadata.name: \"{}\" is not the name of the URL, \"{}\"",
                                       name, ask.at.name));
    }
    if (value_at(*body, "metadata.managedFields") != nullptr) {
        return bad_request("metadata.managedFields must be nil");
    }
    child(*body, "metadata")["name"] = ask.at.name;
    const auto before = find(ask);
    const Manager manager{.name = std::string(ask.query("fieldManager")),
                          .api_version = ask.type->api_version(),
                          .subresource = ask.at.subresource,
                          .time = time_text(options_.now())};
    std::vector<FieldConflict> conflicts;
    const json::value live = before ? json::value(*before) : json::value(nullptr);
    auto applied = apply_configuration(live, json::value(std::move(*body)), *schema, manager,
                                       ask.is_asked("force"), conflicts);
    if (!applied) {
        if (applied.error().code != Code::conflict) { return bad_request(applied.error().message); }
        ApiError error{.code = 409, .reason = "Conflict", .message = conflict_text(conflicts)};
        for (const FieldConflict& one : conflicts) {
            error.causes.push_back({.reason = "FieldManagerConflict",
                                    .message = fmt::format("conflict with \"{}\"", one.manager),
                                    .field = one.field});
        }
        return tl::unexpected(std::move(error));
    }
    json::object now = std::move(applied->get_object());
    if (!before) {
        if (!text_at(now, "metadata.uid").empty()) {
            return conflict(*ask.type, ask.at.name, "uid mismatch: the object does not exist");
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
