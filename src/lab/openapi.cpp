// The OpenAPI v3 document of a group and version: paths that clients look kinds and parameters up
// in, and the schemas of those kinds with all that they refer to.
#include "lab/discovery.h"
#include "lab/verbs.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view schema_prefix = "#/components/schemas/";
constexpr std::string_view object_meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view delete_options = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
constexpr std::string_view kind_key = "x-kubernetes-group-version-kind";

json::object kind_json(const ResourceKind& kind) {
    return {{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}};
}

json::object reference(std::string_view name) {
    return {{"$ref", fmt::format("{}{}", schema_prefix, name)}};
}

struct QueryParameter {
    std::string_view name;
    std::string_view type = "string";
};

constexpr QueryParameter write_parameters[] = {{"dryRun"}, {"fieldManager"}, {"fieldValidation"}};
constexpr QueryParameter patch_parameters[] = {
    {"dryRun"}, {"fieldManager"}, {"fieldValidation"}, {"force", "boolean"}};
constexpr QueryParameter list_parameters[] = {{"allowWatchBookmarks", "boolean"},
                                              {"continue"},
                                              {"fieldSelector"},
                                              {"labelSelector"},
                                              {"limit", "integer"},
                                              {"resourceVersion"},
                                              {"resourceVersionMatch"},
                                              {"sendInitialEvents", "boolean"},
                                              {"timeoutSeconds", "integer"},
                                              {"watch", "boolean"}};
constexpr QueryParameter delete_parameters[] = {{"dryRun"},
                                                {"gracePeriodSeconds", "integer"},
                                                {"orphanDependents", "boolean"},
                                                {"propagationPolicy"}};
constexpr QueryParameter log_parameters[] = {{"container"},
                                             {"follow", "boolean"},
                                             {"limitBytes", "integer"},
                                             {"previous", "boolean"},
                                             {"sinceSeconds", "integer"},
                                             {"tailLines", "integer"},
                                             {"timestamps", "boolean"}};

void add_parameters(json::array& out, std::span<const QueryParameter> parameters) {
    for (const QueryParameter& one : parameters) {
        out.emplace_back(
            json::object{{"name", one.name},
                         {"in", "query"},
                         {"schema", json::object{{"type", one.type}, {"uniqueItems", true}}}});
    }
}

json::object path_parameter(std::string_view name) {
    return {{"name", name},
            {"in", "path"},
            {"required", true},
            {"schema", json::object{{"type", "string"}, {"uniqueItems", true}}}};
}

/// The schemas of one document: which name a kind has, and what is reached from it.
class SchemaSet {
public:
    /// `api_version` is that of the custom kinds.
    SchemaSet(const Schemas& schemas, std::string api_version, const json::object& custom)
        : definitions_(schemas.definitions()),
          api_version_(std::move(api_version)),
          custom_(custom) {
        for (const auto& [name, schema] : definitions_) {
            const json::object* object = schema.if_object();
            const json::value* kinds = object == nullptr ? nullptr : object->if_contains(kind_key);
            if (kinds == nullptr || !kinds->is_array()) { continue; }
            for (const json::value& one : kinds->get_array()) {
                names_.emplace(json::serialize(sorted(one)), name);
            }
        }
    }

    /// Empty when there is no schema of the kind.
    std::string use(const ResourceKind& kind) {
        const json::value* schema = custom_.if_contains(kind.kind);
        if (schema != nullptr && api_version_ == fmt::format("{}/{}", kind.group, kind.version)) {
            return use_custom(kind, *schema);
        }
        const auto found = names_.find(json::serialize(sorted(kind_json(kind))));
        if (found == names_.end()) { return {}; }
        use_definition(found->second);
        return std::string(found->second);
    }

    void use_definition(std::string_view name) {
        std::vector<std::string> waiting{std::string(name)};
        while (!waiting.empty()) {
            const std::string next = std::move(waiting.back());
            waiting.pop_back();
            const json::value* schema = definitions_.if_contains(next);
            if (schema == nullptr || used_.contains(next)) { continue; }
            used_[next] = *schema;
            find_references(*schema, waiting);
        }
    }

