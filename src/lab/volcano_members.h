// The pods of a Volcano Job as one pass sees them.
#pragma once

#include "lab/volcano_pass.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab::volcano {

struct Member {
    const boost::json::object* pod = nullptr;
    std::string name;
    std::string task;
    std::string_view phase;
    std::int64_t index = 0;
    std::int64_t version = 0;
    bool is_wanted = false;  // the spec has such a member
    bool is_going = false;

    [[nodiscard]] bool is_over() const { return phase == "Succeeded" || phase == "Failed"; }
};

struct Members {
    std::vector<Member> all;      // of this very job; by task and index
    std::vector<Doomed> strays;   // of an earlier one with this name
    std::set<std::string> names;  // all that are there
    PodCounts counts;
};
Members read_members(const Observed& observed, const JobSpec& spec);

/// What happened to them, first what weighs most.
std::vector<Trigger> find_triggers(const Observed& observed, const JobSpec& spec,
                                   const Members& members, const JobState& state);

/// The code of the container that failed.
std::int64_t exit_code_of(const boost::json::object& pod);

}  // namespace muster::lab::volcano
