#include "lab/fake_kubelet.h"

#include "kube/objects.h"
#include "lab/known_resources.h"
#include "lab/run_plan.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace muster::lab {

namespace json = boost::json;
using kube::ObjectName;
using kube::text_at;
using Change = kube::Informer::Change;
using State = ContainerRun::State;

namespace {

constexpr std::int64_t restart_wait = 1'000;  // lab milliseconds, before the first restart
constexpr std::int64_t back_off_first = 10'000;
constexpr std::int64_t back_off_max = 300'000;
constexpr std::int64_t retry_wait = 1'000;  // ours, after a call that failed
constexpr std::size_t small_lab = 100;      // nodes up to which every step is told

bool wants_restart(const json::object& pod, std::int32_t exit_code, bool is_init) {
    const std::string_view policy = text_at(pod, "spec.restartPolicy");
    if (policy == "Never") { return false; }
    if (is_init || policy == "OnFailure") { return exit_code != 0; }
    return true;
}

std::string address_of(std::uint32_t number) {
    return fmt::format("10.{}.{}.{}", 128 + ((number >> 16) & 127), (number >> 8) & 255,
                       number & 255);
}

/// The number behind an address of address_of; 0 for others.
std::uint32_t number_of(std::string_view address) {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    if (std::sscanf(std::string(address).c_str(), "10.%3u.%3u.%3u", &a, &b, &c) != 3) { return 0; }
    return a < 128 ? 0 : ((a - 128) << 16) + (b << 8) + c;
}

}  // namespace

FakeKubelet::FakeKubelet(kube::Transport& transport, LabClock clock, KubeletOptions options)
    : transport_(transport),
      timers_(transport, clock),
      options_(options),
      events_(transport, clock.now, "kubelet"),
      cloud_events_(transport, clock.now, "muster-lab"),
      node_informer_(transport, known::nodes,
                     [this](Change change, const ObjectName& name, const Object& node,
                            const Object* before) { on_node(change, name, node, before); }),
      pod_informer_(transport, known::pods,
                    [this](Change change, const ObjectName& name, const Object& pod,
                           const Object*) { on_pod(change, name, pod); }),
      lifecycle_(transport, timers_, clock.now, pod_informer_) {}

void FakeKubelet::start() {
    node_informer_.start();
    pod_informer_.start();
    beat();
}

void FakeKubelet::later(const PodRun& run, const ObjectName& name, std::int64_t wait,
                        std::function<void(PodRun&)> work) {
    timers_.after(wait, [this, serial = run.serial, name, what = std::move(work)] {
        const auto at = runs_.find(name);
        if (at != runs_.end() && at->second.serial == serial) { what(at->second); }
    });
}

void FakeKubelet::on_pod(Change change, const ObjectName& name, const Object& pod) {
    const std::string node(text_at(pod, "spec.nodeName"));
    if (node.empty()) { return; }
    if (change == Change::gone) {
        end_run(runs_.find(name));
        const auto early = early_.find(node);
        if (early == early_.end()) { return; }
        early->second.erase(name);
        if (early->second.empty()) { early_.erase(early); }
        return;
    }
    lifecycle_.on_pod(name, pod);
    if (!nodes_.contains(node)) {
        early_[node].insert(name);
        return;
    }
    auto at = runs_.find(name);
    if (at == runs_.end()) {
        if (is_over(pod) && !kube::is_leaving(pod)) { return; }
        begin(name, pod);
        at = runs_.find(name);
    }
    PodRun& run = at->second;
    if (is_over(pod) && !run.is_leaving && !kube::is_leaving(pod)) {
        end_run(at);  // nothing more to do, whoever said so
        return;
    }
    if (kube::is_leaving(pod) && !run.is_leaving) { leave(run, name, pod); }
}

