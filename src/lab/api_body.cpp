#include "base/text.h"
#include "codec/tree.h"
#include "lab/api_ask.h"
#include "lab/canonical.h"
#include "lab/metadata.h"
#include "lab/schema_walk.h"
#include "lab/schemas.h"
#include "lab/values.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

enum class Validation : std::uint8_t { ignore, warn, strict };

Validation validation_of(std::string_view text) {
    if (text == "Strict") { return Validation::strict; }
    return text == "Ignore" ? Validation::ignore : Validation::warn;
}

/// Which reason goes with the words of a fault.
std::string reason_of(const FieldFault& fault) {
    if (fault.kind == FieldFault::Kind::required) { return "FieldValueRequired"; }
    if (fault.kind == FieldFault::Kind::unsupported) { return "FieldValueNotSupported"; }
    const std::string_view detail = fault.detail;
    if (detail.starts_with("Too long")) { return "FieldValueTooLong"; }
    if (detail.starts_with("Too many")) { return "FieldValueTooMany"; }
    if (detail.starts_with("Duplicate")) { return "FieldValueDuplicate"; }
    return "FieldValueInvalid";
}

/// What a server quotes of a body that it can't read.
std::string summary_of(std::string_view body) {
    constexpr std::size_t bytes_max = 30;
    if (body.empty()) { return "<empty>"; }
    const std::string_view begin = body.substr(0, bytes_max);
    std::string out;
    if (body.front() == '{') {
        out = begin;
    } else {
        for (const char c : begin) { out += fmt::format("{:02x}", static_cast<unsigned char>(c)); }
    }
    return body.size() > bytes_max ? out + " ..." : out;
}

std::string json_fault(const boost::system::error_code& wrong, std::string_view body,
                       std::size_t read) {
    if (wrong == json::error::incomplete || read >= body.size()) {
        return "unexpected end of JSON input";
    }
    return fmt::format("invalid character '{}' {}", body[read],
                       wrong == json::error::extra_data ? "after top-level value"
                                                        : "looking for beginning of value");
}

std::string_view kind_of_json(const json::value& value) {
    if (value.is_array()) { return "array"; }
    if (value.is_string()) { return "string"; }
    return value.is_bool() ? "bool" : "number";
}

/// Fields that stand twice in one object, by their places; the parser keeps the last of them.
class DuplicateFinder {
public:
    explicit DuplicateFinder(std::string_view text) : text_(text) {}

    std::vector<std::string> find() {
        value("");
        return std::move(found_);
    }

private:
    void skip(std::string_view some) {
        at_ = std::min(text_.find_first_not_of(some, at_), text_.size());
    }
    void space() { skip(" \t\r\n"); }
    std::string_view string() {
        const std::size_t begin = ++at_;
        while (at_ < text_.size() && text_[at_] != '"') { at_ += text_[at_] == '\\' ? 2 : 1; }
        const std::string_view out = text_.substr(std::min(begin, text_.size()), at_ - begin);
        ++at_;
        return out;
    }
    void value(const std::string& path) {
        space();
        if (at_ >= text_.size()) { return; }
        if (text_[at_] == '"') {
            string();
        } else if (text_[at_] == '{') {
            members(path);
        } else if (text_[at_] == '[') {
            ++at_;
            for (std::size_t i = 0; space(), at_ < text_.size() && text_[at_] != ']'; ++i) {
                value(fmt::format("{}[{}]", path, i));
                space();
                if (at_ < text_.size() && text_[at_] == ',') { ++at_; }
            }
            ++at_;
        } else {
            at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
        }
    }
    void members(const std::string& path) {
        std::set<std::string_view> names;
        ++at_;
        while (space(), at_ < text_.size() && text_[at_] == '"') {
            const std::string_view name = string();
            const std::string place =
                path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
            if (!names.insert(name).second) { found_.push_back(place); }
            space();
            ++at_;  // the colon
            value(place);
            space();
            if (at_ < text_.size() && text_[at_] == ',') { ++at_; }
        }
        ++at_;
    }

    std::string_view text_;  // was parsed before: it is JSON, and not too deep
    std::size_t at_ = 0;
    std::vector<std::string> found_;
};

std::size_t count_members(const json::object& object);

