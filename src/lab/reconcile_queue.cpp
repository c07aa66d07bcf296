#include "lab/reconcile_queue.h"

#include <boost/json.hpp>

#include <utility>

namespace muster::lab {

ReconcileQueue::ReconcileQueue(LabTimers& timers, Reconcile reconcile)
    : timers_(timers),
      reconcile_(std::move(reconcile)) {}

void ReconcileQueue::add(const kube::ObjectName& name) {
    if (names_.empty()) {
        timers_.after(0, [this] { drain(); });
    }
    names_.insert(name);
}

void ReconcileQueue::add_all(const kube::Informer& informer) {
    for (const auto& [name, object] : informer.objects()) { add(name); }
}

kube::Informer::Listener ReconcileQueue::listener() {
    return [this](kube::Informer::Change, const kube::ObjectName& name, const boost::json::object&,
                  const boost::json::object*) { add(name); };
}

void ReconcileQueue::add_later(const kube::ObjectName& name, std::int64_t wait) {
    const std::int64_t due = timers_.now() + wait;
    const auto [at, is_new] = due_.try_emplace(name, due);
    if (!is_new && at->second <= due) { return; }
    at->second = due;
    timers_.after(wait, [this, name, due] {
        const auto mine = due_.find(name);
        if (mine == due_.end() || mine->second != due) { return; }
        due_.erase(mine);
        add(name);
    });
}

void ReconcileQueue::drain() {
    const auto names = std::exchange(names_, {});
    for (const kube::ObjectName& name : names) { reconcile_(name); }
}

}  // namespace muster::lab
