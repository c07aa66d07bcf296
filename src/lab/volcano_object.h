// Reading and making the JSON objects that Volcano's controllers deal with.
#pragma once

#include "kube/objects.h"
#include "lab/metadata.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::lab::volcano {

using kube::array_at;
using kube::int_at;
using kube::is_leaving;
using kube::object_at;
using kube::text_at;
using kube::time_text;
using kube::uid_of;
using kube::value_at;

/// What is not there, or empty, is `otherwise`.
std::string_view text_or(const boost::json::object& object, std::string_view path,
                         std::string_view otherwise);

/// The Volcano Job that controls it; the name is empty when none does.
struct Owner {
    std::string name;
    std::string uid;
};
Owner owner_of(const boost::json::object& object);
boost::json::array owned_by(const boost::json::object& job);

/// 0 when it is no time.
std::int64_t time_of(std::string_view text);
/// As Go writes a duration: "1h2m3s".
std::string duration_text(std::int64_t milliseconds);
/// "10m", "1.5s", "1h30m" in milliseconds; 0 when it is no duration.
std::int64_t duration_of(std::string_view text);

}  // namespace muster::lab::volcano