void FakeKubelet::begin(const ObjectName& name, const Object& pod) {
    PodRun run = read_run(pod);
    run.serial = ++serial_;
    FakeNode& node = nodes_.at(run.node);
    addresses_ = std::max(addresses_, number_of(run.address));
    const bool is_new = run.started == 0;
    if (is_new) { run.started = timers_.now(); }
    end_run(runs_.find(name));
    for (const HeldDevice& device : run.devices) { node.used[device.resource].insert(device.slot); }
    PodRun& kept = runs_.emplace(name, std::move(run)).first->second;
    if (kube::is_leaving(pod) || is_over(pod)) { return; }
    if (node.is_failed()) { lose(kept, name); }
    const std::int64_t wait = is_new ? options_.start_latency * node.faults.slow : 0;
    if (is_new && wait > 0 && nodes_.size() <= small_lab) { publish(kept, name); }
    later(kept, name, wait, [this, name](PodRun& mine) {
        if (mine.address.empty()) { mine.address = address_of(++addresses_); }
        if (const Object* found = pod_informer_.find(name)) { give_devices(mine, *found); }
        for (std::size_t i = 0; i < mine.containers.size(); ++i) {
            if (mine.containers[i].state == State::running) { run_on(mine, name, i); }
        }
        go_on(mine, name);
    });
}

/// Starts what is next, init containers one by one, and finishes the pod when nothing is.
void FakeKubelet::go_on(PodRun& run, const ObjectName& name) {
    if (run.is_lost || run.is_leaving || run.is_finished) { return; }
    for (std::size_t i = 0; i < run.containers.size(); ++i) {
        const ContainerRun& one = run.containers[i];
        if (one.state == State::waiting) { start_container(run, name, i); }
        if (one.state == State::ended) { settle(run, name, i); }
        const bool is_done = one.state == State::ended && one.exit_code == 0;
        if (i < run.init_count && !is_done) { break; }
    }
    const bool has_ended =
        std::all_of(run.containers.begin() + run.init_count, run.containers.end(),
                    [](const ContainerRun& one) { return one.state == State::ended; });
    const bool is_refused = std::any_of(
        run.containers.begin(), run.containers.begin() + run.init_count,
        [](const ContainerRun& one) { return one.state == State::ended && one.exit_code != 0; });
    run.is_finished = has_ended || is_refused;
    publish(run, name);
}

/// What has ended may start again after a while.
void FakeKubelet::settle(PodRun& run, const ObjectName& name, std::size_t index) {
    const Object* pod = pod_informer_.find(name);
    ContainerRun& one = run.containers[index];
    if (!pod || !wants_restart(*pod, one.exit_code, index < run.init_count)) { return; }
    one.state = State::backing_off;
    const int doublings = std::min(one.restarts - 1, 10);
    const std::int64_t wait =
        one.restarts == 0 ? restart_wait : std::min(back_off_first << doublings, back_off_max);
    if (one.restarts > 0) {
        tell(run, name, "BackOff", "Back-off restarting failed container", "Warning");
    }
    later(run, name, wait, [this, name, index](PodRun& mine) {
        ContainerRun& again = mine.containers[index];
        if (again.state != State::backing_off || mine.is_leaving || mine.is_lost) { return; }
        ++again.restarts;
        start_container(mine, name, index);
        publish(mine, name);
    });
}

void FakeKubelet::start_container(PodRun& run, const ObjectName& name, std::size_t index) {
    ContainerRun& one = run.containers[index];
    one.state = State::running;
    one.started = timers_.now();
    run_on(run, name, index);
    const Object* pod = pod_informer_.find(name);
    if (pod == nullptr || nodes_.size() > small_lab) { return; }
    const auto specs = containers_of(*pod);
    const std::string_view image = text_at(*specs[index], "image");
    tell(run, name, "Pulled",
         fmt::format("Container image \"{}\" already present on machine", image));
    tell(run, name, "Created",
         fmt::format("Container created: {}", text_at(*specs[index], "name")));
    tell(run, name, "Started",
         fmt::format("Container started: {}", text_at(*specs[index], "name")));
}

