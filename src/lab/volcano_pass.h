// One look at a Volcano Job and at what belongs to it, and what is to be done. Pure: the same
// objects give the same pass, whatever happened before; a pass over what it asked for asks for
// nothing.
#pragma once

#include "kube/client.h"
#include "lab/volcano_policy.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace muster::lab::volcano {

struct Observed {
    const boost::json::object* job = nullptr;
    /// Owned by a Volcano Job of this name, also an earlier one.
    std::vector<const boost::json::object*> pods;
    const boost::json::object* group = nullptr;     // its PodGroup
    const std::set<std::string>* doomed = nullptr;  // uids of pods that were deleted, seen or not
    std::vector<Trigger> events;                    // that left no trace in the objects: PodEvicted
    Action command = Action::sync;                  // asked for by a person
    std::int64_t now_ms = 0;
};

struct Doomed {
    kube::ObjectName name;
    std::string uid;
};

/// Empty lists: nothing to do. A status is written before the rest is done, and only when nobody
/// has changed the job meanwhile.
struct Pass {
    Action action = Action::sync;
    std::string cause;                        // of the action
    JobState state;                           // that it comes to
    std::vector<boost::json::object> status;  // the whole job
    std::vector<Doomed> pods_removed;
    std::vector<boost::json::object> pods_made;
    std::vector<boost::json::object> group_made;
    std::vector<boost::json::object> group_updated;
    bool removes_group = false;
    bool completes_group = false;  // its phase
    bool removes_job = false;
    std::int64_t wake_ms = 0;  // when to look again though nothing happens; 0: no need
};

JobState read_state(const boost::json::object& job);
Pass plan_pass(const Observed& observed);

}  // namespace muster::lab::volcano