std::size_t count_members(const json::value& value) {
    if (const json::object* object = value.if_object()) { return count_members(*object); }
    std::size_t out = 0;
    if (const json::array* list = value.if_array()) {
        for (const json::value& one : *list) { out += count_members(one); }
    }
    return out;
}

std::size_t count_members(const json::object& object) {
    std::size_t out = object.size();
    for (const auto& member : object) { out += count_members(member.value()); }
    return out;
}

/// Members are as many as colons outside of strings, unless the parser took some for others.
std::size_t count_colons(std::string_view text) {
    std::size_t out = 0;
    bool is_inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            is_inside = !is_inside;
        } else if (is_inside && text[i] == '\\') {
            ++i;
        } else if (!is_inside && text[i] == ':') {
            ++out;
        }
    }
    return out;
}

bool is_yaml(std::string_view content_type, std::string_view body) {
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    const bool looks_json = first != std::string_view::npos && body[first] == '{';
    return content_type.find("yaml") != std::string_view::npos && !looks_json;
}

}  // namespace

Outcome<json::value> parse_body(const net::HttpRequest& request, bool is_strict) {
    const std::string_view header = request.header("Content-Type");
    const std::string_view media = trim(header.substr(0, header.find(';')));
    const bool is_known = media.empty() || media == "application/json" ||
                          media == "application/yaml" ||
                          media == "application/vnd.kubernetes.protobuf" ||
                          media.ends_with("+json") || media.ends_with("+yaml");
    if (media == "application/vnd.kubernetes.protobuf" && !request.body.empty()) {
        auto object = read_protobuf(request.body, built_in_wire_table());
        if (!object) {
            return bad_request(fmt::format("error decoding: {}", object.error().message));
        }
        return json::value(std::move(*object));
    }
    if (!is_known) {
        return unsupported_media(
            "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    }
    if (is_yaml(media, request.body)) {
        auto documents = parse_yaml("yaml", request.body);
        if (documents && documents->size() == 1) { return value_of(*documents->front()); }
        return bad_request(documents ? "yaml: expected one document" : documents.error().message);
    }
    static_cast<void>(is_strict);
    constexpr std::string_view unreadable = "couldn't get version/kind; json parse error: ";
    json::parse_options limits;
    limits.max_depth = levels_max;
    json::stream_parser parser(json::storage_ptr(), limits);
    boost::system::error_code wrong;
    const std::size_t read = parser.write_some(request.body, wrong);
    if (!wrong && read < request.body.size() &&
        request.body.find_first_not_of(" \t\r\n", read) != std::string::npos) {
        wrong = json::error::extra_data;
    }
    if (!wrong) { parser.finish(wrong); }
    if (wrong) {
        return bad_request(fmt::format("{}{}", unreadable, json_fault(wrong, request.body, read)));
    }
    return parser.release();
}

/// Whether the body's kind is the one that the path is for.
Outcome<> Api::check_kind_of(const Ask& ask, std::string_view api_version,
                             std::string_view kind) const {
    const ResourceType& type = *ask.type;
    if ((api_version.empty() || api_version == type.api_version()) &&
        (kind.empty() || kind == type.kind)) {
        return {};
    }
    const std::string said(api_version.empty() ? type.api_version() : std::string(api_version));
    const std::string_view version = std::string_view(said).substr(said.rfind('/') + 1);
    const bool is_known = std::ranges::any_of(registry_.served(), [&](const ResourceType& one) {
        return one.kind == kind && one.api_version() == said && !one.is_custom;
    });
    if (type.is_custom) {
        return bad_request(fmt::format(
            "{} in version \"{}\" cannot be handled as a {}: {}", kind, version, type.kind,
            said != type.api_version()
                ? fmt::format("the API version in the data ({}) does not match the expected API "
                              "version ({})",
                              said, type.api_version())
                : fmt::format("the kind in the data ({}) does not match the expected kind ({})",
                              kind, type.kind)));
    }
    return bad_request(fmt::format(
        "{0} in version \"{1}\" cannot be handled as a {2}: {3}", kind, version, type.kind,
        is_known
            ? fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", version, kind,
                          type.group.empty() ? "core" : type.group.substr(0, type.group.find('.')),
                          type.kind)
            : fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme "
                          "\"pkg/runtime/scheme.go:111\"",
                          kind, said)));
}

