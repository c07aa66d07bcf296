// Amounts of resources as the API writes them: exact sums in thousandths, and the text that
// Kubernetes would give. A sum is written in the notation of what was added first.
#pragma once

#include <boost/json/fwd.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster::lab {

struct Quantity {
    std::int64_t milli = 0;
    bool is_binary = false;  // written with Ki, Mi, Gi …

    auto operator<=>(const Quantity& other) const { return milli <=> other.milli; }
    bool operator==(const Quantity& other) const { return milli == other.milli; }
};

/// By the name of the resource: "cpu", "requests.nvidia.com/gpu".
using ResourceList = std::map<std::string, Quantity, std::less<>>;

/// A text or a whole number; none when it is no amount or below zero.
std::optional<Quantity> read_quantity(const boost::json::value& value);
/// "1500m", "2k", "1Gi".
std::string text_of(const Quantity& quantity);
/// Stops at what 64 bits hold.
void add(Quantity& sum, const Quantity& more);
void take(Quantity& sum, const Quantity& less);  // not below nothing

/// Amounts that cannot be read are left out. `list` may be null.
ResourceList read_list(const boost::json::value* list);
void add(ResourceList& sum, const ResourceList& more);
/// Each at least as much as in `other`.
void raise(ResourceList& list, const ResourceList& other);
boost::json::object list_of(const ResourceList& list);
/// "cpu=1,pods=2"
std::string text_of(const ResourceList& list);

/// What the pod asks for in all ("requests" or "limits"): its containers and sidecars together, or
/// the most that an init container needs, and the overhead.
ResourceList pod_amounts(const boost::json::object& pod_spec, std::string_view which);

}  // namespace muster::lab
