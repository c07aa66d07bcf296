// Volcano's job plugins for frameworks, as its documentation has them: what tells the processes of
// a job where the others are. `pytorch` (MASTER_ADDR, MASTER_PORT, WORLD_SIZE, RANK), `tensorflow`
// (TF_CONFIG), `mpi` (MPI_HOST of the master), `ray` (commands of head and workers, a Service for
// the head) and `ssh` (a Secret with a key pair, in each container).
#pragma once

#include "kube/client.h"
#include "lab/volcano_spec.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::lab::volcano {

/// Named in the job, or needed by one that is: frameworks need `svc`, mpi `ssh` too.
bool has_plugin(const JobSpec& spec, std::string_view plugin);
/// The plugin's argument "--name=value"; `otherwise` when it is not said.
std::string plugin_argument(const JobSpec& spec, std::string_view plugin, std::string_view name,
                            std::string_view otherwise);

/// Where the pods of a task are found: "train-worker-0.train".
std::vector<std::string> hosts_of(const boost::json::object& job, const TaskSpec& task);
void each_container(boost::json::object& pod_spec,
                    const std::function<void(boost::json::object&)>& work);

struct FrameworkPod {
    const boost::json::object& job;
    const JobSpec& spec;
    std::string_view task;
    std::int64_t index = 0;
};
void wire_frameworks(boost::json::object& pod, const FrameworkPod& place);

/// Secret and Service beside the pods. The Secret is without keys: see add_ssh_keys.
std::vector<std::pair<kube::Resource, boost::json::object>> framework_objects(
    const boost::json::object& job, const JobSpec& spec);
/// Keys into a Secret that is to be made.
void add_ssh_keys(boost::json::object& secret, const JobSpec& spec);

}  // namespace muster::lab::volcano
