// Reading and making the JSON objects that Volcano's controllers deal with.
#pragma once

#include "kube/client.h"
#include "kube/objects.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace muster::lab::volcano {

using kube::is_leaving;
using kube::time_text;
using kube::uid_of;

using Path = std::initializer_list<std::string_view>;

/// Null when something on the way is not there.
const boost::json::value* find(const boost::json::object& object, Path path);
const boost::json::object* object_at(const boost::json::object& object, Path path);
const boost::json::array* array_at(const boost::json::object& object, Path path);
std::string_view text_at(const boost::json::object& object, Path path,
                         std::string_view otherwise = {});
std::int64_t integer_at(const boost::json::object& object, Path path, std::int64_t otherwise = 0);
/// The member as an object, made when it is none.
boost::json::object& child(boost::json::object& object, std::string_view key);
boost::json::array& children(boost::json::object& object, std::string_view key);

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

kube::Call post(const kube::Resource& resource, std::string_view space,
                const boost::json::object& object);
kube::Call put(const kube::Resource& resource, const boost::json::object& object,
               std::string_view rest = "");
kube::Call merge(const kube::Resource& resource, const kube::ObjectName& name,
                 const boost::json::object& patch, std::string_view rest = "");
/// Only the one with this uid.
kube::Call remove(const kube::Resource& resource, const kube::ObjectName& name,
                  std::string_view uid);

kube::Resource jobs_resource();
kube::Resource pod_groups_resource();
kube::Resource queues_resource();
kube::Resource commands_resource();
kube::Resource pods_resource();
kube::Resource core_resource(std::string_view plural);

}  // namespace muster::lab::volcano