    json::object take() { return std::move(used_); }

private:
    static json::object sorted(const json::value& kind) {
        const auto text = [&](std::string_view key) {
            const json::object* object = kind.if_object();
            const json::value* found = object == nullptr ? nullptr : object->if_contains(key);
            return found == nullptr ? json::value("") : *found;
        };
        return {{"group", text("group")}, {"kind", text("kind")}, {"version", text("version")}};
    }

    /// "com.example.stable.v1.CronTab" of the group stable.example.com.
    static std::string custom_name(const ResourceKind& kind) {
        std::string out;
        std::string_view rest = kind.group;
        while (!rest.empty()) {
            const std::size_t dot = rest.rfind('.');
            const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
            out += fmt::format("{}.", rest.substr(begin));
            rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
        }
        return fmt::format("{}{}.{}", out, kind.version, kind.kind);
    }

    /// As it is, with what all objects have.
    std::string use_custom(const ResourceKind& kind, const json::value& schema) {
        std::string name = custom_name(kind);
        if (used_.contains(name)) { return name; }
        json::object out = schema.is_object() ? schema.get_object() : json::object();
        out["type"] = "object";
        json::value& properties = out["properties"];
        if (!properties.is_object()) { properties = json::object(); }
        json::object& fields = properties.get_object();
        fields["apiVersion"] = json::object{{"type", "string"}};
        fields["kind"] = json::object{{"type", "string"}};
        fields["metadata"] = definitions_.contains(object_meta) ? reference(object_meta)
                                                                : json::object{{"type", "object"}};
        json::array kinds;
        kinds.emplace_back(kind_json(kind));
        out[kind_key] = std::move(kinds);
        used_[name] = std::move(out);
        use_definition(object_meta);
        return name;
    }

    static void find_references(const json::value& value, std::vector<std::string>& out) {
        if (const json::array* list = value.if_array()) {
            for (const json::value& one : *list) { find_references(one, out); }
        }
        const json::object* object = value.if_object();
        if (object == nullptr) { return; }
        for (const auto& [key, member] : *object) {
            if (key == "$ref" && member.is_string()) {
                const std::string_view text = member.get_string();
                if (text.starts_with(schema_prefix)) {
                    out.emplace_back(text.substr(schema_prefix.size()));
                }
            } else {
                find_references(member, out);
            }
        }
    }

    const json::object& definitions_;
    std::string api_version_;
    const json::object& custom_;
    std::map<std::string, std::string_view, std::less<>> names_;
    json::object used_;
};

json::object content(std::string_view media_type, std::string_view schema) {
    return {{media_type, json::object{{"schema", schema.empty() ? json::object{{"type", "object"}}
                                                                : reference(schema)}}}};
}

/// Clients take strategic patches where they find them here; without a schema there are none.
json::object patch_body(bool is_strategic) {
    json::object types;
    for (const std::string_view type :
         {"application/apply-patch+yaml", "application/json-patch+json",
          "application/merge-patch+json", "application/strategic-merge-patch+json"}) {
        if (!is_strategic && type.find("strategic") != std::string_view::npos) { continue; }
        types[type] = json::object{{"schema", json::object{{"type", "object"}}}};
    }
    return {{"content", std::move(types)}, {"required", true}};
}

/// One operation: what it is called, its kind, its parameters, what goes in and what comes out.
json::object operation(std::string_view action, const ResourceKind& kind, std::string_view schema,
                       bool is_strategic = true) {
    json::array parameters;
    json::object out;
    if (action == "list") { add_parameters(parameters, list_parameters); }
    if (action == "post" || action == "put") {
        add_parameters(parameters, write_parameters);
        out["requestBody"] =
            json::object{{"content", content("application/json", schema)}, {"required", true}};
    }
    if (action == "patch") {
        add_parameters(parameters, patch_parameters);
        out["requestBody"] = patch_body(is_strategic);
    }
    if (action == "delete") { add_parameters(parameters, delete_parameters); }
    if (action == "deletecollection") {
        add_parameters(parameters, list_parameters);
        add_parameters(parameters, {delete_parameters + 1, std::size(delete_parameters) - 1});
        parameters.emplace_back(json::object{
            {"name", "dryRun"}, {"in", "query"}, {"schema", json::object{{"type", "string"}}}});
    }
    if (!parameters.empty()) { out["parameters"] = std::move(parameters); }
    const bool gives_kind = action != "list" && !action.starts_with("delete");
    out["responses"] = json::object{
        {"200", json::object{{"description", "OK"},
                             {"content", content("application/json",
                                                 gives_kind ? schema : std::string_view())}}}};
    out["x-kubernetes-action"] = action;
    out[kind_key] = kind_json(kind);
    return out;
}

