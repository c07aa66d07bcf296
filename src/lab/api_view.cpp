#include "lab/api_ask.h"
#include "lab/metadata.h"
#include "lab/table.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <array>

namespace muster::lab {

namespace json = boost::json;

std::string Api::Ask::manager() const {
    if (const std::string_view named = query("fieldManager"); !named.empty()) {
        return std::string(named);
    }
    const std::string_view agent = request.header("User-Agent");
    const std::string_view first = agent.substr(0, agent.find('/'));
    return first.empty() ? "unknown" : std::string(first.substr(0, 128));
}

View view_of(std::string_view accept) {
    // Only what is asked for first: all clients name plain JSON behind it.
    const std::string_view first = accept.substr(0, accept.find(','));
    return {.is_table = first.find("as=Table") != std::string_view::npos,
            .is_metadata = first.find("as=PartialObjectMetadata") != std::string_view::npos};
}

net::HttpResponse answer(int status, const json::object& object) {
    return {.status = status,
            .headers = {{"Content-Type", "application/json"}},
            .body = json::serialize(object) + "\n",
            .stream = nullptr};
}

net::HttpResponse answer_error(const ApiError& error) {
    net::HttpResponse out = answer(error.code, status_of(error));
    if (error.retry_after_s > 0) {
        out.headers.push_back({"Retry-After", std::to_string(error.retry_after_s)});
    }
    return out;
}

json::object metadata_only(const json::object& object) {
    json::object out{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
    if (const json::value* metadata = object.if_contains("metadata")) {
        out["metadata"] = *metadata;
    }
    return out;
}

json::object table_seen(const Registry& registry, const ResourceType& type,
                        std::span<const json::object* const> objects, std::string_view include,
                        std::int64_t now) {
    const RowObject row = include == "Object" ? RowObject::whole
                          : include == "None" ? RowObject::none
                                              : RowObject::metadata;
    return table_of(type.group, type.kind, objects, registry.columns(type), row, now / 1'000);
}

json::object seen_as(const Registry& registry, const ResourceType& type, const json::object& object,
                     View view, std::string_view include, std::int64_t now, bool with_columns) {
    if (view.is_metadata) { return metadata_only(object); }
    if (!view.is_table) { return object; }
    const std::array<const json::object*, 1> one{&object};
    json::object out = table_seen(registry, type, one, include, now);
    json::object metadata;
    if (const std::string_view version = text_at(object, "metadata.resourceVersion");
        !version.empty()) {
        metadata["resourceVersion"] = version;
    }
    out["metadata"] = std::move(metadata);
    if (!with_columns) { out["columnDefinitions"] = nullptr; }
    return out;
}

net::HttpResponse answer_object(const Registry& registry, const ResourceType& type, int status,
                                const json::object& object, const net::HttpRequest& request,
                                std::int64_t now) {
    return answer(status,
                  seen_as(registry, type, object, view_of(request.header("Accept")), "", now));
}

std::string field_value(const json::object& object, std::string_view field) {
    const json::object* in = &object;
    while (in != nullptr) {
        const std::string_view key = field.substr(0, field.find('.'));
        const json::value* found = in->if_contains(key);
        if (found == nullptr) { return {}; }
        if (key.size() == field.size()) {
            return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
        }
        field.remove_prefix(key.size() + 1);
        in = found->if_object();
    }
    return {};
}

Outcome<Wanted> read_wanted(std::string_view labels, std::string_view fields) {
    auto by_label = parse_label_selector(labels);
    if (!by_label) {
        return bad_request(
            fmt::format("unable to parse requirement: {}", by_label.error().message));
    }
    auto by_field = parse_field_selector(fields);
    if (!by_field) { return bad_request(by_field.error().message); }
    return Wanted{.labels = std::move(*by_label), .fields = std::move(*by_field)};
}

bool Wanted::takes(const Key& key, const Stored& stored) const {
    if (!matches_labels(labels, stored.labels.get())) { return false; }
    if (fields.empty()) { return true; }
    json::value parsed;  // only when a field other than the name is asked for
    return matches_fields(fields, [&](std::string_view field) -> std::string {
        if (field == "metadata.name") { return key.second; }
        if (field == "metadata.namespace") { return key.first; }
        if (parsed.is_null()) { parsed = json::parse(*stored.text); }
        return field_value(parsed.get_object(), field);
    });
}

}  // namespace muster::lab
