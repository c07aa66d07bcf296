// What Kubernetes' node controllers do about nodes: taints for what their conditions say and for
// being cordoned, and the end of pods that do not tolerate a NoExecute taint, or not any longer.
// Whoever follows nodes and pods tells it of both; all runs in the transport's loop.
#pragma once

#include "kube/client.h"
#include "kube/events.h"
#include "lab/lab_timers.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

/// Of a node that its cloud takes back: condition, and the taint that follows from it.
inline constexpr std::string_view reclaim_condition = "ReclaimNotice";
inline constexpr std::string_view reclaim_taint = "lab.muster/reclaim";

struct NodeTaint {
    std::string_view key;
    std::string_view effect;

    bool operator==(const NodeTaint&) const = default;
};

/// Those that the controllers give to the node as it is.
std::vector<NodeTaint> taints_for(const boost::json::object& node);

/// How long the pod may stay where the node has these taints, in milliseconds; -1: for ever.
std::int64_t stay_of(const boost::json::object& node, const boost::json::object& pod);

/// A taint keeps new pods like this one away.
bool repels(const boost::json::object& node, const boost::json::object& pod);

class NodeLifecycle {
public:
    using Object = boost::json::object;

    /// The informer of pods and the timers outlive it.
    NodeLifecycle(kube::Transport& transport, LabTimers& timers, kube::EventRecorder::Now now,
                  const kube::Informer& pods);

    void on_node(const std::string& name, const Object& node);
    void on_node_gone(const std::string& name);
    void on_pod(const kube::ObjectName& name, const Object& pod);

private:
    struct Doom {
        std::string uid;
        std::string node;
        std::int64_t since = 0;
        std::int64_t due = 0;  // -1: it stays
    };

    void show_taints(const std::string& name, const Object& node);
    void weigh(const kube::ObjectName& name, const Object& pod, const Object& node);
    void evict(const kube::ObjectName& name, std::int64_t due);

    kube::Transport& transport_;
    LabTimers& timers_;
    kube::EventRecorder events_;
    const kube::Informer& pods_;
    std::map<std::string, Object> tainted_;  // nodes with a NoExecute taint, as far as it matters
    std::map<kube::ObjectName, Doom> doomed_;
};

}  // namespace muster::lab
