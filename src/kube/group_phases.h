// Writes the phase of Volcano's PodGroups and how many of their pods run, have succeeded and have
// failed, as Volcano's scheduler does, whose place we take. Its controllers make a job's pods once
// the phase is Inqueue. A phase is written at once; counts alone, which change with every pod, wait
// a second for others. What the server does not take, or waits behind binds, is written as it is
// then.
#pragma once

#include "kube/behind_orders.h"
#include "kube/cluster_objects.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace muster::kube {

class GroupPhases {
public:
    /// `schedulers`: by whose name a group's job, or when it has none its pods, are ours. `now`:
    /// ms.
    GroupPhases(BehindOrders& behind, ClusterObjects& objects, std::vector<std::string> schedulers,
                std::function<std::int64_t()> now);

    /// After each turn.
    void write();
    /// One of its pods was decided, so it is ours.
    void claim(const ObjectName& group) {
        if (ours_.insert(group).second) { waits_[group].has_changed = true; }
    }

private:
    /// When it is looked at again, and whether an answer is awaited.
    struct Wait {
        std::int64_t due = 0;
        bool is_asked = false;
        bool has_changed = false;  // meanwhile
        std::string asked;         // and taken, though the watch may not have told of it
    };

    void look(const ObjectName& name, Wait& wait);
    [[nodiscard]] bool is_ours(const ObjectName& name, const boost::json::object& group) const;
    void send(const ObjectName& name);
    [[nodiscard]] boost::json::object news_of(const ObjectName& name,
                                              const boost::json::object& group) const;

    BehindOrders& behind_;
    ClusterObjects& objects_;
    std::vector<std::string> schedulers_;
    std::function<std::int64_t()> now_;
    std::set<ObjectName> ours_;
    std::map<ObjectName, Wait> waits_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace muster::kube
