// Writes into the cluster what users see of decisions: conditions of pods and of their groups,
// events, and the phases of Volcano's groups. Writes only its own fields. What a server did not
// take, because it was away, busy or broken, is written again until it does, as long as it is still
// true; events are not.
#pragma once

#include "control/decider.h"
#include "engine/world.h"
#include "kube/behind_orders.h"
#include "kube/cluster_source.h"
#include "kube/events.h"
#include "kube/group_phases.h"
#include "kube/objects.h"
#include "kube/order_calls.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
        std::function<std::int64_t()> clock;  // ms, for what is put off
    };

    /// All outlive it.
    StatusWriter(BehindOrders& behind, ClusterObjects& objects, const ClusterSource& source,
                 Options options);

    /// Once, after the first look at the cluster: who led before may have ended with the reasons of
    /// what waits on record and not written.
    void write_reasons(const World& world);
    /// That of a workload which waits, on a pod that came when it was told.
    void write_reason(const World& world, const std::string& workload, const TaskPod& pod);
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
        std::uint32_t unenforced = 0;               // tasks with shares that no driver keeps
    };

    void tell_released(const Release& release);
    void tell_lost_nodes(const std::vector<Fact>& facts);
    void tell_lost_node(const std::string& workload);
    void tell_groups(const std::string& workload, std::string_view type, std::string_view reason,
                     const std::string& message, const std::vector<Condition>& conditions);
    void flush_conditions();
    /// A write that the server has not answered, or that it is to be asked again.
    struct Pending {
        std::uint64_t serial = 0;
        int failures = 0;
        std::function<void()> work;  // looks whether there is something to write, and does
    };
    using Write = std::pair<ObjectKey, std::string>;  // and what of it
    /// What a group is to say, until the server has taken it.
    struct GroupConditions {
        std::vector<Condition> list;
        bool is_sent = false;  // all of them, perhaps in vain
    };

    void tell_refused(const Refusal& refusal, bool is_news);
    void forget_reasons(const std::string& workload);
    void tell_bound(const TaskBound& bound);
    void tell_assigned(const std::string& workload, const Assigning& assigning);
    void tell_problems();
    [[nodiscard]] bool may_pass(const Problem& problem);
    void tell_held(const Problem& before);
    void tell_pod(const TaskPod& pod, const std::string& message, bool with_event);
    void set_pod_condition(const ObjectKey& key, const std::string& uid,
                           const std::string& message);
    void patch_pod_condition(const ObjectKey& key, const std::string& uid,
                             const std::string& message);
    void set_conditions(const ObjectKey& group, const std::vector<Condition>& conditions);
    void patch_conditions(const ObjectKey& group);
    void ask(const Write& write, std::function<void()> work);
    void send(const Write& write, const PatchTarget& target, const boost::json::object& patch);
    void end_write(const Write& write);
    void on_answer(const Write& write, std::uint64_t serial, const Result<Answer>& answer);
    [[nodiscard]] std::string_view status_of(const ObjectKey& group,
                                             const boost::json::object& object,
                                             std::string_view type) const;
    [[nodiscard]] bool is_unenforced(const TaskBound& bound) const;
    [[nodiscard]] std::string scheduled_condition() const;
    [[nodiscard]] std::set<ObjectKey> groups_of(const std::string& workload) const;

    BehindOrders& behind_;
    ClusterObjects& objects_;
    const ClusterSource& source_;
    Options options_;
    EventRecorder events_;
    GroupPhases phases_;
    std::map<std::string, Assigning> assigning_;  // by workload
    std::set<Problem> told_;
    std::map<Problem, std::int64_t> missing_since_;  // not told yet
    std::set<std::string> lost_nodes_;               // that are not ready
    std::set<std::string> on_lost_nodes_;            // workloads of which that was said
    std::map<ObjectKey, GroupConditions> conditions_;
    std::map<Write, Pending> pending_;
    std::uint64_t serial_ = 0;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace muster::kube
