#include "kube/gang_windows.h"

#include "model/rest_of_gang.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace {

/// Binding takes a moment; what lasts longer is said.
constexpr std::int64_t told_after_ms = 5'000;
constexpr std::int64_t put_off_ms = 2'000;
constexpr std::int64_t ms_per_s = 1'000;

bool runs(const TaskPod& pod) { return pod.has_machine && !pod.is_finished; }
bool counts(const TaskPod& pod) { return pod.is_finished ? !pod.has_failed : pod.has_machine; }

/// Somebody makes another one when it goes.
bool is_made_again(const TaskPod& pod) { return pod.has_controller || !runs(pod); }

template <class Predicate>
std::int64_t count(const TaskPods& pods, Predicate holds) {
    return std::count_if(pods.begin(), pods.end(),
                         [&](const auto& pod) { return holds(pod.second); });
}

}  // namespace

void GangWindows::restart() {
    windows_.clear();
    causes_.clear();
    leaving_.clear();
    news_.clear();
    is_first_ = true;
}

void GangWindows::look(const WorkloadSpec& workload, const TaskPods& pods, std::string cause) {
    if (options_.length_ms == 0) { return; }
    if (!cause.empty()) { causes_[workload.name] = cause; }
    const std::int64_t running = count(pods, runs);
    const bool is_ours = std::all_of(pods.begin(), pods.end(), [](const auto& pod) {
        return pod.second.is_ours || !runs(pod.second);
    });
    const auto found = windows_.find(workload.name);
    if (running == 0) { leaving_.erase(workload.name); }
    const bool is_leaving = leaving_.contains(workload.name);
    if (running == 0 || !is_ours || is_leaving || is_whole(workload, pods, counts)) {
        if (found == windows_.end()) { return; }
        if (found->second.is_told && running > 0 && !is_leaving) {
            news_.push_back({workload.name, GangNews::Kind::whole, "all that it needs run"});
        }
        windows_.erase(found);
        return;
    }
    Window& window = windows_[workload.name];
    if (found == windows_.end()) {
        window.since = options_.now();
        window.until =
            window.since + (is_first_ ? std::min(options_.after_start_ms, options_.length_ms)
                                      : options_.length_ms);
    }
    window.have = fmt::format("{} of {} tasks run", running, task_count(workload));
    if (!cause.empty() && !window.is_over) { tell(workload.name, window); }
}

void GangWindows::drop(const std::string& workload) {
    windows_.erase(workload);
    causes_.erase(workload);
    leaving_.erase(workload);
}

void GangWindows::note_leaving(const std::string& workload) {
    leaving_.insert(workload);
    windows_.erase(workload);
}

void GangWindows::tell(const std::string& workload, Window& window) {
    window.is_told = true;
    const std::string cause = cause_of(workload);
    const std::int64_t left = std::max<std::int64_t>(0, window.until - options_.now());
    news_.push_back(
        {workload, GangNews::Kind::incomplete,
         fmt::format("{}{}{}; the room of the others is kept for {} s, then all stop", cause,
                     cause.empty() ? "" : ": ", window.have, (left + ms_per_s - 1) / ms_per_s)});
}

std::vector<Fact> GangWindows::due(
    const std::function<bool(const TaskPods&)>& is_under_way,
    const std::function<const TaskPods*(const std::string&)>& pods_of) {
    is_first_ = false;
    std::vector<Fact> out;
    if (windows_.empty()) { return out; }
    const std::int64_t now = options_.now();
    for (auto& [name, window] : windows_) {
        if (window.is_over) { continue; }
        if (!window.is_told && now - window.since >= told_after_ms) { tell(name, window); }
        if (now < window.until) { continue; }
        const TaskPods* pods = pods_of(name);
        if (pods == nullptr || is_under_way(*pods)) {
            window.until = now + put_off_ms;
            continue;
        }
        const auto waited = (now - window.since) / ms_per_s;
        const std::string cause = cause_of(name);
        const std::string text =
            fmt::format("{}{}{} for {} s", cause, cause.empty() ? "" : ": ", window.have, waited);
        const auto bare = std::find_if(pods->begin(), pods->end(),
                                       [](const auto& pod) { return !is_made_again(pod.second); });
        if (bare != pods->end()) {
            window.until = now + options_.length_ms;
            if (!std::exchange(window.is_kept, true)) {
                news_.push_back({name, GangNews::Kind::kept,
                                 fmt::format("{}; it stays as it is: {} has no controller that "
                                             "would make it again. Bring what is missing, or "
                                             "delete its pods",
                                             text, bare->second.name.second)});
            }
            continue;
        }
        window.is_over = true;
        causes_[name] = text;
        news_.push_back({name, GangNews::Kind::overdue, text});
        out.emplace_back(TaskGone{name, rest_of_gang, false});
    }
    return out;
}

std::vector<GangNews> GangWindows::take_news() { return std::exchange(news_, {}); }

std::string GangWindows::cause_of(const std::string& workload) const {
    const auto found = causes_.find(workload);
    return found == causes_.end() ? std::string() : found->second;
}

}  // namespace muster::kube
