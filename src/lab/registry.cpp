#include "lab/registry.h"

#include "lab/causes.h"
#include "lab/kind_rules.h"
#include "lab/metadata.h"
#include "lab/names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace muster::lab {

namespace json = boost::json;

struct Registry::Definition {
    json::object object;
};

namespace {

std::string lower_case(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

std::vector<std::string> texts_of(const json::object& object, std::string_view path) {
    std::vector<std::string> out;
    const json::array* found = kube::array_at(object, path);
    if (found == nullptr) { return out; }
    for (const json::value& one : *found) {
        if (one.is_string()) { out.emplace_back(one.get_string()); }
    }
    return out;
}

const json::array& versions_of(const json::object& definition) {
    static const json::array none;
    const json::value* found = value_at(definition, "spec.versions");
    return found != nullptr && found->is_array() ? found->get_array() : none;
}

const json::object* version_of(const json::object& definition, std::string_view name) {
    for (const json::value& one : versions_of(definition)) {
        if (one.is_object() && text_at(one.get_object(), "name") == name) {
            return &one.get_object();
        }
    }
    return nullptr;
}

ResourceType type_of(const json::object& definition, const json::object& version) {
    ResourceType type;
    type.group = text_at(definition, "spec.group");
    type.version = text_at(version, "name");
    type.kind = text_at(definition, "spec.names.kind");
    type.plural = text_at(definition, "spec.names.plural");
    type.singular = text_at(definition, "spec.names.singular");
    if (type.singular.empty()) { type.singular = lower_case(type.kind); }
    type.short_names = texts_of(definition, "spec.names.shortNames");
    type.categories = texts_of(definition, "spec.names.categories");
    type.is_namespaced = text_at(definition, "spec.scope") == "Namespaced";
    for (const std::string_view sub : {"status", "scale"}) {
        if (value_at(version, fmt::format("subresources.{}", sub)) != nullptr) {
            type.subresources.emplace_back(sub);
        }
    }
    type.is_custom = true;
    return type;
}

}  // namespace

Registry::Registry(const Schemas& schemas) : schemas_(schemas) { rebuild(); }
Registry::~Registry() = default;

void Registry::rebuild() {
    const auto built_in = built_in_resources();
    served_.assign(built_in.begin(), built_in.end());
    for (const auto& [name, definition] : definitions_) {
        for (const json::value& one : versions_of(definition->object)) {
            if (!one.is_object() || !kube::flag_at(one.get_object(), "served")) { continue; }
            ResourceType type = type_of(definition->object, one.get_object());
            // What is built in is not defined anew.
            if (find(type.group, type.version, type.plural) == nullptr) {
                served_.push_back(std::move(type));
            }
        }
    }
}

const ResourceType* Registry::find(std::string_view group, std::string_view version,
                                   std::string_view plural) const {
    const auto found = std::find_if(served_.begin(), served_.end(), [&](const ResourceType& type) {
        return type.plural == plural && type.group == group && type.version == version;
    });
    return found == served_.end() ? nullptr : &*found;
}

const ResourceType* Registry::stored(std::string_view storage) const {
    const auto found = std::find_if(served_.begin(), served_.end(), [&](const ResourceType& type) {
        return storage_name(type) == storage;
    });
    return found == served_.end() ? nullptr : &*found;
}

std::optional<Schema> Registry::schema(const ResourceType& type) const {
    if (!type.is_custom) { return schemas_.find(type.group, type.version, type.kind); }
    const auto found = definitions_.find(type.plural + "." + type.group);
    if (found == definitions_.end()) { return std::nullopt; }
    const json::object* version = version_of(found->second->object, type.version);
    const json::value* schema =
        version == nullptr ? nullptr : value_at(*version, "schema.openAPIV3Schema");
    if (schema == nullptr) { return std::nullopt; }
    return Schema(*schema, nullptr);
}

const json::array* Registry::columns(const ResourceType& type) const {
    const auto found = definitions_.find(type.plural + "." + type.group);
    if (!type.is_custom || found == definitions_.end()) { return nullptr; }
    const json::object* version = version_of(found->second->object, type.version);
    const json::value* columns =
        version == nullptr ? nullptr : version->if_contains("additionalPrinterColumns");
    return columns == nullptr ? nullptr : columns->if_array();
}

json::object Registry::custom_schemas(std::string_view group, std::string_view version) const {
    json::object out;
    for (const ResourceType& type : served_) {
        if (!type.is_custom || type.group != group || type.version != version) { continue; }
        if (const auto found = schema(type)) { out[type.kind] = found->raw(); }
    }
    return out;
}

void Registry::define(std::string_view name, const json::object& definition) {
    definitions_[std::string(name)] = std::make_unique<Definition>(Definition{definition});
    rebuild();
}

void Registry::undefine(std::string_view name) {
    if (const auto found = definitions_.find(name); found != definitions_.end()) {
        definitions_.erase(found);
        rebuild();
    }
}

std::vector<ApiCause> check_definition(const json::object& definition) {
    Causes out;
    const auto require = [&](std::string_view path) {
        const bool is_there = !text_at(definition, path).empty();
        if (!is_there) { out.required(std::string(path)); }
        return is_there;
    };
    if (require("spec.group")) {
        const std::string_view group = text_at(definition, "spec.group");
        out.wrong("spec.group", json::value(group), check_subdomain(group));
    }
    if (require("spec.scope")) {
        constexpr std::array<std::string_view, 2> scopes{"Cluster", "Namespaced"};
        const std::string_view scope = text_at(definition, "spec.scope");
        if (std::ranges::find(scopes, scope) == scopes.end()) {
            out.unsupported("spec.scope", json::value(scope), scopes);
        }
    }
    require("spec.names.plural");
    if (!require("spec.names.kind")) {  // these come from it
        require("spec.names.listKind");
        require("spec.names.singular");
    }
    const std::string expected = fmt::format("{}.{}", text_at(definition, "spec.names.plural"),
                                             text_at(definition, "spec.group"));
    if (const std::string_view name = name_of(definition); !name.empty() && name != expected) {
        out.wrong("metadata.name", json::value(name), "must be spec.names.plural+\".\"+spec.group");
    }
    const json::array& versions = versions_of(definition);
    const auto stored = std::count_if(versions.begin(), versions.end(), [](const json::value& one) {
        return one.is_object() && kube::flag_at(one.get_object(), "storage");
    });
    if (stored != 1) {
        const json::value* given = value_at(definition, "spec.versions");
        out.wrong("spec.versions", given == nullptr ? json::value(nullptr) : *given,
                  "must have exactly one version marked as storage version");
    }
    if (stored == 0) {
        out.wrong("status.storedVersions", json::value(nullptr),
                  "must have at least one stored version");
    }
    std::size_t index = 0;
    for (const json::value& one : versions) {
        const std::string place = fmt::format("spec.versions[{}].schema.openAPIV3Schema", index++);
        if (!one.is_object()) { continue; }
        const json::value* schema = value_at(one.get_object(), "schema.openAPIV3Schema");
        if (schema == nullptr) {
            out.required(place);
        } else if (schema->is_object() && text_at(schema->get_object(), "type").empty()) {
            out.required(
                versions.size() == 1 ? "spec.validation.openAPIV3Schema.type" : place + ".type",
                "must not be empty at the root");
        }
    }
    return out.take();
}

void establish(json::object& definition, std::string_view now) {
    json::object& spec = child(definition, "spec");
    json::object& names = child(spec, "names");
    if (text_at(names, "singular").empty()) {
        names["singular"] = lower_case(text_at(names, "kind"));
    }
    if (text_at(names, "listKind").empty()) {
        names["listKind"] = std::string(text_at(names, "kind")) + "List";
    }
    child(spec, "conversion").emplace("strategy", "None");
    json::object& status = child(definition, "status");
    status["acceptedNames"] = names;
    json::array stored;
    for (const json::value& one : versions_of(definition)) {
        if (one.is_object() && kube::flag_at(one.get_object(), "storage")) {
            stored.push_back(one.get_object().at("name"));
        }
    }
    status["storedVersions"] = std::move(stored);
    if (status.contains("conditions")) { return; }
    const auto condition = [&](std::string_view type, std::string_view reason,
                               std::string_view message) {
        return json::object{{"type", type},
                            {"status", "True"},
                            {"lastTransitionTime", now},
                            {"reason", reason},
                            {"message", message}};
    };
    status["conditions"] = json::array{
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted")};
}

}  // namespace muster::lab
