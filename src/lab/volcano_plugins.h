// Volcano's job plugins: `svc` (names of the pods by a headless Service, and files and variables
// with the hosts of each task), `env` (the pod's index in its task), and those of frameworks, see
// volcano_frameworks.h.
#pragma once

#include "kube/client.h"
#include "lab/volcano_spec.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace muster::lab::volcano {

/// Adds to a pod what the job's plugins say.
void wire_pod(boost::json::object& pod, const boost::json::object& job, const JobSpec& spec,
              std::int64_t index);

/// The objects beside the pods that they want: Service, ConfigMap, Secret.
std::vector<std::pair<kube::Resource, boost::json::object>> plugin_objects(
    const boost::json::object& job, const JobSpec& spec);

}  // namespace muster::lab::volcano
