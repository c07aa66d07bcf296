// What the members of one of Volcano's PodGroups are doing, and the phase that this comes to.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::kube {

/// The group that the pod's annotation names, in its namespace; empty when it names none.
std::string_view volcano_group_of(const boost::json::object& pod);

enum class Standing : std::uint8_t { leaving, waiting, bound, running, succeeded, failed };
Standing standing_of(const boost::json::object& pod);

struct GroupMembers {
    std::int64_t waiting = 0;
    std::int64_t bound = 0;  // and not running yet
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;

    /// `by`: 1, or −1 of one that was counted. Those that leave count no more.
    void count(Standing standing, std::int64_t by);
    bool operator==(const GroupMembers&) const = default;
    [[nodiscard]] std::int64_t held() const { return bound + running; }
    [[nodiscard]] std::int64_t unfinished() const { return waiting + bound + running; }
};

/// As Volcano's scheduler has it. Inqueue: it was let in, and its pods may be made. Running from
/// when as many as must be there hold their nodes or have succeeded; Completed when nothing is left
/// to run; Unknown when some of a running group are gone and there is no room for others.
std::string_view next_group_phase(std::string_view phase, std::int64_t min_member,
                                  const GroupMembers& members, bool is_unschedulable);

/// Of the conditions Unschedulable and Scheduled the later one holds; both may be there.
bool is_unschedulable(const boost::json::object& group);

}  // namespace muster::kube