Outcome<json::object> Api::read_body(Ask& ask) {
    auto body = parse_body(ask.request, false);
    const auto unreadable = [&](std::string_view why) {
        return bad_request(
            fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                        ask.type->kind, why, summary_of(ask.request.body)));
    };
    if (!body && body.error().code == 400) { return unreadable(body.error().message); }
    if (!body) { return tl::unexpected(std::move(body.error())); }
    if (body->is_null()) { body->emplace_object(); }
    if (!body->is_object()) {
        return unreadable(fmt::format(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value "
            "of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
            "string "
            "\"json:\\\"kind,omitempty\\\"\" }}",
            kind_of_json(*body)));
    }
    json::object object = std::move(body->get_object());
    for (const std::string_view key : {"apiVersion", "kind"}) {
        const json::value* value = object.if_contains(key);
        if (value == nullptr || value->is_string() || value->is_null()) { continue; }
        return unreadable(
            fmt::format("couldn't get version/kind; json parse error: json: cannot "
                        "unmarshal {} into Go struct field .{} of type string",
                        value->is_object() ? "object" : kind_of_json(*value), key));
    }
    if (const std::string_view kind = text_at(object, "kind");
        ask.type->is_custom && !kind.empty() && kind != ask.type->kind &&
        text_at(object, "apiVersion") == ask.type->api_version()) {
        ResourceType other = *ask.type;
        other.kind = kind;
        return invalid(other, name_of(object),
                       {{.reason = "FieldValueInvalid",
                         .message = fmt::format("Invalid value: {}: must be {}",
                                                json::serialize(json::value(kind)), ask.type->kind),
                         .field = "kind"}});
    }
    if (auto done = check_kind_of(ask, text_at(object, "apiVersion"), text_at(object, "kind"));
        !done) {
        return tl::unexpected(std::move(done.error()));
    }
    object["apiVersion"] = ask.type->api_version();
    object["kind"] = ask.type->kind;
    if (validation_of(ask.query("fieldValidation")) != Validation::ignore &&
        ask.request.body.starts_with('{') &&
        count_colons(ask.request.body) != count_members(object)) {
        ask.duplicates = DuplicateFinder(ask.request.body).find();
    }
    if (auto done = check_fields(ask, object); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    if (const json::value* metadata = object.if_contains("metadata");
        metadata != nullptr && !metadata->is_object()) {
        return bad_request(
            fmt::format("{} in version \"{}\" cannot be handled as a {}: .metadata "
                        "accessor error: it is no object",
                        ask.type->kind, ask.type->version, ask.type->kind));
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
    return object;
}

/// By the schema: what is unknown is refused, told or dropped; what has the wrong type is refused.
Outcome<> Api::check_fields(Ask& ask, json::object& object) {
    const Validation validation = validation_of(ask.query("fieldValidation"));
    const auto schema = registry_.schema(*ask.type);
    if (!schema) { return {}; }
    json::value whole(std::move(object));
    std::vector<std::string> unknown;
    for (const std::string& one : ask.duplicates) {
        unknown.push_back(fmt::format("duplicate field \"{}\"", one));
    }
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
                    wrong_type = fault.detail;
                }
                break;
            case FieldFault::Kind::required:
            case FieldFault::Kind::unsupported:
            case FieldFault::Kind::invalid:
                // Built-in kinds have rules of their own; what is required there may have a
                // default.
                if (!ask.type->is_custom) { break; }
                causes.push_back({reason_of(fault), fault.detail, fault.field});
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
        if (validation == Validation::strict) {
            std::string all;
            for (const std::string& one : unknown) { all += (all.empty() ? "" : ", ") + one; }
            return bad_request(
                fmt::format("{} in version \"{}\" cannot be handled as a {}: strict "
                            "decoding error: {}",
                            ask.type->kind, ask.type->version, ask.type->kind, all));
        }
        if (validation == Validation::warn) { ask.warnings = std::move(unknown); }
        prune(whole, *schema);
    }
    if (ask.type->is_custom) {
        fill_defaults(whole, *schema);
    } else if (rules_of(*schema) == Rules::typed) {
        canonicalise(whole, *schema);
    }
    object = std::move(whole.get_object());
    if (!causes.empty()) { return invalid(*ask.type, name_of(object), std::move(causes)); }
    return {};
}

}  // namespace muster::lab
