// Writes into the cluster what users see of decisions: conditions of pods and of their groups,
// events, and Volcano's first phase. Writes only its own fields; how many run, and the phases from
// Running on, are others' matter. What fails to be written is not tried again.
#pragma once

#include "control/decider.h"
#include "kube/cluster_source.h"
#include "kube/events.h"
#include "kube/order_calls.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

class StatusWriter {
public:
    struct Options {
        std::vector<std::string> schedulers;  // by whose name pods are ours
        std::string component = "muster";     // that events come from
        EventRecorder::Now now;
    };

    /// Both outlive it.
    StatusWriter(ClusterObjects& objects, const ClusterSource& source, Options options);

    /// After each decision.
    void write(const Decision& decision);
    void write(const GangNews& news);
    void write(const OrderNews& news);
    /// After each turn: what no decision speaks of, and the conditions that the turn came to.
    void write_news();

private:
    struct Condition {
        std::string type;
        bool is_true = false;
        std::string reason;
        std::string message;
    };
    struct Assigning {
        std::map<std::uint32_t, std::string> open;  // node by task, until it is bound
        std::map<std::string, std::uint32_t> done;  // tasks by node
    };

    void tell_released(const Release& release);
    void tell_lost_nodes(const std::vector<Fact>& facts);
    void tell_lost_node(const std::string& workload);
    void tell_groups(const std::string& workload, std::string_view type, std::string_view reason,
                     const std::string& message, const std::vector<Condition>& conditions);
    void flush_conditions();
    void tell_refused(const Refusal& refusal);
    void tell_bound(const TaskBound& bound);
    void tell_assigned(const std::string& workload, const Assigning& assigning);
    void tell_problems();
    void tell_pod(const TaskPod& pod, const std::string& message, bool with_event);
    void admit(const ObjectName& group);
    void set_pod_condition(const boost::json::object& pod, const std::string& message);
    void set_conditions(const ObjectKey& group, const std::vector<Condition>& conditions);
    void patch_conditions(const ObjectKey& group, const std::vector<Condition>& conditions);
    void patch_status(const ObjectKey& key, const boost::json::object& object,
                      boost::json::object status);
    [[nodiscard]] std::string scheduled_condition() const;
    [[nodiscard]] std::set<ObjectKey> groups_of(const std::string& workload) const;

    ClusterObjects& objects_;
    const ClusterSource& source_;
    Options options_;
    EventRecorder events_;
    std::map<std::string, Assigning> assigning_;  // by workload
    std::set<Problem> told_;
    std::set<std::string> lost_nodes_;                        // that are not ready
    std::set<std::string> on_lost_nodes_;                     // workloads of which that was said
    std::map<ObjectKey, std::vector<Condition>> conditions_;  // to be written in one call each
};

}  // namespace muster::kube
