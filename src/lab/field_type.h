// How the value in one place of an object merges: by its schema, and where that says nothing by
// what the value is (objects are maps, lists are one). A view, as Schema is.
#pragma once

#include "lab/field_set.h"
#include "lab/schema.h"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string_view>

namespace muster::lab {

class FieldType {
public:
    /// `open`: no value, it takes the form of the other. `clash`: two that do not go together.
    enum class Form : std::uint8_t { leaf, map, list, open, clash };

    /// The type of a whole object of this schema. Its metadata is known even if the schema does
    /// not say what they are, as that of a custom resource.
    static FieldType of_object(const Schema& schema);

    [[nodiscard]] Form form(const boost::json::value* value) const;
    /// Of two values to be compared or merged; either may be missing.
    [[nodiscard]] Form form(const boost::json::value* left, const boost::json::value* right) const;

    [[nodiscard]] FieldType field(std::string_view name) const;
    /// Whether it is a field with a name of its own, not a key of a map.
    [[nodiscard]] bool names(std::string_view name) const;
    [[nodiscard]] FieldType item() const;
    /// What tells the item of a list from the others.
    [[nodiscard]] Result<FieldStep> step_of(const boost::json::value& item) const;

    [[nodiscard]] bool keeps_null() const;
    [[nodiscard]] bool is_known() const { return schema_.has_value(); }

private:
    FieldType(std::optional<Schema> schema, bool is_atomic, bool is_root);

    std::optional<Schema> schema_;
    bool is_atomic_;  // all of it is one leaf
    bool is_root_;
};

/// What a new object has before anything is set in it: the parts that are always there. Nobody owns
/// the parts as such, but what is in them.
boost::json::value empty_object(const Schema& schema);

}  // namespace muster::lab
