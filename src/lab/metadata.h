// Small readings of objects that everything in the lab does: a value at a path, and metadata.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace muster::lab {

/// Null when one of the keys is not there, or stands in what is no object.
const boost::json::value* at(const boost::json::object& object,
                             std::initializer_list<std::string_view> path);
std::string_view text_at(const boost::json::object& object,
                         std::initializer_list<std::string_view> path);
std::int64_t number_at(const boost::json::object& object,
                       std::initializer_list<std::string_view> path, std::int64_t otherwise = 0);
/// Makes it an object when it is none.
boost::json::object& object_at(boost::json::object& object, std::string_view key);
boost::json::array& list_at(boost::json::object& object, std::string_view key);

inline std::string_view name_of(const boost::json::object& object) {
    return text_at(object, {"metadata", "name"});
}

bool has_finalizers(const boost::json::object& object);
bool is_leaving(const boost::json::object& object);  // has a deletionTimestamp

/// "2026-11-30T03:04:05Z"
std::string rfc3339(std::int64_t milliseconds);
/// -1 when it is no time.
std::int64_t parse_rfc3339(std::string_view text);

/// A DNS label or subdomain, as names of objects are.
bool is_dns_subdomain(std::string_view text);
bool is_dns_label(std::string_view text);

}  // namespace muster::lab
