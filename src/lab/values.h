// What patches and schemas need to know of JSON values: equality by value, a text that equal values
// share, order of numbers, depth. All of it recurses, so documents are bounded by `levels_max`.
#pragma once

#include <boost/json/fwd.hpp>

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace muster::lab {

/// Lists and objects one within the other, of a document and of a patch.
inline constexpr int levels_max = 200;

[[nodiscard]] bool is_number(const boost::json::value& value);
/// Both are numbers; 1 and 1.0 are the same.
[[nodiscard]] std::partial_ordering compare_numbers(const boost::json::value& left,
                                                    const boost::json::value& right);
/// Fields of objects in any order, numbers by value.
[[nodiscard]] bool same_value(const boost::json::value& left, const boost::json::value& right);
/// A text that two values share exactly when they are the same.
[[nodiscard]] std::string identity(const boost::json::value& value);
/// Whether no more than that many lists and objects stand one within the other.
[[nodiscard]] bool is_within(const boost::json::value& value, int levels);
/// For messages: as JSON, cut where it is long.
[[nodiscard]] std::string shown(const boost::json::value& value);
/// The others keep their order. One pass, whatever the number of those dropped.
void drop_fields(boost::json::object& object,
                 const std::function<bool(std::string_view name)>& is_dropped);

}  // namespace muster::lab
