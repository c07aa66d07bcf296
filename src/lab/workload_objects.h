// What the workload controllers share: pods of a template, what pods are, and statuses.
#pragma once

#include "kube/client.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::lab {

/// A pod of the owner's spec.template with a generateName; the owner controls it.
boost::json::object pod_of_template(const boost::json::object& owner);
/// Sets metadata.labels (or annotations) of an object.
void put_in(boost::json::object& object, std::string_view map, std::string_view key,
            std::string_view value);

/// The name of the controller of that kind; none when another one or nobody controls it.
std::optional<kube::ObjectName> controller_name(const boost::json::object& object,
                                                std::string_view kind);
/// Those that the owner controls and whose names begin with its own, in their order.
std::vector<const boost::json::object*> controlled_by(const boost::json::object& owner,
                                                      const kube::Informer& cache);

bool is_over(const boost::json::object& pod);      // Succeeded or Failed
bool is_standing(const boost::json::object& pod);  // neither over nor being deleted
/// Ready, and for so many seconds.
bool is_available(const boost::json::object& pod, std::int64_t seconds, std::int64_t now);

struct ConditionUpdate {
    std::string_view type;
    std::string_view status;
    std::string_view reason;
    std::string_view message;
};

/// In a list of conditions; the time of the last change changes only with the status.
void set_condition(boost::json::array& conditions, const ConditionUpdate& update, std::int64_t now);
/// Takes the condition of that type away.
void drop_condition(boost::json::array& conditions, std::string_view type);
boost::json::array conditions_in(const boost::json::object& object);
/// A count as the API writes it: left out when it is nothing.
boost::json::value count_or_none(std::int64_t count);
/// Writes those fields of the status, unless it has them already. Null takes a field away.
void write_status(kube::Transport& transport, const kube::Resource& resource,
                  const boost::json::object& object, boost::json::object status);
/// A number, or a percentage of `whole` ("25%").
std::int64_t share_of(const boost::json::value* value, std::int64_t whole, bool rounds_up,
                      std::string_view otherwise);
/// Ten letters and digits that are the same for the same value, whatever the order of its keys.
std::string template_hash(const boost::json::value& value);

}  // namespace muster::lab
