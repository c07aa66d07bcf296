// Keeps the status of the PodGroups of scheduler-plugins (`scheduling.x-k8s.io`), for whoever has
// applied their definition: what that project's controller does. The scheduler writes no phase.
#pragma once

#include "kube/client.h"
#include "lab/reconcile_queue.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace muster::lab {

struct PluginMembers {
    std::int64_t all = 0;
    std::int64_t scheduled = 0;  // on a node, whatever became of them
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
};
/// Pending until enough members are there, Scheduling until enough of them run, Running, and in the
/// end Finished or Failed.
std::string_view next_plugin_phase(std::string_view phase, std::int64_t min_member,
                                   const PluginMembers& members);

class PluginGroupStatus {
public:
    /// `pods` is started by whoever owns it, and tells `on_pod`.
    PluginGroupStatus(kube::Transport& transport, LabTimers& timers, const kube::Informer& pods);

    /// Waits for the definition; without it nothing is asked of the kind.
    void start();
    void on_pod(kube::Informer::Change change, const kube::ObjectName& name,
                const boost::json::object& pod);

private:
    void reconcile(const kube::ObjectName& name);

    kube::Transport& transport_;
    LabTimers& timers_;
    const kube::Informer& pods_;
    ReconcileQueue queue_;
    kube::Informer definitions_;
    kube::Informer groups_;
    bool is_started_ = false;
    std::map<kube::ObjectName, std::set<kube::ObjectName>> members_;
};

}  // namespace muster::lab
