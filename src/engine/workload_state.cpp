#include "engine/workload_state.h"

#include <algorithm>

namespace muster {

bool has_minimum(const Workload& workload, std::int32_t group, Floor floor) {
    const Group& here = workload.groups[static_cast<std::size_t>(group)];
    const std::int32_t minimum = floor == Floor::asked ? here.minimum : here.held_minimum;
    if (minimum < 1) { return false; }  // it never had one, so there is none to keep
    if (here.is_leaf) { return here.placed + here.finished >= minimum; }
    return std::count_if(here.children.begin(), here.children.end(), [&](std::int32_t child) {
               return has_minimum(workload, child, floor);
           }) >= minimum;
}

namespace {

bool is_empty(const Workload& workload, std::int32_t group) {
    const Group& here = workload.groups[static_cast<std::size_t>(group)];
    if (here.is_leaf) { return here.placed == 0; }
    return std::all_of(here.children.begin(), here.children.end(),
                       [&](std::int32_t child) { return is_empty(workload, child); });
}

}  // namespace

bool is_whole(const Workload& workload, Floor floor) {
    for (std::int32_t group = 0; group < static_cast<std::int32_t>(workload.groups.size());
         ++group) {
        if ((group == 0 || !is_empty(workload, group)) && !has_minimum(workload, group, floor)) {
            return false;
        }
    }
    return true;
}

bool wants_more(const Workload& workload) {
    return std::any_of(workload.groups.begin(), workload.groups.end(), [](const Group& group) {
        return group.is_leaf && group.placed + group.finished < group.count;
    });
}

void settle(Workload& workload) {
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        Group& group = workload.groups[i];
        if (has_minimum(workload, static_cast<std::int32_t>(i), Floor::asked)) {
            group.held_minimum = group.minimum;
        }
    }
}

}  // namespace muster
