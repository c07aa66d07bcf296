// The objects that a Volcano Job stands for: its pods and its PodGroup.
#pragma once

#include "lab/volcano_spec.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab::volcano {

/// "train-worker-0".
std::string pod_name(const boost::json::object& job, std::string_view task, std::int64_t index);
/// Job name and uid, as Volcano has it.
std::string pod_group_name(const boost::json::object& job);

struct PodPlace {
    const TaskSpec& task;
    std::int64_t index = 0;
    std::int64_t version = 0;  // of the job
};
boost::json::object make_pod(const boost::json::object& job, const JobSpec& spec,
                             const PodPlace& place);

/// The PodGroup's spec. Tasks that still wait for others (dependsOn) are not counted in, for a gang
/// whose pods do not exist could never start. minTaskMember holds what tasks demand themselves, and
/// all of a task when the job demands all; otherwise the job's minimum is of any of them.
boost::json::object pod_group_spec(const boost::json::object& job, const JobSpec& spec,
                                   const PodCounts& counts);
boost::json::object make_pod_group(const boost::json::object& job, boost::json::object spec);

}  // namespace muster::lab::volcano
