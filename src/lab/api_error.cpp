#include "lab/api_error.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

std::string qualified(const ResourceType& type) {
    return type.group.empty() ? type.plural : fmt::format("{}.{}", type.plural, type.group);
}

tl::unexpected<ApiError> about(int code, std::string_view reason, const ResourceType& type,
                               std::string_view name, std::string message) {
    return tl::unexpected(ApiError{.code = code,
                                   .reason = std::string(reason),
                                   .message = std::move(message),
                                   .name = std::string(name),
                                   .group = type.group,
                                   .kind = type.plural});
}

}  // namespace

json::object status_of(const ApiError& error) {
    json::object details;
    if (!error.name.empty()) { details["name"] = error.name; }
    if (!error.group.empty()) { details["group"] = error.group; }
    if (!error.kind.empty()) { details["kind"] = error.kind; }
    if (!error.causes.empty()) {
        json::array causes;
        for (const ApiCause& cause : error.causes) {
            json::object one{{"reason", cause.reason}, {"message", cause.message}};
            if (!cause.field.empty()) { one["field"] = cause.field; }
            causes.push_back(std::move(one));
        }
        details["causes"] = std::move(causes);
    }
    if (error.retry_after_s > 0) { details["retryAfterSeconds"] = error.retry_after_s; }
    json::object out{{"kind", "Status"},
                     {"apiVersion", "v1"},
                     {"metadata", json::object()},
                     {"status", "Failure"},
                     {"message", error.message}};
    if (!error.reason.empty()) { out["reason"] = error.reason; }
    if (!details.empty() || error.has_details) { out["details"] = std::move(details); }
    out["code"] = error.code;
    return out;
}

tl::unexpected<ApiError> bad_request(std::string message) {
    return tl::unexpected(
        ApiError{.code = 400, .reason = "BadRequest", .message = std::move(message)});
}

tl::unexpected<ApiError> not_found(const ResourceType& type, std::string_view name) {
    return about(404, "NotFound", type, name,
                 fmt::format("{} \"{}\" not found", qualified(type), name));
}

tl::unexpected<ApiError> no_such_path() {
    return tl::unexpected(ApiError{.code = 404,
                                   .reason = "NotFound",
                                   .message = "the server could not find the requested resource",
                                   .has_details = true});
}

tl::unexpected<ApiError> already_exists(const ResourceType& type, std::string_view name) {
    return about(409, "AlreadyExists", type, name,
                 fmt::format("{} \"{}\" already exists", qualified(type), name));
}

tl::unexpected<ApiError> conflict(const ResourceType& type, std::string_view name,
                                  std::string_view why) {
    return about(
        409, "Conflict", type, name,
        fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(type), name, why));
}

tl::unexpected<ApiError> forbidden(const ResourceType& type, std::string_view name,
                                   std::string_view why) {
    return about(403, "Forbidden", type, name,
                 fmt::format("{} \"{}\" is forbidden: {}", qualified(type), name, why));
}

tl::unexpected<ApiError> invalid(const ResourceType& type, std::string_view name,
                                 std::vector<ApiCause> causes) {
    // What is said twice is said once.
    std::vector<ApiCause> told;
    for (ApiCause& cause : causes) {
        const bool is_told = std::ranges::any_of(told, [&](const ApiCause& one) {
            return one.field == cause.field && one.message == cause.message;
        });
        if (!is_told) { told.push_back(std::move(cause)); }
    }
    causes = std::move(told);
    std::string all;
    for (const ApiCause& cause : causes) {
        if (!all.empty()) { all += ", "; }
        all += fmt::format("{}: {}", cause.field, cause.message);
    }
    if (causes.size() > 1) { all = fmt::format("[{}]", all); }
    const std::string kind =
        type.group.empty() ? type.kind : fmt::format("{}.{}", type.kind, type.group);
    auto error =
        about(422, "Invalid", type, name, fmt::format("{} \"{}\" is invalid: {}", kind, name, all));
    error.value().kind = type.kind;
    error.value().causes = std::move(causes);
    return error;
}

tl::unexpected<ApiError> invalid_options(std::string_view kind, std::vector<ApiCause> causes) {
    ResourceType options;
    options.group = "meta.k8s.io";
    options.kind = kind;
    return invalid(options, "", std::move(causes));
}

tl::unexpected<ApiError> invalid_patch(std::string_view what, std::string_view why) {
    return invalid(
        ResourceType(), "",
        {{.reason = "FieldValueInvalid",
          .message = fmt::format("Invalid value: {}: {}", json::serialize(json::value(what)), why),
          .field = "patch"}});
}

/// Without a reason, as a server answers what it had no words for.
tl::unexpected<ApiError> internal_error(std::string message) {
    return tl::unexpected(ApiError{.code = 500, .reason = "", .message = std::move(message)});
}

tl::unexpected<ApiError> not_allowed(std::string_view what) {
    return tl::unexpected(ApiError{
        .code = 405,
        .reason = "MethodNotAllowed",
        .message = fmt::format("the server does not allow this method on the requested {}", what),
        .has_details = true});
}

tl::unexpected<ApiError> unsupported_media(std::string_view what) {
    return tl::unexpected(ApiError{
        .code = 415,
        .reason = "UnsupportedMediaType",
        .message = fmt::format("the body of the request was in an unknown format - accepted media "
                               "types include: {}",
                               what)});
}

tl::unexpected<ApiError> gone(std::string message) {
    return tl::unexpected(
        ApiError{.code = 410, .reason = "Expired", .message = std::move(message)});
}

}  // namespace muster::lab
