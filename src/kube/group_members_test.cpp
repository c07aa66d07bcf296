#include "kube/group_members.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {
namespace {

namespace json = boost::json;

TEST(GroupMembers, MakeUpThePhase) {
    struct Case {
        std::string_view phase;
        GroupMembers members;
        bool is_unschedulable;
        std::string_view next;
    };
    const auto members = [](std::int64_t held, std::int64_t succeeded, std::int64_t unfinished) {
        const std::int64_t bound = std::min<std::int64_t>(held, 1);
        return GroupMembers{.waiting = unfinished - held,
                            .bound = bound,
                            .running = held - bound,
                            .succeeded = succeeded};
    };
    const std::vector<Case> cases{
        {"", members(0, 0, 3), false, "Inqueue"},
        {"Pending", members(0, 0, 3), true, "Inqueue"},
        {"Inqueue", members(0, 0, 3), true, "Inqueue"},
        {"Inqueue", members(2, 0, 3), false, "Inqueue"},
        {"Inqueue", members(3, 0, 3), false, "Running"},
        {"Pending", members(3, 0, 3), false, "Running"},
        {"Running", members(2, 0, 3), false, "Running"},
        {"Running", members(2, 0, 3), true, "Unknown"},
        {"Unknown", members(3, 0, 3), false, "Running"},
        {"Running", members(0, 0, 3), false, "Inqueue"},
        {"Running", members(1, 2, 1), false, "Running"},
        {"Running", members(0, 3, 0), false, "Completed"},
        {"Completed", members(0, 1, 0), false, "Completed"},
        {"Completed", members(0, 0, 3), false, "Inqueue"},
    };
    for (const Case& one : cases) {
        EXPECT_EQ(next_group_phase(one.phase, 3, one.members, one.is_unschedulable), one.next)
            << one.phase << " held " << one.members.held();
    }
}

TEST(GroupMembers, StandAsTheirPodsSay) {
    struct Case {
        std::string_view pod;
        Standing standing;
    };
    for (const Case& one : std::vector<Case>{
             {R"({})", Standing::waiting},
             {R"({"status":{"phase":"Pending"}})", Standing::waiting},
             {R"({"spec":{"nodeName":"n"},"status":{"phase":"Pending"}})", Standing::bound},
             {R"({"spec":{"nodeName":"n"},"status":{"phase":"Running"}})", Standing::running},
             {R"({"metadata":{"deletionTimestamp":"t"},"status":{"phase":"Running"}})",
              Standing::leaving},
             {R"({"metadata":{"deletionTimestamp":"t"},"status":{"phase":"Failed"}})",
              Standing::failed},
             {R"({"status":{"phase":"Succeeded"}})", Standing::succeeded}}) {
        EXPECT_EQ(standing_of(json::parse(one.pod).as_object()), one.standing) << one.pod;
    }
}

}  // namespace
}  // namespace muster::kube
