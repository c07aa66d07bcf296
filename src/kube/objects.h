// What every controller needs with the API's objects: reading them by path, the parts that all of
// them have, and the calls that change them. Events are in kube/events.h.
#pragma once

#include "kube/client.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::kube {

/// Empty when the text is no object.
boost::json::object object_of(std::string_view text);
/// At "spec.nodeName"; null when it is not there. Keys with dots need label_of or annotation_of.
const boost::json::value* value_at(const boost::json::object& object, std::string_view path);
const boost::json::object* object_at(const boost::json::object& object, std::string_view path);
const boost::json::array* array_at(const boost::json::object& object, std::string_view path);
/// Empty when it is not there or no text.
std::string_view text_at(const boost::json::object& object, std::string_view path);
std::int64_t int_at(const boost::json::object& object, std::string_view path,
                    std::int64_t otherwise = 0);
bool flag_at(const boost::json::object& object, std::string_view path, bool otherwise = false);

ObjectName name_of(const boost::json::object& object);
std::string_view uid_of(const boost::json::object& object);
std::string_view label_of(const boost::json::object& object, std::string_view key);
std::string_view annotation_of(const boost::json::object& object, std::string_view key);
/// It has a deletionTimestamp.
bool is_leaving(const boost::json::object& object);
/// Of "namespace/name".
ObjectName object_name(std::string_view text);
/// "True", "False", "Unknown" or empty, of status.conditions.
std::string_view condition_of(const boost::json::object& object, std::string_view type);

/// To the owner as the controller of what it is put into.
boost::json::object owner_reference(const boost::json::object& owner);
/// The owner reference that controls the object; null without one.
const boost::json::object* controller_of(const boost::json::object& object);

/// "/api/v1/nodes was answered with 403: nodes is forbidden": what a server says of a call.
std::string refusal_of(std::string_view target, const Answer& answer);

/// "2026-11-29T10:00:00Z" of milliseconds since the epoch.
std::string time_text(std::int64_t milliseconds);
/// "2026-11-29T10:00:00.250000Z", as in leases and the newer events.
std::string micro_time_text(std::int64_t milliseconds);
/// In milliseconds since the epoch; -1 when it is no such time.
std::int64_t read_time(std::string_view text);

enum class PatchKind : std::uint8_t { merge, strategic };

struct PatchTarget {
    Resource resource;
    ObjectName name;
    std::string rest;  // "status"
    PatchKind kind = PatchKind::merge;
};

struct Deletion {
    std::string uid;          // only this one
    std::int64_t grace = -1;  // seconds; -1 leaves it to the object
    std::string propagation;  // "Background"; empty leaves it to the server
};

Call create_call(const Resource& resource, std::string_view space,
                 const boost::json::object& object);
/// In place of the object of its name.
Call replace_call(const Resource& resource, const boost::json::object& object,
                  std::string_view rest = "");
Call patch_call(const PatchTarget& target, const boost::json::object& patch);
Call delete_call(const Resource& resource, const ObjectName& name, const Deletion& how);

/// Whether a write that was answered so is worth another try. 409 says that it was meant for
/// another state of the object, of which the watch will tell.
bool may_be_taken_later(const Result<Answer>& answer);

void create_object(Transport& transport, const Resource& resource, std::string_view space,
                   const boost::json::object& object, Transport::Done done = {});
void patch_object(Transport& transport, const PatchTarget& target, const boost::json::object& patch,
                  Transport::Done done = {});
void delete_object(Transport& transport, const Resource& resource, const ObjectName& name,
                   const Deletion& how, Transport::Done done = {});

}  // namespace muster::kube
