// What schemas mean for the fields of an object, for those who walk through both: checks, pruning
// and defaults. Inside of lab/ only.
#pragma once

#include "lab/schema.h"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string_view>

namespace muster::lab {

/// Built-in kinds are decoded into types: a wrong type is an error of decoding, null stands for
/// nothing, an object without properties is free. Custom kinds have structural schemas: only what
/// is told apart by x-kubernetes-preserve-unknown-fields is free, and their metadata is not theirs.
enum class Rules : std::uint8_t { typed, structural };

/// By the group of the kind that the root says it is of; one that says nothing is structural.
[[nodiscard]] Rules rules_of(const Schema& root);

struct Member {
    enum class Is : std::uint8_t { known, free, unknown };
    Is is = Is::unknown;
    std::optional<Schema> schema;  // of a known one
};

[[nodiscard]] Member member_of(const Schema& schema, std::string_view name, Rules rules,
                               bool is_root);

}  // namespace muster::lab
