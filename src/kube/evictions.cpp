#include "kube/evictions.h"

#include "kube/budgets.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

/// Nobody of a higher priority takes its place, which is what `PreemptionByScheduler` says.
constexpr std::string_view gang_disruption_reason = "GangStopped";

const Resource& pods() {
    static const Resource resource{.group = "", .version = "v1", .plural = "pods"};
    return resource;
}
const Resource& budgets() {
    static const Resource resource{
        .group = "policy", .version = "v1", .plural = "poddisruptionbudgets"};
    return resource;
}

/// Not that the server has no such path.
bool is_gone(const TaskPod& pod, const Answer& answer) {
    return answer.status == 404 &&
           text_at(object_of(answer.body), "details.name") == pod.name.second;
}

}  // namespace

void Evictions::forget_all_but(const std::function<bool(const std::string&)>& is_there) {
    std::erase_if(gangs_, [&](const auto& one) { return !is_there(one.first); });
}

void Evictions::take(Gang gang) {
    State& state = gangs_[gang.workload];
    if (state.is_asking || gang.pods.empty()) { return; }
    if (state.has_begun) {
        for (const TaskPod& pod : gang.pods) { evict(gang, pod); }
        return;
    }
    state.is_asking = true;
    Call call;
    call.target = path_of(budgets(), gang.pods.front().name.first);
    calls_->ask(std::move(call), [self = shared_from_this(), gang = std::move(gang)](
                                     const Result<Answer>& answer) { self->judge(gang, answer); });
}

/// Where budgets can't be asked for, each eviction is still judged by the server.
void Evictions::judge(const Gang& gang, const Result<Answer>& answer) {
    const auto found = gangs_.find(gang.workload);
    if (found == gangs_.end()) { return; }
    found->second.is_asking = false;
    if (!answer || answer->status == 429 || answer->status >= 500) { return; }
    if (answer->is_ok()) {
        if (std::string why = forbidding_budget(answer->body, gang.objects); !why.empty()) {
            return wait(gang.workload, gang.pods.front(), std::move(why));
        }
    }
    found->second.has_begun = true;
    for (const TaskPod& pod : gang.pods) { evict(gang, pod); }
}

void Evictions::wait(const std::string& workload, const TaskPod& pod, std::string why) {
    ++calls_->counts.budget_waits;
    State& state = gangs_[workload];
    if (state.waits_for == why) { return; }
    state.waits_for = why;
    calls_->news.push_back(
        {OrderNews::Kind::eviction_waits, workload, pod.name, pod.uid, std::move(why)});
}

void Evictions::evict(const Gang& gang, const TaskPod& pod) {
    State& state = gangs_[gang.workload];
    if (state.resting.contains(pod.uid) || !calls_->begin(pod.uid)) { return; }
    if (!state.marked.insert(pod.uid).second) { return ask_to_leave(gang.workload, pod); }
    const std::string message = fmt::format("{} stops as a whole{}{}", gang.workload,
                                            gang.cause.empty() ? "" : ": ", gang.cause);
    const json::object patch{
        {"metadata", {{"uid", pod.uid}}},
        {"status",
         {{"conditions", json::array{json::object{{"type", "DisruptionTarget"},
                                                  {"status", "True"},
                                                  {"reason", gang_disruption_reason},
                                                  {"message", message},
                                                  {"lastTransitionTime", time_text(now_())}}}}}}};
    // Without the condition it goes all the same.
    calls_->ask(
        patch_call(
            {.resource = pods(), .name = pod.name, .rest = "status", .kind = PatchKind::strategic},
            patch),
        [self = shared_from_this(), workload = gang.workload, pod](const Result<Answer>&) {
            self->ask_to_leave(workload, pod);
        });
}

void Evictions::ask_to_leave(const std::string& workload, const TaskPod& pod) {
    const json::object eviction{
        {"apiVersion", "policy/v1"},
        {"kind", "Eviction"},
        {"metadata", {{"namespace", pod.name.first}, {"name", pod.name.second}}},
        {"deleteOptions", {{"preconditions", {{"uid", pod.uid}}}}}};
    Call call;
    call.method = "POST";
    call.target = path_of(pods(), pod.name.first, pod.name.second, "eviction");
    call.body = json::serialize(eviction);
    calls_->ask(
        std::move(call), [self = shared_from_this(), workload, pod](const Result<Answer>& answer) {
            const bool is_unknown = answer && (answer->status == 404 || answer->status == 405);
            if (is_unknown && !is_gone(pod, *answer)) { return self->remove(workload, pod); }
            self->hear(workload, pod, answer);
        });
}

/// Where the server has no evictions.
void Evictions::remove(const std::string& workload, const TaskPod& pod) {
    calls_->ask(delete_call(pods(), pod.name, {.uid = pod.uid, .grace = -1, .propagation = {}}),
                [self = shared_from_this(), workload, pod](const Result<Answer>& answer) {
                    self->hear(workload, pod, answer);
                });
}

void Evictions::hear(const std::string& workload, const TaskPod& pod,
                     const Result<Answer>& answer) {
    calls_->end(pod.uid);
    OrderCounts& counts = calls_->counts;
    if (answer && answer->is_ok()) {
        ++counts.evicted;
        return;
    }
    if (answer && answer->status == 404) { return; }  // which the watch tells as well
    if (answer && is_budget_answer(*answer)) {
        if (answer->retry_after_ms > 0) {
            gangs_[workload].resting.insert(pod.uid);
            calls_->after(answer->retry_after_ms,
                          [weak = weak_from_this(), workload, uid = pod.uid] {
                              const auto self = weak.lock();
                              const auto found =
                                  self ? self->gangs_.find(workload) : decltype(gangs_)::iterator{};
                              if (self && found != self->gangs_.end()) {
                                  found->second.resting.erase(uid);
                              }
                          });
        }
        return wait(workload, pod, message_of(*answer));
    }
    if (answer && (answer->status == 429 || put_off_ms(*answer) > 0)) {
        ++counts.busy_waits;
        return;
    }
    ++counts.failed;
    if (answer && answer->status != 409) {
        calls_->news.push_back(
            {OrderNews::Kind::eviction_refused, workload, pod.name, pod.uid, message_of(*answer)});
    }
}

}  // namespace muster::kube
