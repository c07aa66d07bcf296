#include "codec/tree.h"
#include "lab/api_ask.h"
#include "lab/metadata.h"
#include "lab/schemas.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

enum class Validation : std::uint8_t { ignore, warn, strict };

/// Clients ask for strict or for nothing; nothing means a warning.
Outcome<Validation> validation_of(std::string_view text) {
    if (text == "Strict") { return Validation::strict; }
    if (text == "Ignore") { return Validation::ignore; }
    if (text.empty() || text == "Warn") { return Validation::warn; }
    return bad_request(
        fmt::format("fieldValidation: Unsupported value: \"{}\": supported values: "
                    "\"Ignore\", \"Strict\", \"Warn\"",
                    text));
}

bool is_yaml(std::string_view content_type, std::string_view body) {
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    const bool looks_json = first != std::string_view::npos && body[first] == '{';
    return content_type.find("yaml") != std::string_view::npos && !looks_json;
}

}  // namespace

Outcome<json::value> parse_body(const net::HttpRequest& request, bool is_strict) {
    const std::string_view content_type = request.header("Content-Type");
    if (content_type.find("cbor") != std::string_view::npos) {
        return unsupported_media(
            "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    }
    if (request.body.empty()) { return bad_request("the body of the request is empty"); }
    if (content_type.find("application/vnd.kubernetes.protobuf") != std::string_view::npos) {
        auto object = read_protobuf(request.body, built_in_wire_table());
        if (!object) {
            return bad_request(fmt::format("error decoding: {}", object.error().message));
        }
        return json::value(std::move(*object));
    }
    if (is_yaml(content_type, request.body) || is_strict) {
        auto documents = is_yaml(content_type, request.body) ? parse_yaml("body", request.body)
                                                             : parse_json("body", request.body);
        if (documents && documents->size() == 1) { return value_of(*documents->front()); }
        const std::string why = documents ? "expected one document" : documents.error().message;
        return bad_request(fmt::format("error decoding: {}", why));
    }
    boost::system::error_code wrong;
    json::value body = json::parse(request.body, wrong);
    if (wrong) {
        return bad_request(
            fmt::format("couldn't get version/kind; json parse error: {}", wrong.message()));
    }
    return body;
}

Outcome<json::object> Api::read_body(Ask& ask) {
    const auto validation = validation_of(ask.query("fieldValidation"));
    if (!validation) { return tl::unexpected(validation.error()); }
    auto body = parse_body(ask.request, *validation == Validation::strict);
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (!body->is_object()) { return bad_request("the body of the request is no object"); }
    json::object object = std::move(body->get_object());
    const std::string api_version(text_at(object, "apiVersion"));
    const std::string kind(text_at(object, "kind"));
    if (api_version.empty() && kind.empty()) {  // clients of typed endpoints may leave them out
        object["apiVersion"] = ask.type->api_version();
        object["kind"] = ask.type->kind;
    } else if (api_version != ask.type->api_version() || kind != ask.type->kind) {
        return bad_request(fmt::format(
            "the object provided is unrecognized (must be of type {}): {} of {} does not match",
            ask.type->kind, kind, api_version));
    }
    if (const json::value* metadata = object.if_contains("metadata");
        metadata != nullptr && !metadata->is_object()) {
        return bad_request("metadata: expected an object");
    }
    json::object& metadata = child(object, "metadata");
    const std::string_view space = text_at(metadata, "namespace");
    if (ask.type->is_namespaced) {
        if (space.empty()) {
            metadata["namespace"] = ask.at.space.empty() ? "default" : ask.at.space;
        } else if (!ask.at.space.empty() && space != ask.at.space) {
            return bad_request(
                "the namespace of the provided object does not match the namespace "
                "sent on the request");
        }
    } else {
        metadata.erase("namespace");
    }
    if (auto done = check_fields(ask, object); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    return object;
}

/// By the schema: what is unknown is refused, told or dropped; what has the wrong type is refused.
Outcome<> Api::check_fields(Ask& ask, json::object& object) {
    const auto validation = validation_of(ask.query("fieldValidation"));
    if (!validation) { return tl::unexpected(validation.error()); }
    const auto schema = registry_.schema(*ask.type);
    if (!schema) { return {}; }
    json::value whole(std::move(object));
    std::vector<std::string> unknown;
    std::vector<ApiCause> causes;
    std::string wrong_type;
    for (const FieldFault& fault : check(whole, *schema)) {
        switch (fault.kind) {
            case FieldFault::Kind::unknown:
            case FieldFault::Kind::duplicate:
                unknown.push_back(fmt::format("unknown field \"{}\"", fault.field));
                break;
            case FieldFault::Kind::wrong_type:
                if (ask.type->is_custom) {
                    causes.push_back({"FieldValueTypeInvalid", fault.detail, fault.field});
                } else if (wrong_type.empty()) {
                    wrong_type = fmt::format("{}: {}", fault.field, fault.detail);
                }
                break;
            case FieldFault::Kind::required:
            case FieldFault::Kind::unsupported:
            case FieldFault::Kind::invalid:
                // Built-in kinds have rules of their own; what is required there may have a
                // default.
                if (!ask.type->is_custom) { break; }
                causes.push_back({fault.kind == FieldFault::Kind::required ? "FieldValueRequired"
                                  : fault.kind == FieldFault::Kind::unsupported
                                      ? "FieldValueNotSupported"
                                      : "FieldValueInvalid",
                                  fault.detail, fault.field});
                break;
        }
    }
    if (!wrong_type.empty()) {
        object = std::move(whole.get_object());
        return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                                       ask.type->kind, ask.type->version, ask.type->kind,
                                       wrong_type));
    }
    if (!unknown.empty()) {
        if (*validation == Validation::strict) {
            std::string all;
            for (const std::string& one : unknown) { all += (all.empty() ? "" : ", ") + one; }
            return bad_request(
                fmt::format("{} in version \"{}\" cannot be handled as a {}: strict "
                            "decoding error: {}",
                            ask.type->kind, ask.type->version, ask.type->kind, all));
        }
        if (*validation == Validation::warn) { ask.warnings = std::move(unknown); }
        prune(whole, *schema);
    }
    if (ask.type->is_custom) { fill_defaults(whole, *schema); }
    object = std::move(whole.get_object());
    if (!causes.empty()) { return invalid(*ask.type, name_of(object), std::move(causes)); }
    return {};
}

}  // namespace muster::lab
