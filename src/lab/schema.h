// What is known of the types of objects: names, types, enumerations, defaults, and how lists and
// maps merge, as OpenAPI v3 schemas with Kubernetes' extensions. Imported from a real API server by
// tools/import_schemas, or brought by a CustomResourceDefinition. A Schema is a view: the Schemas
// or the definition that it comes from outlive it.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

class Schema {
public:
    enum class Type : std::uint8_t { any, object, list, string, integer, number, boolean };
    enum class ListType : std::uint8_t { atomic, set, map };

    /// `definitions` resolve `$ref`; null when there are none.
    Schema(const boost::json::value& root, const boost::json::object* definitions,
           std::string_view definition = {});

    [[nodiscard]] Type type() const;
    /// Of the definition that it is: "PodSpec"; empty where it stands in place. And of which
    /// package: "v1".
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] std::string_view package() const;
    [[nodiscard]] bool is_quantity() const { return name() == "Quantity"; }
    [[nodiscard]] std::string_view format() const;
    [[nodiscard]] bool is_int_or_string() const;
    [[nodiscard]] bool is_nullable() const;
    [[nodiscard]] bool keeps_unknown() const;  // x-kubernetes-preserve-unknown-fields
    [[nodiscard]] bool is_embedded() const;    // x-kubernetes-embedded-resource
    [[nodiscard]] std::optional<Schema> property(std::string_view name) const;
    /// The type of all values of a map: additionalProperties.
    [[nodiscard]] std::optional<Schema> additional() const;
    [[nodiscard]] std::optional<Schema> items() const;
    /// x-kubernetes-list-type; what says nothing is atomic.
    [[nodiscard]] ListType list_type() const;
    [[nodiscard]] std::vector<std::string> list_keys() const;  // x-kubernetes-list-map-keys
    [[nodiscard]] bool is_atomic_map() const;                  // x-kubernetes-map-type
    [[nodiscard]] std::string_view patch_merge_key() const;
    [[nodiscard]] bool has_patch_strategy(
        std::string_view strategy) const;  // "merge", "retainKeys"
    [[nodiscard]] std::vector<std::string> required() const;
    [[nodiscard]] const boost::json::value* default_value() const;
    /// The raw schema, references resolved.
    [[nodiscard]] const boost::json::object& raw() const { return *raw_; }

private:
    const boost::json::object* raw_;
    const boost::json::object* definitions_;
    std::string_view definition_;  // "io.k8s.api.core.v1.PodSpec"
};

/// Those that are built in.
class Schemas {
public:
    /// `json` is what the import tool writes, unpacked.
    static Result<Schemas> read(std::string_view json);
    Schemas(Schemas&&) noexcept;
    Schemas& operator=(Schemas&&) noexcept;
    ~Schemas();

    /// Of a kind; none when it is not known.
    [[nodiscard]] std::optional<Schema> find(std::string_view group, std::string_view version,
                                             std::string_view kind) const;
    /// The version of the server that they come from: "1.37.2".
    [[nodiscard]] std::string_view origin() const;
    /// All of them by name: "io.k8s.api.core.v1.Pod".
    [[nodiscard]] const boost::json::object& definitions() const;

private:
    struct Data;
    explicit Schemas(std::unique_ptr<Data> data);
    std::unique_ptr<Data> data_;
};

/// What is wrong with an object by its schema, as Kubernetes words it.
struct FieldFault {
    enum class Kind : std::uint8_t {
        unknown,
        duplicate,
        wrong_type,
        required,
        unsupported,
        invalid
    };
    Kind kind = Kind::unknown;
    std::string field;  // "spec.containers[0].image"
    std::string detail;
};

/// Types, required fields, enumerations and bounds; unknown fields too.
std::vector<FieldFault> check(const boost::json::value& object, const Schema& schema);
/// Without the fields that no schema knows.
void prune(boost::json::value& object, const Schema& schema);
/// Fills in what has a default and is not there.
void fill_defaults(boost::json::value& object, const Schema& schema);

}  // namespace muster::lab
