// How objects of built-in kinds look once a server has read and written them: what is nothing is
// left out, and amounts and times have one form.
#pragma once

#include "lab/schema.h"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace muster::lab {

/// `object` fits the schema.
void canonicalise(boost::json::value& object, const Schema& schema);
/// "0.5" is "500m", "1.5Gi" is "1536Mi"; nothing when the text is no amount.
[[nodiscard]] std::optional<std::string> canonical_quantity(std::string_view text);

}  // namespace muster::lab
