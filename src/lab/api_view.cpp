#include "base/text.h"
#include "lab/api_ask.h"
#include "lab/field_labels.h"
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

namespace {

std::string_view parameter(std::string_view clause, std::string_view name) {
    for (const std::string_view part : split(clause, ';')) {
        const std::string_view one = trim(part);
        if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=') {
            return one.substr(name.size() + 1);
        }
    }
    return {};
}

}  // namespace

View view_of(std::string_view accept) {
    View view{.is_acceptable = accept.empty()};
    for (std::string_view clause : split(accept, ',')) {
        clause = trim(clause);
        const std::string_view media = trim(clause.substr(0, clause.find(';')));
        const bool is_json =
            media == "application/json" || media == "*/*" || media == "application/*";
        const bool is_other =
            media == "application/yaml" || media == "application/vnd.kubernetes.protobuf";
        if (!is_json && !is_other) { continue; }
        view.is_known = true;
        const std::string_view as = parameter(clause, "as");
        if (as.empty()) {
            view.is_acceptable = true;
            break;
        }
        const std::string_view version = parameter(clause, "v");
        if (parameter(clause, "g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) {
            continue;
        }
        view.is_table = as == "Table";
        view.is_metadata = as.starts_with("PartialObjectMetadata");
        view.is_metadata_list = as == "PartialObjectMetadataList";
        view.is_acceptable = view.is_table || view.is_metadata;
        if (view.is_acceptable) { break; }
    }
    return view;
}

Outcome<> check_view(const View& view, const ResourceType& type, bool is_list) {
    const auto refuse = [](std::string message) {
        return tl::unexpected(
            ApiError{.code = 406, .reason = "NotAcceptable", .message = std::move(message)});
    };
    if (!view.is_acceptable && !view.is_known) {
        auto refused = refuse(
            "406: Not Acceptable\n\nAvailable representations: application/json, "
            "application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch");
        refused.value().has_details = true;
        return refused;
    }
    if (!view.is_acceptable) {
        return refuse(
            "only the following media types are accepted: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
    }
    if (!view.is_metadata || view.is_metadata_list == is_list) { return {}; }
    const std::string_view group =
        type.group.empty() ? "core" : std::string_view(type.group).substr(0, type.group.find('.'));
    return refuse(
        fmt::format("you requested PartialObjectMetadata{}, but the requested object is "
                    "{}a list (*{}.{}{})",
                    view.is_metadata_list ? "List" : "", is_list ? "" : "not ", group, type.kind,
                    is_list ? "List" : ""));
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

Outcome<Wanted> read_wanted(const ResourceType& type, std::string_view labels,
                            std::string_view fields) {
    auto by_label = parse_label_selector(labels);
    if (!by_label) { return bad_request(by_label.error().message); }
    auto by_field = parse_field_selector(fields);
    if (!by_field) { return bad_request(by_field.error().message); }
    if (auto done = check_field_labels(type, *by_field); !done) {
        return tl::unexpected(std::move(done.error()));
    }
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
        return field_label_value(parsed.get_object(), field);
    });
}

}  // namespace muster::lab
