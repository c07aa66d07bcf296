// The kubelets of all fake nodes: a node is fake when it has the annotation `lab.muster/fake:
// "true"`. Pods bound to them start, run as long as their commands say (lab/run_plan.h), end,
// restart and leave. What goes wrong with a node its annotations say (lab/node_faults.h): one that
// does not answer has Ready Unknown and its pods are lost; a GPU with an XID is not allocatable any
// more, and pods that hold it may fail; one that is taken back goes with all that it has. Taints
// and evictions follow as in Kubernetes (lab/node_lifecycle.h). What a node's capacity changes to
// is copied to its allocatable. State that matters is in the API, so that a restart goes on where
// it was. All runs in the transport's loop.
#pragma once

#include "kube/client.h"
#include "kube/events.h"
#include "lab/lab_timers.h"
#include "lab/node_faults.h"
#include "lab/node_lifecycle.h"
#include "lab/pod_run.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace muster::lab {

/// Lab milliseconds, but for the heartbeats.
struct KubeletOptions {
    std::int64_t start_latency = 1'000;  // from being bound to running
    std::int64_t grace_max = 5'000;      // for a pod that is deleted; it may ask for less
    // Ours; with many nodes it is longer, as 10 in a second are renewed at most. A node's lease is
    // made at its first one, and its conditions are told every 30th time, as kubelets do.
    std::int64_t heartbeat = 10'000;
};

class FakeKubelet {
public:
    FakeKubelet(kube::Transport& transport, LabClock clock, KubeletOptions options = {});
    FakeKubelet(const FakeKubelet&) = delete;
    FakeKubelet& operator=(const FakeKubelet&) = delete;

    void start();
    [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
    /// Pods that are on fake nodes and have not finished, and those that leave.
    [[nodiscard]] std::size_t pods() const { return runs_.size(); }

private:
    using Object = boost::json::object;
    using Runs = std::map<kube::ObjectName, PodRun>;

    struct FakeNode {
        std::string uid;
        std::string address;
        NodeFaults faults;
        bool is_down = false;    // as it flaps
        bool has_lease = false;  // made or found by this kubelet
        std::uint32_t beats = 0;
        std::uint64_t flap = 0;                              // the timer that counts
        std::int64_t reclaimed = -1;                         // when it goes
        std::map<std::string, std::set<std::int64_t>> used;  // slots of each resource

        [[nodiscard]] bool is_failed() const { return faults.is_failed || is_down; }
    };

    // fake_kubelet.cpp: pods
    void on_pod(kube::Informer::Change change, const kube::ObjectName& name, const Object& pod);
    void begin(const kube::ObjectName& name, const Object& pod);
    void go_on(PodRun& run, const kube::ObjectName& name);
    void start_container(PodRun& run, const kube::ObjectName& name, std::size_t index);
    void run_on(PodRun& run, const kube::ObjectName& name, std::size_t index);
    void end_container(PodRun& run, const kube::ObjectName& name, std::size_t index);
    void settle(PodRun& run, const kube::ObjectName& name, std::size_t index);
    void leave(PodRun& run, const kube::ObjectName& name, const Object& pod);
    void remove(const kube::ObjectName& name, const std::string& uid);
    void publish(PodRun& run, const kube::ObjectName& name);
    void tell(const PodRun& run, const kube::ObjectName& name, std::string_view reason,
              const std::string& message, std::string_view type = "Normal");
    /// When the run is still the same one.
    void later(const PodRun& run, const kube::ObjectName& name, std::int64_t wait,
               std::function<void(PodRun&)> work);

    // fake_kubelet_nodes.cpp
    void on_node(kube::Informer::Change change, const kube::ObjectName& name, const Object& node,
                 const Object* before);
    void forget_node(const std::string& name);
    void copy_capacity(const std::string& name, const Object& node, const Object* before,
                       bool has_gpu_news);
    void show_health(const FakeNode& known, const std::string& name, const Object& node);
    void set_lost(const std::string& node, bool is_lost);
    void lose(PodRun& run, const kube::ObjectName& name);
    void flap(const std::string& name, std::uint64_t serial);
    void reclaim(FakeNode& known, const std::string& name, const Object& node);
    void tell_node(const Object& node, std::string_view type, std::string_view reason,
                   const std::string& message);
    void patch_node(const std::string& name, const Object& patch, std::string_view rest);
    void beat();
    void renew_lease(FakeNode& known, const std::string& name, std::int64_t period);
    void show_heartbeat(const std::string& name, const Object& node);

    // fake_kubelet_gpus.cpp
    void end_run(Runs::iterator at);
    void give_devices(PodRun& run, const Object& pod);
    void mark_devices(const std::string& name, const Object& node, const NodeFaults& before);
    void show_gpus(const std::string& name, const Object& node);

    kube::Transport& transport_;
    LabTimers timers_;
    KubeletOptions options_;
    kube::EventRecorder events_;
    kube::EventRecorder cloud_events_;  // about nodes
    std::map<std::string, FakeNode> nodes_;
    Runs runs_;
    std::map<std::string, std::set<kube::ObjectName>> early_;  // pods whose node is not known
    std::uint64_t serial_ = 0;
    std::uint32_t addresses_ = 0;
    std::string last_beat_;                                 // the node whose heart beat last
    std::shared_ptr<int> alive_ = std::make_shared<int>();  // callbacks of the transport ask for it
    kube::Informer node_informer_;
    kube::Informer pod_informer_;
    NodeLifecycle lifecycle_;
};

}  // namespace muster::lab
