#include "lab/per_pod_scheduler.h"

#include "base/text.h"
#include "kube/objects.h"
#include "lab/known_resources.h"
#include "lab/metadata.h"
#include "lab/node_lifecycle.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

using Amounts = std::map<std::string, std::int64_t, std::less<>>;  // in thousandths

void add_amounts(Amounts& sum, const json::value* amounts, std::int64_t sign) {
    if (amounts == nullptr || !amounts->is_object()) { return; }
    for (const auto& [name, amount] : amounts->get_object()) {
        if (!amount.is_string() && !amount.is_int64()) { continue; }
        const auto value = parse_quantity_milli(
            amount.is_string() ? std::string(amount.get_string()) : json::serialize(amount));
        if (value) { sum[std::string(name)] += sign * *value; }
    }
}

Amounts needs_of(const json::object& pod) {
    Amounts needs;
    const json::value* containers = value_at(pod, "spec.containers");
    if (containers == nullptr || !containers->is_array()) { return needs; }
    for (const json::value& one : containers->get_array()) {
        if (one.is_object()) {
            add_amounts(needs, value_at(one.get_object(), "resources.requests"), 1);
        }
    }
    return needs;
}

/// By taints and nodeSelector; of affinities it knows nothing.
bool may_go(const json::object& pod, const json::object& node) {
    if (repels(node, pod)) { return false; }
    const json::object* selector = kube::object_at(pod, "spec.nodeSelector");
    for (const auto& wish : selector ? *selector : json::object()) {
        if (!wish.value().is_string() ||
            kube::label_of(node, wish.key()) != wish.value().get_string()) {
            return false;
        }
    }
    return true;
}

}  // namespace

struct PerPodScheduler::Impl : std::enable_shared_from_this<Impl> {
    explicit Impl(kube::Transport& its_transport)
        : transport(its_transport),
          nodes(transport, known::nodes, [this](auto...) { wake(); }),
          pods(transport, known::pods, [this](auto...) { wake(); }) {}

    /// Once for all that comes together.
    void wake() {
        if (std::exchange(is_due, true)) { return; }
        transport.after(20, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self == nullptr) { return; }
            self->is_due = false;
            self->look();
        });
    }

    void look() {
        if (!nodes.is_synced() || !pods.is_synced()) { return; }
        std::map<std::string, Amounts> free;
        for (const auto& [name, node] : nodes.objects()) {
            const json::value* cordoned = value_at(node, "spec.unschedulable");
            if (cordoned != nullptr && cordoned->is_bool() && cordoned->get_bool()) { continue; }
            add_amounts(free[name.second], value_at(node, "status.allocatable"), 1);
        }
        std::vector<std::pair<std::string, const json::object*>> waiting;  // oldest first
        for (const auto& [name, pod] : pods.objects()) {
            std::string node(text_at(pod, "spec.nodeName"));
            if (const auto sent = asked.find(name);
                sent != asked.end() && sent->second.first == text_at(pod, "metadata.uid")) {
                node = sent->second.second;
            }
            if (is_over(pod)) { continue; }
            if (node.empty()) {
                if (!is_leaving(pod)) {
                    waiting.emplace_back(text_at(pod, "metadata.creationTimestamp"), &pod);
                }
            } else if (const auto found = free.find(node); found != free.end()) {
                for (const auto& [what, amount] : needs_of(pod)) { found->second[what] -= amount; }
            }
        }
        std::sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first : name_of(*a.second) < name_of(*b.second);
        });
        for (const auto& [created, pod] : waiting) { place(*pod, free); }
    }

    void place(const json::object& pod, std::map<std::string, Amounts>& free) {
        const Amounts needs = needs_of(pod);
        const kube::ObjectName name{text_at(pod, "metadata.namespace"), name_of(pod)};
        std::map<std::string, int> missing;
        int kept_away = 0;
        for (auto& [node, room] : free) {
            const json::object* object = nodes.find({"", node});
            if (object == nullptr || !may_go(pod, *object)) {
                ++kept_away;
                continue;
            }
            bool fits = true;
            for (const auto& [what, amount] : needs) {
                if (room[what] >= amount) { continue; }
                fits = false;
                ++missing[what];
            }
            if (!fits) { continue; }
            for (const auto& [what, amount] : needs) { room[what] -= amount; }
            asked[name] = {std::string(text_at(pod, "metadata.uid")), node};
            const json::object binding{{"apiVersion", "v1"},
                                       {"kind", "Binding"},
                                       {"metadata", {{"name", name.second}}},
                                       {"target", {{"kind", "Node"}, {"name", node}}}};
            return send("POST", name, "binding", binding);
        }
        std::string why = fmt::format("0/{} nodes are available:", free.size());
        if (kept_away > 0) {
            why += fmt::format(" {} node(s) had untolerated taint(s) or didn't match the selector.",
                               kept_away);
        }
        for (const auto& [what, count] : missing) {
            why += fmt::format(" {} Insufficient {}.", count, what);
        }
        if (!told.insert({name, why}).second) { return; }
        const json::object condition{{"type", "PodScheduled"},
                                     {"status", "False"},
                                     {"reason", "Unschedulable"},
                                     {"message", why}};
        send("PATCH", name, "status", {{"status", {{"conditions", json::array{condition}}}}});
    }

    void send(std::string method, const kube::ObjectName& name, std::string_view rest,
              const json::object& body) {
        transport.call({.method = std::move(method),
                        .target = kube::path_of(known::pods, name.first, name.second, rest),
                        .content_type = rest == "status" ? "application/strategic-merge-patch+json"
                                                         : "application/json",
                        .body = json::serialize(body)},
                       [weak = weak_from_this(), name](Result<kube::Answer> answer) {
                           const auto self = weak.lock();
                           if (self == nullptr || (answer && answer->is_ok())) { return; }
                           self->asked.erase(name);
                       });
    }

    kube::Transport& transport;
    std::map<kube::ObjectName, std::pair<std::string, std::string>> asked;  // uid and node
    std::set<std::pair<kube::ObjectName, std::string>> told;
    bool is_due = false;
    kube::Informer nodes;
    kube::Informer pods;
};

PerPodScheduler::PerPodScheduler(kube::Transport& transport)
    : impl_(std::make_shared<Impl>(transport)) {}
PerPodScheduler::~PerPodScheduler() = default;

void PerPodScheduler::start() {
    impl_->nodes.start();
    impl_->pods.start();
}

}  // namespace muster::lab
