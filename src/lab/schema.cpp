#include "lab/schema.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <map>

namespace muster::lab {

namespace json = boost::json;

namespace {

const json::object no_schema;
constexpr int references_max = 8;  // one behind the other

std::string_view text_at(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string_view(found->get_string())
                                                  : std::string_view();
}

bool flag_at(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    return found != nullptr && found->is_bool() && found->get_bool();
}

std::vector<std::string> texts_at(const json::object& object, std::string_view key) {
    std::vector<std::string> out;
    const json::value* found = object.if_contains(key);
    if (found == nullptr || !found->is_array()) { return out; }
    for (const json::value& one : found->get_array()) {
        if (one.is_string()) { out.emplace_back(one.get_string()); }
    }
    return out;
}

/// Follows `$ref`, also where it is the only part of an `allOf`, as Kubernetes writes it.
const json::object* resolve(const json::value& root, const json::object* definitions,
                            std::string_view& definition) {
    constexpr std::string_view prefix = "#/components/schemas/";
    const json::object* at = root.if_object();
    for (int i = 0; at != nullptr && i < references_max; ++i) {
        std::string_view reference = text_at(*at, "$ref");
        if (const json::value* all = at->if_contains("allOf");
            reference.empty() && all != nullptr && all->is_array() &&
            all->get_array().size() == 1 && all->get_array()[0].is_object()) {
            reference = text_at(all->get_array()[0].get_object(), "$ref");
        }
        if (reference.empty()) { return at; }
        if (definitions == nullptr || !reference.starts_with(prefix)) { return nullptr; }
        const json::value* next = definitions->if_contains(reference.substr(prefix.size()));
        at = next == nullptr ? nullptr : next->if_object();
        definition = reference.substr(prefix.size());
    }
    return at;
}

}  // namespace

Schema::Schema(const json::value& root, const json::object* definitions,
               std::string_view definition)
    : raw_(nullptr),
      definitions_(definitions),
      definition_(definition) {
    raw_ = resolve(root, definitions, definition_);
    if (raw_ == nullptr) { raw_ = &no_schema; }
}

Schema::Type Schema::type() const {
    const std::string_view type = text_at(*raw_, "type");
    if (type == "object") { return Type::object; }
    if (type == "array") { return Type::list; }
    if (type == "string") { return is_int_or_string() ? Type::any : Type::string; }
    if (type == "integer") { return Type::integer; }
    if (type == "number") { return Type::number; }
    if (type == "boolean") { return Type::boolean; }
    return raw_->contains("properties") ? Type::object : Type::any;
}

std::string_view Schema::name() const {
    return definition_.substr(definition_.rfind('.') + 1);  // all of it when there is none
}

std::string_view Schema::package() const {
    const std::string_view before = definition_.substr(0, definition_.rfind('.'));
    return before.size() == definition_.size() ? std::string_view()
                                               : before.substr(before.rfind('.') + 1);
}

std::string_view Schema::format() const { return text_at(*raw_, "format"); }

bool Schema::is_int_or_string() const {
    return flag_at(*raw_, "x-kubernetes-int-or-string") || format() == "int-or-string";
}

bool Schema::is_nullable() const { return flag_at(*raw_, "nullable"); }

bool Schema::keeps_unknown() const {
    return flag_at(*raw_, "x-kubernetes-preserve-unknown-fields");
}

bool Schema::is_embedded() const { return flag_at(*raw_, "x-kubernetes-embedded-resource"); }

std::optional<Schema> Schema::property(std::string_view name) const {
    const json::value* properties = raw_->if_contains("properties");
    if (properties == nullptr || !properties->is_object()) { return std::nullopt; }
    const json::value* found = properties->get_object().if_contains(name);
    if (found == nullptr) { return std::nullopt; }
    return Schema(*found, definitions_);
}

std::optional<Schema> Schema::additional() const {
    const json::value* found = raw_->if_contains("additionalProperties");
    if (found == nullptr || !found->is_object()) { return std::nullopt; }
    return Schema(*found, definitions_);
}

std::optional<Schema> Schema::items() const {
    const json::value* found = raw_->if_contains("items");
    if (found == nullptr) { return std::nullopt; }
    return Schema(*found, definitions_);
}

Schema::ListType Schema::list_type() const {
    const std::string_view type = text_at(*raw_, "x-kubernetes-list-type");
    if (type == "set") { return ListType::set; }
    return type == "map" ? ListType::map : ListType::atomic;
}

std::vector<std::string> Schema::list_keys() const {
    return texts_at(*raw_, "x-kubernetes-list-map-keys");
}

bool Schema::is_atomic_map() const { return text_at(*raw_, "x-kubernetes-map-type") == "atomic"; }

std::string_view Schema::patch_merge_key() const {
    return text_at(*raw_, "x-kubernetes-patch-merge-key");
}

bool Schema::has_patch_strategy(std::string_view strategy) const {
    std::string_view all = text_at(*raw_, "x-kubernetes-patch-strategy");
    while (!all.empty()) {
        const std::string_view one = all.substr(0, all.find(','));
        if (one == strategy) { return true; }
        all.remove_prefix(std::min(all.size(), one.size() + 1));
    }
    return false;
}

std::vector<std::string> Schema::required() const { return texts_at(*raw_, "required"); }

const json::value* Schema::default_value() const { return raw_->if_contains("default"); }

struct Schemas::Data {
    json::value root;
    const json::object* definitions = nullptr;
    std::map<std::string, std::string_view, std::less<>> kinds;  // "apps/v1/Deployment" → name
};

Schemas::Schemas(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Schemas::Schemas(Schemas&&) noexcept = default;
Schemas& Schemas::operator=(Schemas&&) noexcept = default;
Schemas::~Schemas() = default;

Result<Schemas> Schemas::read(std::string_view text) {
    auto data = std::make_unique<Data>();
    boost::system::error_code wrong;
    data->root = json::parse(text, wrong);
    const json::object* root = wrong ? nullptr : data->root.if_object();
    const json::value* definitions = root == nullptr ? nullptr : root->if_contains("schemas");
    if (definitions == nullptr || !definitions->is_object()) {
        return fail(Code::invalid, "schemas: expected an object with \"schemas\"");
    }
    data->definitions = &definitions->get_object();
    for (const auto& [name, schema] : *data->definitions) {
        const json::object* object = schema.if_object();
        const json::value* kinds =
            object == nullptr ? nullptr : object->if_contains("x-kubernetes-group-version-kind");
        if (kinds == nullptr || !kinds->is_array()) { continue; }
        for (const json::value& kind : kinds->get_array()) {
            if (!kind.is_object()) { continue; }
            data->kinds.emplace(fmt::format("{}/{}/{}", text_at(kind.get_object(), "group"),
                                            text_at(kind.get_object(), "version"),
                                            text_at(kind.get_object(), "kind")),
                                name);
        }
    }
    return Schemas(std::move(data));
}

std::optional<Schema> Schemas::find(std::string_view group, std::string_view version,
                                    std::string_view kind) const {
    const auto found = data_->kinds.find(fmt::format("{}/{}/{}", group, version, kind));
    if (found == data_->kinds.end()) { return std::nullopt; }
    return Schema(*data_->definitions->if_contains(found->second), data_->definitions,
                  found->second);
}

std::string_view Schemas::origin() const { return text_at(data_->root.get_object(), "kubernetes"); }

const json::object& Schemas::definitions() const { return *data_->definitions; }

}  // namespace muster::lab
