// Volcano's job plugins that the lab has: `svc` (names of the pods by a headless Service, and files
// and variables with the hosts of each task) and `env` (the pod's index in its task). The others
// (ssh, mpi, pytorch, tensorflow, ray) only set up what runs inside of containers; here nothing
// does, so that a job that names them runs without them.
#pragma once

#include "kube/client.h"
#include "lab/volcano_spec.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::lab::volcano {

bool has_plugin(const JobSpec& spec, std::string_view plugin);

/// Adds to a pod what the job's plugins say.
void wire_pod(boost::json::object& pod, const boost::json::object& job, const JobSpec& spec,
              std::int64_t index);

/// The objects beside the pods that they want: Service and ConfigMap.
std::vector<std::pair<kube::Resource, boost::json::object>> plugin_objects(
    const boost::json::object& job, const JobSpec& spec);

}  // namespace muster::lab::volcano
