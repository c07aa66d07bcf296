#include "lab/field_labels.h"

#include "base/text.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// Beside the name and the namespace.
struct Row {
    std::string_view group;
    std::string_view plural;
    std::string_view fields;
};
constexpr Row rows[] = {
    {"", "pods",
     "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName "
     "spec.hostNetwork status.phase status.podIP status.podIPs status.nominatedNodeName"},
    {"", "nodes", "spec.unschedulable"},
    {"", "namespaces", "status.phase"},
    {"", "secrets", "type"},
    {"", "services", "spec.clusterIP spec.type"},
    {"", "events",
     "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "
     "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason "
     "reportingComponent source type"},
    {"batch", "jobs", "status.successful"},
    {"resource.k8s.io", "resourceslices", "spec.nodeName spec.driver"},
};

}  // namespace

Outcome<> check_field_labels(const ResourceType& type, const Selector& fields) {
    const auto row = std::ranges::find_if(
        rows, [&](const Row& one) { return one.group == type.group && one.plural == type.plural; });
    const bool has_own = row != std::end(rows);
    const std::vector<std::string_view> own =
        has_own ? words(row->fields) : std::vector<std::string_view>();
    for (const Requirement& one : fields) {
        if (one.key == "metadata.name" || one.key == "metadata.namespace" ||
            std::ranges::find(own, one.key) != own.end()) {
            continue;
        }
        if (type.group == "batch" && type.plural == "jobs") {
            return bad_request(
                fmt::format("field label \"{}\" not supported for {}", one.key, type.kind));
        }
        if (has_own || type.is_custom) {
            return bad_request(fmt::format("field label not supported: {}", one.key));
        }
        return bad_request(
            fmt::format("\"{}\" is not a known field selector: only "
                        "\"metadata.name\", \"metadata.namespace\"",
                        one.key));
    }
    return {};
}

std::string field_label_value(const json::object& object, std::string_view field) {
    if (field == "status.podIPs") { return {}; }  // can be asked for, and is never there
    if (field == "status.successful") {
        return std::to_string(kube::int_at(object, "status.succeeded"));
    }
    if (field == "source") {
        const std::string_view source = kube::text_at(object, "source.component");
        return std::string(source.empty() ? kube::text_at(object, "reportingComponent") : source);
    }
    const json::value* found = kube::value_at(object, field);
    if (found != nullptr) {
        return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
    }
    const bool is_flag = field == "spec.hostNetwork" || field == "spec.unschedulable";
    return is_flag ? "false" : "";
}

}  // namespace muster::lab
