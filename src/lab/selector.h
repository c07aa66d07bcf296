// Label and field selectors as query parameters have them: "app=web,tier in (a, b),!old",
// "spec.nodeName=n1,status.phase!=Running".
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct Requirement {
    enum class Op : std::uint8_t { in, not_in, exists, not_exists, greater, less };
    std::string key;
    Op op = Op::in;
    std::vector<std::string> values;

    bool operator==(const Requirement&) const = default;
};

using Selector = std::vector<Requirement>;  // all of them must hold

/// Errors are worded as the API server does.
Result<Selector> parse_label_selector(std::string_view text);
/// `=`, `==` and `!=` only.
Result<Selector> parse_field_selector(std::string_view text);
/// A `LabelSelector` of an object: matchLabels and matchExpressions. None selects nothing, an empty
/// one everything.
Result<Selector> read_label_selector(const boost::json::value& selector);

/// `labels` may be null.
bool matches_labels(const Selector& selector, const boost::json::object* labels);
/// `value_of` gives the field's value, empty when it is not there.
bool matches_fields(const Selector& selector,
                    const std::function<std::string(std::string_view)>& value_of);

}  // namespace muster::lab
