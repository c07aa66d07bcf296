// The checks that a requirement passes whoever wrote it: a query or an object.
#pragma once

#include "lab/selector.h"

#include <optional>

namespace muster::lab {

/// The key, the number of values, and each of them.
Result<Requirement> check_requirement(Requirement requirement);

/// What `>` and `<` compare: a decimal number with or without a sign.
std::optional<std::int64_t> integer_value(std::string_view text);

}  // namespace muster::lab