class Paths {
public:
    explicit Paths(SchemaSet& schemas) : schemas_(schemas) {}

    void add(const ResourceType& type) {
        const ResourceKind kind{type.group, type.version, type.kind};
        const std::string schema = schemas_.use(kind);
        const std::string root = (type.group.empty() ? "/api/" : "/apis/") + type.api_version();
        const std::string base = type.is_namespaced && !type.is_create_only
                                     ? root + "/namespaces/{namespace}/" + type.plural
                                     : root + "/" + type.plural;
        json::array of_base;
        if (type.is_namespaced) { of_base.emplace_back(path_parameter("namespace")); }
        if (type.is_create_only) {
            put(base, json::object{{"post", operation("post", kind, schema)}}, {});
            return;
        }
        put(base,
            json::object{{"get", operation("list", kind, schema)},
                         {"post", operation("post", kind, schema)},
                         {"delete", operation("deletecollection", kind, schema)}},
            of_base);
        if (type.is_namespaced) {
            put(root + "/" + type.plural, json::object{{"get", operation("list", kind, schema)}},
                {});
        }
        json::array of_one = of_base;
        of_one.emplace_back(path_parameter("name"));
        put(base + "/{name}",
            json::object{
                {"get", operation("get", kind, schema)},
                {"put", operation("put", kind, schema)},
                {"patch", operation("patch", kind, schema, !type.is_custom && !schema.empty())},
                {"delete", operation("delete", kind, schema)}},
            of_one);
        for (const std::string& one : type.subresources) {
            add_subresource(type, one, base + "/{name}/" + one, of_one);
        }
    }

    json::object take() { return std::move(paths_); }

private:
    void add_subresource(const ResourceType& type, std::string_view subresource,
                         const std::string& path, const json::array& parameters) {
        const ResourceKind kind = kind_of_subresource(type, subresource);
        const std::string schema = schemas_.use(kind);
        json::object item;
        for (const std::string_view verb : verbs_of_subresource(subresource)) {
            const std::string_view method = verb == "create"   ? "post"
                                            : verb == "update" ? "put"
                                                               : verb;
            item[method] = operation(method, kind, schema, !type.is_custom && !schema.empty());
        }
        put(path, std::move(item), parameters);
        if (subresource == "log") {
            json::array all = parameters;
            add_parameters(all, log_parameters);
            paths_[path].get_object()["parameters"] = std::move(all);
        }
    }

    void put(const std::string& path, json::object item, const json::array& parameters) {
        if (!parameters.empty()) { item["parameters"] = parameters; }
        paths_[path] = std::move(item);
    }

    SchemaSet& schemas_;
    json::object paths_;
};

}  // namespace

json::object openapi(Served served, std::string_view group, std::string_view version,
                     const Schemas& schemas, const json::object& custom) {
    SchemaSet used(schemas, fmt::format("{}/{}", group, version), custom);
    used.use_definition(delete_options);
    Paths paths(used);
    for (const ResourceType& type : served) {
        if (type.group == group && type.version == version) { paths.add(type); }
    }
    json::object all = paths.take();
    if (all.empty()) { return {}; }
    return {{"openapi", "3.0.0"},
            {"info", json::object{{"title", "Kubernetes"},
                                  {"version", fmt::format("v{}", schemas.origin())}}},
            {"paths", std::move(all)},
            {"components", json::object{{"schemas", used.take()}}}};
}

}  // namespace muster::lab
