// Objects as the rows that `kubectl get` prints: a `Table` of meta.k8s.io/v1 with the columns that
// people know of each kind.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace muster::lab {

/// What becomes of each row's object.
enum class RowObject : std::uint8_t { none, metadata, whole };

/// "5m", "3h20m", "2d": as the command line writes ages.
std::string age(std::int64_t seconds);

/// `columns` is a CustomResourceDefinition's additionalPrinterColumns, null for built-in kinds.
/// Kinds without columns of their own get NAME and AGE. `now` in seconds since the epoch.
boost::json::object table_of(std::string_view group, std::string_view kind,
                             std::span<const boost::json::object* const> objects,
                             const boost::json::array* columns, RowObject row_object,
                             std::int64_t now);

}  // namespace muster::lab
