// What goes along an object by its type: which fields it has, how two differ, what both come to,
// and what is left of one without some of its fields.
#pragma once

#include "lab/field_set.h"
#include "lab/field_type.h"

#include <boost/json/fwd.hpp>

namespace muster::lab {

/// Leaves, the items of lists and the keys of maps.
FieldSet fields_of(const boost::json::value& value, const FieldType& type);

struct FieldChanges {
    FieldSet added;
    FieldSet modified;
    FieldSet removed;
};
FieldChanges compare_fields(const boost::json::value& before, const boost::json::value& after,
                            const FieldType& type);

/// Nothing of `live` is taken away; where both say something `applied` is right. The order of lists
/// is that of `applied` for what is in both, and what is in `live` only keeps its place.
boost::json::value merge_fields(const boost::json::value& live, const boost::json::value& applied,
                                const FieldType& type);

/// Without these and all that is inside of them. Where nothing is left there is null.
boost::json::value without_fields(const boost::json::value& value, const FieldSet& fields,
                                  const FieldType& type);

/// With the named fields in which a member is: "spec" if there is "spec.replicas", but not the keys
/// of maps.
FieldSet with_named_fields(const FieldSet& fields, const FieldType& type);

/// Every item of a list must be told from the others.
Result<void> check_lists(const boost::json::value& value, const FieldType& type,
                         const std::string& path);

/// Fields that are null are not there, but where the type wants null or is not known.
void drop_nulls(boost::json::value& value, const FieldType& type);

/// Numbers are equal by value, and the order of fields says nothing.
bool is_same_value(const boost::json::value& left, const boost::json::value& right);

}  // namespace muster::lab
