#include "kube/binder.h"

#include "kube/objects.h"
#include "kube/volume_calls.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

/// An API server gives up a request after a minute; behind that no bind comes any more.
constexpr std::int64_t bind_limit_ms = 65'000;

const Resource& pods() {
    static const Resource resource{.group = "", .version = "v1", .plural = "pods"};
    return resource;
}

/// What no repetition changes. 404 and 409 are told by the watch as well.
bool is_final(const Answer& answer) {
    return answer.status >= 400 && answer.status < 500 && answer.status != 404 &&
           answer.status != 408 && answer.status != 409 && answer.status != 429;
}

}  // namespace

Binder::Binder(ClusterSource& source, Transport& transport, std::function<std::int64_t()> now)
    : source_(source),
      calls_(std::make_shared<OrderCalls>(transport)),
      evictions_(std::make_shared<Evictions>(calls_, std::move(now))),
      settled_(std::make_shared<std::map<std::string, bool>>()) {
    source_.set_is_under_way(
        [calls = calls_](const std::string& uid) { return calls->is_busy(uid); });
    source_.set_may_be_bound(
        [calls = calls_](const std::string& uid) { return calls->may_be_bound(uid); });
}

Binder::~Binder() { calls_->stop(); }

Result<> Binder::carry_out(std::span<const TaskOrder> orders) {
    evictions_->forget_all_but(
        [&](const std::string& workload) { return source_.pods_of(workload) != nullptr; });
    for (std::size_t i = 0; i < orders.size();) {
        const TaskOrder& order = orders[i];
        if (order.kind == OrderKind::evict) {
            std::vector<std::uint32_t> tasks;
            for (; i < orders.size() && orders[i].kind == OrderKind::evict &&
                   orders[i].workload == order.workload;
                 ++i) {
                tasks.push_back(orders[i].task);
            }
            evict(order.workload, std::move(tasks));
            continue;
        }
        std::size_t end = i;
        while (end < orders.size() && orders[end].kind == OrderKind::bind &&
               orders[end].workload == order.workload) {
            ++end;
        }
        start(orders.subspan(i, end - i));
        i = end;
    }
    return {};
}

/// Of one workload. While one of its pods waits for a volume, none is bound: a gang would stand
/// around in part until the volume is made.
void Binder::start(std::span<const TaskOrder> orders) {
    const std::string& workload = orders.front().workload;
    source_.note_starting(workload);
    const TaskPods* there = source_.pods_of(workload);
    if (there == nullptr) { return; }
    std::vector<std::pair<const TaskOrder*, TaskPod>> targets;
    for (const TaskOrder& order : orders) {
        const auto pod = there->find(order.task);
        // One that is not there yet is told of when it comes.
        if (pod == there->end() || !pod->second.is_ours || !pod->second.is_waiting()) { continue; }
        if (source_.has_node(order.node)) { targets.emplace_back(&order, pod->second); }
    }
    bool is_held = false;
    for (const auto& [order, pod] : targets) {
        const dialect::VolumeSteps volumes = source_.volumes_before(pod.name, order->node);
        for (const dialect::VolumeStep& step : volumes.steps) {
            prepare_volume(calls_, step, order->node);
        }
        is_held = is_held || !volumes.is_ready;
    }
    if (is_held) {
        std::map<std::uint32_t, std::string> nodes;
        for (const auto& [order, pod] : targets) { nodes.emplace(order->task, order->node); }
        return source_.wait_for_volumes(workload, std::move(nodes));
    }
    if (!targets.empty()) { evictions_->forget(workload); }
    for (const auto& [order, pod] : targets) {
        source_.note_ordered(workload, order->task);
        bind({workload, order->task}, pod, order->node);
    }
}

void Binder::bind(const TaskRefName& task, const TaskPod& pod, const std::string& node) {
    if (calls_->is_resting()) { return calls_->note_put_off(task); }
    if (calls_->is_bound(pod.uid) || !calls_->begin(pod.uid)) { return; }
    const json::object binding{
        {"apiVersion", "v1"},
        {"kind", "Binding"},
        {"metadata", {{"namespace", pod.name.first}, {"name", pod.name.second}, {"uid", pod.uid}}},
        {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
    Call call;
    call.method = "POST";
    call.target = path_of(pods(), pod.name.first, pod.name.second, "binding");
    call.body = json::serialize(binding);
    calls_->ask(std::move(call), [calls = calls_, task, pod](const Result<Answer>& answer) {
        calls->end(pod.uid);
        if (!answer || answer->status >= 500) { calls->note_unsure(pod.uid); }
        if (answer && put_off_ms(*answer) > 0) {
            ++calls->counts.busy_waits;
            return calls->note_put_off(task);
        }
        const bool is_bound = answer && answer->is_ok();
        ++(is_bound ? calls->counts.bound : calls->counts.failed);
        if (is_bound) { calls->note_bound(pod.uid); }
        if (is_bound || !answer || !is_final(*answer)) { return; }
        calls->news.push_back(
            {OrderNews::Kind::bind_refused, task.first, pod.name, pod.uid, message_of(*answer)});
    });
}

/// All that is to go of one workload.
void Binder::evict(const std::string& workload, std::vector<std::uint32_t> tasks) {
    const TaskPods* there = source_.pods_of(workload);
    source_.note_leaving(workload);
    Evictions::Gang gang{.workload = workload,
                         .cause = source_.windows().cause_of(workload),
                         .pods = {},
                         .objects = {}};
    for (const std::uint32_t task : tasks) {
        const auto pod = there != nullptr ? there->find(task) : TaskPods::const_iterator{};
        if (there == nullptr || pod == there->end()) {
            source_.note_missing(workload, task);
            continue;
        }
        const TaskPod& target = pod->second;
        if (!target.is_ours || target.is_finished) { continue; }
        if (target.is_waiting() && !target.has_controller) {
            if (has_settled(target)) { source_.note_missing(workload, task); }
            continue;
        }
        source_.note_ordered(workload, task);
        gang.pods.push_back(target);
        if (auto object = source_.objects().find({ObjectKind::pod, target.name})) {
            gang.objects.push_back(std::move(*object));
        }
    }
    evictions_->take(std::move(gang));
}

/// A pod that waits and that nobody would make again is left to wait, once it is sure that no bind
/// of it is under way any more.
bool Binder::has_settled(const TaskPod& pod) {
    if (calls_->is_busy(pod.uid)) { return false; }
    const auto [found, is_new] = settled_->try_emplace(pod.uid, false);
    if (is_new) {
        calls_->after(bind_limit_ms, [weak = std::weak_ptr(settled_), uid = pod.uid] {
            const auto settled = weak.lock();
            if (settled && settled->contains(uid)) { (*settled)[uid] = true; }
        });
        return false;
    }
    if (!found->second) { return false; }
    settled_->erase(found);
    return true;
}

}  // namespace muster::kube
