// Keeps the status of Volcano's PodGroups and Queues for the lab. Three write to a PodGroup's
// status, each its own fields:
//   the scheduler         phase Inqueue; conditions Unschedulable and Scheduled
//   the job controller    phase Completed when its Job completes
//   this                  running, succeeded, failed; phase Pending (at first, and when no member
//                         is left), Running, Unknown, Completed
// and to a Queue's: the scheduler `allocated`, this `state` and how many groups are in which phase.
// Queue `default` is made when there is none. Pods belong to the group that their annotation
// names; no group is made for a pod that names one that is not there.
#pragma once

#include "kube/client.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace muster::lab {

/// Members of a group by what they are doing.
struct GroupMembers {
    std::int64_t held = 0;  // bound and not over
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::int64_t unfinished = 0;  // bound or not
};

/// Running from when as many as must be there hold their nodes or have succeeded; Completed when
/// nothing is left to run; Unknown when some of a running group are gone and the scheduler has no
/// room for others.
std::string_view next_group_phase(std::string_view phase, std::int64_t min_member,
                                  const GroupMembers& members, bool is_unschedulable);

class PodGroupStatus {
public:
    /// The transport outlives it.
    explicit PodGroupStatus(kube::Transport& transport);
    ~PodGroupStatus();
    PodGroupStatus(const PodGroupStatus&) = delete;
    PodGroupStatus& operator=(const PodGroupStatus&) = delete;

    void start();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::lab