/// Ends it when its time has come, counted from its start.
void FakeKubelet::run_on(PodRun& run, const ObjectName& name, std::size_t index) {
    const Object* pod = pod_informer_.find(name);
    if (pod == nullptr) { return; }
    const auto specs = containers_of(*pod);
    RunPlan plan = plan_of_run(*pod, *specs[index]);
    if (index < run.init_count) {
        plan = plan_of_container(*specs[index]);
        plan.milliseconds = plan.milliseconds.value_or(0);  // nothing waits for ever to start
    }
    const bool is_dead = std::any_of(
        run.devices.begin(), run.devices.end(),
        [&](const HeldDevice& device) { return device.container == index && device.is_dead; });
    if (is_dead) { plan = {.milliseconds = 0, .exit_code = 1}; }
    if (!plan.milliseconds) { return; }
    const auto node = nodes_.find(run.node);
    const std::int64_t slow = node == nodes_.end() ? 1 : node->second.faults.slow;
    const std::int64_t due = run.containers[index].started + *plan.milliseconds * slow;
    const std::int64_t started = run.containers[index].started;
    later(run, name, due - timers_.now(),
          [this, name, index, started, code = plan.exit_code](PodRun& mine) {
              ContainerRun& one = mine.containers[index];
              if (one.state != State::running || one.started != started) { return; }
              one.exit_code = code;
              end_container(mine, name, index);
          });
}

void FakeKubelet::end_container(PodRun& run, const ObjectName& name, std::size_t index) {
    run.containers[index].state = State::ended;
    run.containers[index].ended = timers_.now();
    go_on(run, name);
}

void FakeKubelet::leave(PodRun& run, const ObjectName& name, const Object& pod) {
    run.is_leaving = true;
    const std::int64_t asked = kube::int_at(pod, "metadata.deletionGracePeriodSeconds", 30);
    const std::int64_t grace =
        std::min(std::clamp<std::int64_t>(asked, 0, 3600) * 1000, options_.grace_max);
    if (!is_over(pod)) { tell(run, name, "Killing", "Stopping container"); }
    later(run, name, is_over(pod) ? 0 : grace,
          [this, name](PodRun& mine) { remove(name, mine.uid); });
}

/// The last word of a kubelet on a pod; said again until the API has heard it.
void FakeKubelet::remove(const ObjectName& name, const std::string& uid) {
    kube::delete_object(
        transport_, known::pods, name, {.uid = uid, .grace = 0, .propagation = ""},
        [this, name, uid, alive = std::weak_ptr<int>(alive_)](const Result<kube::Answer>& answer) {
            if (alive.expired()) { return; }
            const int status = answer ? answer->status : 0;
            if ((answer && answer->is_ok()) || status == 404 || status == 409) { return; }
            timers_.after(retry_wait * timers_.speed(), [this, name, uid] { remove(name, uid); });
        });
}

/// One status at a time for a pod, so that an older one never overtakes a newer one.
void FakeKubelet::publish(PodRun& run, const ObjectName& name) {
    if (run.is_sending) {
        run.is_dirty = true;
        return;
    }
    const Object* pod = pod_informer_.find(name);
    const auto node = nodes_.find(run.node);
    if (pod == nullptr || node == nodes_.end()) { return; }
    run.is_sending = true;
    run.is_dirty = false;
    const Object patch{{"metadata", {{"uid", run.uid}}},
                       {"status", status_of(run, *pod, node->second.address, timers_.now())}};
    kube::patch_object(transport_,
                       {.resource = known::pods,
                        .name = name,
                        .rest = "status",
                        .kind = kube::PatchKind::strategic},
                       patch,
                       [this, name, serial = run.serial,
                        alive = std::weak_ptr<int>(alive_)](const Result<kube::Answer>& answer) {
                           if (alive.expired()) { return; }
                           const auto at = runs_.find(name);
                           if (at == runs_.end() || at->second.serial != serial) { return; }
                           PodRun& mine = at->second;
                           mine.is_sending = false;
                           const int status = answer ? answer->status : 0;
                           if (status == 404 || status == 409) { return; }
                           if (!answer || !answer->is_ok()) {
                               later(mine, name, retry_wait * timers_.speed(),
                                     [this, name](PodRun& again) { publish(again, name); });
                           } else if (mine.is_dirty) {
                               publish(mine, name);
                           }
                       });
}

void FakeKubelet::tell(const PodRun& run, const ObjectName& name, std::string_view reason,
                       const std::string& message, std::string_view type) {
    const Object* pod = pod_informer_.find(name);
    if (pod == nullptr || nodes_.size() > small_lab) { return; }
    events_.record(*pod, type, reason, message, run.node);
}

}  // namespace muster::lab
