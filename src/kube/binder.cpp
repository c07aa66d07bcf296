#include "kube/binder.h"

#include "kube/objects.h"

#include <boost/json.hpp>

#include <deque>
#include <functional>
#include <set>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::size_t in_flight_max = 64;

const Resource& pods() {
    static const Resource resource{.group = "", .version = "v1", .plural = "pods"};
    return resource;
}

json::object metadata_of(const TaskPod& pod) {
    return {{"namespace", pod.name.first}, {"name", pod.name.second}};
}

}  // namespace

/// Those under way, and those that wait until one of them is done. Outlives the binder while a
/// call is.
class Binder::Calls : public std::enable_shared_from_this<Binder::Calls> {
public:
    explicit Calls(Transport& transport) : transport_(transport) {}

    void bind(const TaskPod& pod, const std::string& node) {
        if (!busy_.insert(pod.uid).second) { return; }
        json::object metadata = metadata_of(pod);
        metadata["uid"] = pod.uid;
        const json::object binding{
            {"apiVersion", "v1"},
            {"kind", "Binding"},
            {"metadata", std::move(metadata)},
            {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
        ask(post(pod, "binding", binding), [this, uid = pod.uid](const Result<Answer>& answer) {
            finish(uid, answer, counts.bound);
        });
    }

    void evict(const TaskPod& pod, bool is_told_first) {
        if (!busy_.insert(pod.uid).second) { return; }
        if (!is_told_first) { return ask_to_leave(pod); }
        const json::object patch{
            {"metadata", {{"uid", pod.uid}}},
            {"status",
             {{"conditions",
               json::array{{{"type", "DisruptionTarget"},
                            {"status", "True"},
                            {"reason", "PreemptionByScheduler"},
                            {"message", "the gang that it belongs to stops as a whole"}}}}}}};
        Call call;
        call.method = "PATCH";
        call.target = path_of(pods(), pod.name.first, pod.name.second, "status");
        call.content_type = "application/strategic-merge-patch+json";
        call.body = json::serialize(patch);
        // Without the condition it goes all the same.
        ask(std::move(call), [this, pod](const Result<Answer>&) { ask_to_leave(pod); });
    }

    Counts counts;
    bool is_over = false;

private:
    struct Waiting {
        Call call;
        Transport::Done done;
    };

    static Call post(const TaskPod& pod, std::string_view rest, const json::object& body) {
        Call call;
        call.method = "POST";
        call.target = path_of(pods(), pod.name.first, pod.name.second, rest);
        call.body = json::serialize(body);
        return call;
    }

    void ask_to_leave(const TaskPod& pod) {
        const json::object options{{"preconditions", {{"uid", pod.uid}}}};
        const json::object eviction{{"apiVersion", "policy/v1"},
                                    {"kind", "Eviction"},
                                    {"metadata", metadata_of(pod)},
                                    {"deleteOptions", options}};
        ask(post(pod, "eviction", eviction), [this, pod](const Result<Answer>& answer) {
            const bool is_unknown = answer && (answer->status == 404 || answer->status == 405);
            if (!is_unknown) { return finish(pod.uid, answer, counts.evicted); }
            remove(pod);
        });
    }

    /// Where the server has no evictions.
    void remove(const TaskPod& pod) {
        const json::object options{
            {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", pod.uid}}}};
        Call call;
        call.method = "DELETE";
        call.target = path_of(pods(), pod.name.first, pod.name.second);
        call.body = json::serialize(options);
        ask(std::move(call), [this, uid = pod.uid](const Result<Answer>& answer) {
            finish(uid, answer, counts.evicted);
        });
    }

    void finish(const std::string& uid, const Result<Answer>& answer, std::uint64_t& done) {
        busy_.erase(uid);
        ++(answer && answer->is_ok() ? done : counts.failed);
    }

    void ask(Call call, Transport::Done done) {
        waiting_.push_back({std::move(call), std::move(done)});
        send();
    }

    /// A server that is asked for too much says for how long to leave it alone.
    void rest(std::int64_t milliseconds) {
        is_resting_ = true;
        transport_.after(milliseconds, [self = shared_from_this()] {
            self->is_resting_ = false;
            self->send();
        });
    }

    void send() {
        while (!is_over && !is_resting_ && in_flight_ < in_flight_max && !waiting_.empty()) {
            Waiting next = std::move(waiting_.front());
            waiting_.pop_front();
            ++in_flight_;
            // There it says that a budget has no room for it.
            const bool is_eviction = next.call.target.ends_with("/eviction");
            transport_.call(
                std::move(next.call), [self = shared_from_this(), is_eviction,
                                       done = std::move(next.done)](Result<Answer> answer) {
                    --self->in_flight_;
                    const bool is_busy =
                        answer && !is_eviction && (answer->status == 429 || answer->status == 503);
                    const std::int64_t wait = is_busy ? answer->retry_after_ms : 0;
                    if (wait > 0 && !self->is_resting_) { self->rest(wait); }
                    done(std::move(answer));
                    self->send();
                });
        }
    }

    Transport& transport_;
    std::deque<Waiting> waiting_;
    std::set<std::string> busy_;  // uids
    std::size_t in_flight_ = 0;
    bool is_resting_ = false;
};

Binder::Binder(ClusterSource& source, Transport& transport)
    : source_(source),
      calls_(std::make_shared<Calls>(transport)) {}

Binder::~Binder() { calls_->is_over = true; }

const Binder::Counts& Binder::counts() const { return calls_->counts; }

Result<> Binder::carry_out(std::span<const TaskOrder> orders) {
    for (const TaskOrder& order : orders) {
        const TaskPods* pods_there = source_.pods_of(order.workload);
        const auto pod =
            pods_there != nullptr ? pods_there->find(order.task) : TaskPods::const_iterator{};
        if (pods_there == nullptr || pod == pods_there->end()) {
            if (order.kind == OrderKind::evict) {
                source_.note_missing(order.workload, order.task);
            }
            continue;
        }
        if (!pod->second.is_ours || pod->second.is_finished) { continue; }
        const TaskPod target = pod->second;
        if (order.kind == OrderKind::evict) {
            source_.note_ordered(order.workload, order.task);
            calls_->evict(target, pods_there->size() > 1);
        } else if (target.node.empty() && source_.has_node(order.node)) {
            source_.note_ordered(order.workload, order.task);
            calls_->bind(target, order.node);
        }
    }
    return {};
}

}  // namespace muster::kube
