#include "kube/group_notes.h"

#include "kube/discovery.h"
#include "kube/lease.h"
#include "kube/objects.h"
#include "kube/status_names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::int64_t timeout_ms = 10'000;

struct Asking {
    std::vector<std::string> notes;
    int open = 1;
};

void take(const json::object& group, std::vector<std::string>& out) {
    constexpr std::array shown = {disruption, is_incomplete, on_lost_node};
    const json::array* conditions = array_at(group, "status.conditions");
    if (conditions == nullptr) { return; }
    for (const json::value& one : *conditions) {
        const json::object* condition = one.if_object();
        if (condition == nullptr || text_at(*condition, "status") != "True") { continue; }
        const std::string_view type = text_at(*condition, "type");
        if (std::find(shown.begin(), shown.end(), type) == shown.end()) { continue; }
        out.push_back(fmt::format("{}: {}", type, text_at(*condition, "message")));
    }
}

}  // namespace

std::vector<std::string> group_notes(const Link& link, const ObjectName& group) {
    auto asking = std::make_shared<Asking>();
    Transport& transport = *link.transport;
    discover(transport, {ObjectKind::volcano_group, ObjectKind::upstream_group},
             [asking, &transport, group](const Result<ServedKinds>& served) {
                 --asking->open;
                 if (!served) { return; }
                 for (const auto& [kind, resource] : *served) {
                     ++asking->open;
                     Call call;
                     call.target = path_of(resource, group.first, group.second);
                     transport.call(std::move(call), [asking](const Result<Answer>& answer) {
                         --asking->open;
                         if (answer && answer->is_ok()) {
                             take(object_of(answer->body), asking->notes);
                         }
                     });
                 }
             });
    const std::int64_t end = boot_ms() + timeout_ms;
    while (asking->open > 0 && boot_ms() < end) { link.pump(100); }
    return asking->notes;
}

}  // namespace muster::kube
