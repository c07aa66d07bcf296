// The simple JSONPaths by which a CustomResourceDefinition names what a column shows.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <string_view>
#include <vector>

namespace muster::lab {

/// What a path finds, in order: `.spec.a`, `['a.b']`, `.a\.b`, `[0]`, `[-1]`, `[*]`,
/// `[?(@.type=="Ready")]`; a name first. Nothing found is no error.
Result<std::vector<const boost::json::value*>> select_path(const boost::json::object& root,
                                                           std::string_view path);

}  // namespace muster::lab
