// Takes a gang back: all of its pods or, while a budget forbids one of them, none. Asks by the
// eviction API for the pod of one uid, after the pod's condition has said why. A gang of which one
// pod has been taken goes on until the last one has gone.
#pragma once

#include "kube/order_calls.h"
#include "kube/task_table.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace muster::kube {

class Evictions : public std::enable_shared_from_this<Evictions> {
public:
    struct Gang {
        std::string workload;
        std::string cause;  // why it stops, in words; may be empty
        std::vector<TaskPod> pods;
        std::vector<boost::json::object> objects;  // the same, as far as budgets look at them
    };

    /// `now` is since the epoch.
    Evictions(std::shared_ptr<OrderCalls> calls, std::function<std::int64_t()> now)
        : calls_(std::move(calls)),
          now_(std::move(now)) {}

    /// Asked again, it does what is not done yet.
    void take(Gang gang);
    /// What was said of its taking back is of the past.
    void forget(const std::string& workload) { gangs_.erase(workload); }
    void forget_all_but(const std::function<bool(const std::string&)>& is_there);

private:
    struct State {
        bool is_asking = false;  // for its budgets
        bool has_begun = false;
        std::string waits_for;
        std::set<std::string> marked;   // uids whose condition says it
        std::set<std::string> resting;  // uids that are not to be asked for a while
    };

    void judge(const Gang& gang, const Result<Answer>& answer);
    void evict(const Gang& gang, const TaskPod& pod);
    void ask_to_leave(const std::string& workload, const TaskPod& pod);
    void remove(const std::string& workload, const TaskPod& pod);
    void hear(const std::string& workload, const TaskPod& pod, const Result<Answer>& answer);
    void wait(const std::string& workload, const TaskPod& pod, std::string why);

    std::shared_ptr<OrderCalls> calls_;
    std::function<std::int64_t()> now_;
    std::map<std::string, State> gangs_;
};

}  // namespace muster::kube
