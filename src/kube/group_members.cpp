#include "kube/group_members.h"

#include "kube/objects.h"

#include <boost/json.hpp>

#include <algorithm>

namespace muster::kube {

namespace json = boost::json;

std::string_view volcano_group_of(const json::object& pod) {
    const std::string_view name = annotation_of(pod, "scheduling.k8s.io/group-name");
    return name.empty() ? annotation_of(pod, "scheduling.volcano.sh/group-name") : name;
}

Standing standing_of(const json::object& pod) {
    const std::string_view phase = text_at(pod, "status.phase");
    if (phase == "Succeeded") { return Standing::succeeded; }
    if (phase == "Failed") { return Standing::failed; }
    if (is_leaving(pod)) { return Standing::leaving; }
    if (phase == "Running") { return Standing::running; }
    return text_at(pod, "spec.nodeName").empty() ? Standing::waiting : Standing::bound;
}

void GroupMembers::count(Standing standing, std::int64_t by) {
    switch (standing) {
        case Standing::leaving: return;
        case Standing::waiting: waiting += by; return;
        case Standing::bound: bound += by; return;
        case Standing::running: running += by; return;
        case Standing::succeeded: succeeded += by; return;
        case Standing::failed: failed += by; return;
    }
}

std::string_view next_group_phase(std::string_view phase, std::int64_t min_member,
                                  const GroupMembers& members, bool is_unschedulable) {
    const bool is_over = members.unfinished() == 0;
    if (phase == "Completed" && is_over) { return phase; }
    const std::int64_t allocated = members.held() + members.succeeded;
    if (allocated > 0 && allocated >= min_member) { return is_over ? "Completed" : "Running"; }
    const bool has_begun = phase == "Running" || phase == "Unknown";
    const bool is_any_left = members.held() > 0 || (members.succeeded > 0 && !is_over);
    if (has_begun && is_any_left) { return is_unschedulable ? std::string_view("Unknown") : phase; }
    return "Inqueue";
}

bool is_unschedulable(const json::object& group) {
    const json::array* conditions = array_at(group, "status.conditions");
    if (conditions == nullptr) { return false; }
    std::string_view refused;
    std::string_view placed;
    for (const json::value& one : *conditions) {
        const json::object* condition = one.if_object();
        if (condition == nullptr || text_at(*condition, "status") != "True") { continue; }
        const std::string_view type = text_at(*condition, "type");
        std::string_view since = text_at(*condition, "lastTransitionTime");
        if (since.empty()) { since = "-"; }  // before all times
        if (type == "Unschedulable") { refused = std::max(refused, since); }
        if (type == "Scheduled") { placed = std::max(placed, since); }
    }
    return !refused.empty() && refused >= placed;
}

}  // namespace muster::kube
