// metadata.managedFields as data: who owns what, by which operation.
#pragma once

#include "lab/field_set.h"

#include <boost/json/fwd.hpp>

#include <string>
#include <vector>

namespace muster::lab {

struct ManagedEntry {
    std::string manager;
    bool is_applied = false;  // operation Apply, else Update
    std::string api_version;
    std::string subresource;
    std::string time;
    FieldSet fields;

    /// Whether it is the entry of the same owner. One that applies stays the same in another
    /// version.
    [[nodiscard]] bool is_same_owner(const ManagedEntry& other) const;
    /// For people: `"kubectl" with subresource "status" using apps/v1`.
    [[nodiscard]] std::string print_owner() const;
};

/// None when the object has none.
Result<std::vector<ManagedEntry>> read_managed_fields(const boost::json::value& object);
/// In the order that Kubernetes keeps; no field at all when there is none.
void write_managed_fields(boost::json::value& object, std::vector<ManagedEntry> entries);

/// Merges the oldest updates into one until no more than ten are left.
void merge_oldest_updates(std::vector<ManagedEntry>& entries);

/// The value of managedFields; null when there is none.
const boost::json::value* managed_fields_in(const boost::json::value& object);

}  // namespace muster::lab
