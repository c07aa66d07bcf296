#include "lab/pod_run.h"

#include "base/text.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;
using kube::text_at;
using kube::time_text;
using State = ContainerRun::State;

namespace {

/// 64 hexadecimal digits that look like a digest and are the same for the same text.
std::string digest_like(std::string_view text) {
    std::string out;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (int part = 0; part < 4; ++part) {
        for (const char c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
        out += fmt::format("{:016x}", hash);
    }
    return out;
}

json::object ended_state(const ContainerRun& run, const std::string& id) {
    return {{"exitCode", run.exit_code},
            {"reason", run.exit_code == 0 ? "Completed" : "Error"},
            {"startedAt", time_text(run.started)},
            {"finishedAt", time_text(run.ended)},
            {"containerID", id}};
}

json::object state_of(const ContainerRun& run, const std::string& name, const std::string& id,
                      std::string_view waiting_reason) {
    switch (run.state) {
        case State::running: return {{"running", {{"startedAt", time_text(run.started)}}}};
        case State::ended: return {{"terminated", ended_state(run, id)}};
        case State::backing_off: {
            if (run.restarts == 0) { return {{"terminated", ended_state(run, id)}}; }
            return {{"waiting",
                     {{"reason", "CrashLoopBackOff"},
                      {"message", fmt::format("back-off restarting failed container {}", name)}}}};
        }
        case State::waiting: break;
    }
    return {{"waiting", {{"reason", waiting_reason}}}};
}

/// The devices as kubelets tell them: an id for each, which ends in its slot, and its health.
json::array devices_of(const PodRun& pod, std::size_t container) {
    json::array out;
    for (const HeldDevice& device : pod.devices) {
        if (device.container != container) { continue; }
        json::object entry{{"resourceID", fmt::format("{}-{}", pod.node, device.slot)},
                           {"health", device.is_bad ? "Unhealthy" : "Healthy"}};
        const auto same = std::find_if(out.begin(), out.end(), [&](const json::value& one) {
            return text_at(one.as_object(), "name") == device.resource;
        });
        if (same != out.end()) {
            same->as_object()["resources"].as_array().push_back(std::move(entry));
        } else {
            out.push_back(json::object{{"name", device.resource},
                                       {"resources", json::array{std::move(entry)}}});
        }
    }
    return out;
}

void read_devices(PodRun& run, const json::object& status, std::uint32_t container) {
    const json::array* resources = kube::array_at(status, "allocatedResourcesStatus");
    for (const json::value& one : resources ? *resources : json::array()) {
        const json::object* resource = one.if_object();
        const json::array* list = resource ? kube::array_at(*resource, "resources") : nullptr;
        for (const json::value& other : list ? *list : json::array()) {
            const json::object* device = other.if_object();
            const std::string_view id = device ? text_at(*device, "resourceID") : "";
            const auto slot = parse_int(id.substr(std::min(id.rfind('-'), id.size() - 1) + 1));
            if (id.empty() || !slot) { continue; }
            run.devices.push_back({.container = container,
                                   .resource = std::string(text_at(*resource, "name")),
                                   .slot = *slot});
        }
    }
}

json::object container_status(const PodRun& pod, std::size_t index, const json::object& spec) {
    const ContainerRun& run = pod.containers[index];
    const bool is_init = index < pod.init_count;
    const std::string name(text_at(spec, "name"));
    const std::string image(text_at(spec, "image"));
    const auto id_of = [&](int restart) {
        return "containerd://" + digest_like(fmt::format("{}/{}/{}", pod.uid, name, restart));
    };
    const bool is_running = run.state == State::running;
    const bool was_started = run.state != State::waiting;
    const bool is_ready = is_init ? run.state == State::ended && run.exit_code == 0 : is_running;
    json::object out{{"name", name},
                     {"image", image},
                     {"imageID", was_started ? "sha256:" + digest_like(image) : ""},
                     {"ready", is_ready && !pod.is_lost},
                     {"started", is_running},
                     {"restartCount", run.restarts}};
    if (was_started) { out["containerID"] = id_of(run.restarts); }
    if (json::array devices = devices_of(pod, index); !devices.empty()) {
        out["allocatedResourcesStatus"] = std::move(devices);
    }
    out["state"] = state_of(run, name, id_of(run.restarts),
                            pod.init_count != 0 ? "PodInitializing" : "ContainerCreating");
    json::object last;
    if (run.restarts > 0 && is_running && run.ended != 0) {
        last["terminated"] = json::object{{"exitCode", run.exit_code},
                                          {"reason", run.exit_code == 0 ? "Completed" : "Error"},
                                          {"finishedAt", time_text(run.ended)},
                                          {"containerID", id_of(run.restarts - 1)}};
    } else if (run.state == State::backing_off) {
        last["terminated"] = ended_state(run, id_of(run.restarts));
    }
    out["lastState"] = std::move(last);
    return out;
}

struct Condition {
    std::string_view type;
    bool is_true = false;
    std::string_view reason;
    std::string message;
};

/// The time of the last change is sent only with a change.
json::object condition_patch(const Condition& one, const json::object& pod, std::int64_t now) {
    const std::string_view status = one.is_true ? "True" : "False";
    json::object out{{"type", one.type}, {"status", status}};
    if (one.reason.empty()) {
        out["reason"] = nullptr;
        out["message"] = nullptr;
    } else {
        out["reason"] = one.reason;
        out["message"] = one.message;
    }
    if (kube::condition_of(pod, one.type) != status) { out["lastTransitionTime"] = time_text(now); }
    return out;
}

json::array conditions_of(const PodRun& run, const json::object& pod, std::int64_t now) {
    const auto specs = containers_of(pod);
    std::string unready;
    std::string waiting;
    for (std::size_t i = 0; i < run.containers.size(); ++i) {
        const ContainerRun& one = run.containers[i];
        const bool is_init = i < run.init_count;
        const bool is_done = one.state == State::ended && one.exit_code == 0;
        if (is_init ? is_done : one.state == State::running) { continue; }
        std::string& list = is_init ? waiting : unready;
        list += fmt::format("{}{}", list.empty() ? "" : " ", text_at(*specs[i], "name"));
    }
    Condition initialised{.type = "Initialized", .is_true = has_initialised(run)};
    if (!initialised.is_true) {
        initialised.reason = "ContainersNotInitialized";
        initialised.message = fmt::format("containers with incomplete status: [{}]", waiting);
    }
    Condition ready{.type = "ContainersReady", .is_true = unready.empty() && initialised.is_true};
    if (run.is_finished) {
        ready.is_true = false;
        ready.reason = phase_of(run) == "Succeeded" ? "PodCompleted" : "PodFailed";
    } else if (!ready.is_true) {
        ready.reason = "ContainersNotReady";
        ready.message = fmt::format("containers with unready status: [{}]", unready);
    }
    json::array out;
    out.push_back(condition_patch({.type = "PodScheduled", .is_true = true}, pod, now));
    out.push_back(condition_patch(initialised, pod, now));
    out.push_back(condition_patch(ready, pod, now));
    ready.type = "Ready";
    if (run.is_lost) {
        ready.is_true = false;
        ready.reason = "NodeLost";
        ready.message = fmt::format("node {} does not answer", run.node);
    }
    out.push_back(condition_patch(ready, pod, now));
    return out;
}

void read_statuses(PodRun& run, const json::object& pod, const char* path, std::size_t first,
                   std::size_t count) {
    const auto specs = containers_of(pod);
    const json::array* statuses = kube::array_at(pod, path);
    if (statuses == nullptr) { return; }
    for (const json::value& one : *statuses) {
        const json::object* status = one.if_object();
        if (status == nullptr) { continue; }
        for (std::size_t i = first; i < first + count; ++i) {
            if (text_at(*specs[i], "name") != text_at(*status, "name")) { continue; }
            read_devices(run, *status, static_cast<std::uint32_t>(i));
            ContainerRun& out = run.containers[i];
            out.restarts = static_cast<std::int32_t>(kube::int_at(*status, "restartCount"));
            if (kube::object_at(*status, "state.running")) {
                out.state = State::running;
                out.started = kube::read_time(text_at(*status, "state.running.startedAt"));
            } else if (kube::object_at(*status, "state.terminated")) {
                out.state = State::ended;
                out.exit_code =
                    static_cast<std::int32_t>(kube::int_at(*status, "state.terminated.exitCode"));
                out.started = kube::read_time(text_at(*status, "state.terminated.startedAt"));
                out.ended = kube::read_time(text_at(*status, "state.terminated.finishedAt"));
            } else if (kube::object_at(*status, "lastState.terminated")) {
                out.state = State::ended;  // it was backing off
                out.exit_code = static_cast<std::int32_t>(
                    kube::int_at(*status, "lastState.terminated.exitCode"));
                out.ended = kube::read_time(text_at(*status, "lastState.terminated.finishedAt"));
            }
        }
    }
}

}  // namespace

std::vector<const json::object*> containers_of(const json::object& pod) {
    std::vector<const json::object*> out;
    for (const char* path : {"spec.initContainers", "spec.containers"}) {
        const json::array* list = kube::array_at(pod, path);
        if (list == nullptr) { continue; }
        for (const json::value& one : *list) {
            if (const json::object* container = one.if_object()) { out.push_back(container); }
        }
    }
    return out;
}

PodRun read_run(const json::object& pod) {
    PodRun run;
    run.uid = kube::uid_of(pod);
    run.node = text_at(pod, "spec.nodeName");
    run.address = text_at(pod, "status.podIP");
    run.started = std::max<std::int64_t>(kube::read_time(text_at(pod, "status.startTime")), 0);
    run.containers.resize(containers_of(pod).size());
    const json::array* inits = kube::array_at(pod, "spec.initContainers");
    run.init_count =
        inits ? static_cast<std::uint32_t>(std::min(inits->size(), run.containers.size())) : 0;
    read_statuses(run, pod, "status.initContainerStatuses", 0, run.init_count);
    read_statuses(run, pod, "status.containerStatuses", run.init_count,
                  run.containers.size() - run.init_count);
    return run;
}

bool has_initialised(const PodRun& run) {
    return std::all_of(
        run.containers.begin(), run.containers.begin() + run.init_count,
        [](const ContainerRun& one) { return one.state == State::ended && one.exit_code == 0; });
}

std::string_view phase_of(const PodRun& run) {
    if (run.is_finished) {
        const bool is_good =
            std::all_of(run.containers.begin(), run.containers.end(),
                        [](const ContainerRun& one) { return one.exit_code == 0; });
        return is_good ? "Succeeded" : "Failed";
    }
    const bool is_started =
        std::any_of(run.containers.begin() + run.init_count, run.containers.end(),
                    [](const ContainerRun& one) { return one.state != State::waiting; });
    return is_started ? "Running" : "Pending";
}

json::object status_of(const PodRun& run, const json::object& pod, std::string_view host_address,
                       std::int64_t now) {
    const auto specs = containers_of(pod);
    json::array inits;
    json::array mains;
    for (std::size_t i = 0; i < std::min(run.containers.size(), specs.size()); ++i) {
        const bool is_init = i < run.init_count;
        (is_init ? inits : mains).push_back(container_status(run, i, *specs[i]));
    }
    json::object out{{"phase", phase_of(run)},
                     {"conditions", conditions_of(run, pod, now)},
                     {"containerStatuses", std::move(mains)},
                     {"startTime", time_text(run.started)},
                     {"hostIP", host_address},
                     {"hostIPs", json::array{json::object{{"ip", host_address}}}}};
    if (!inits.empty()) { out["initContainerStatuses"] = std::move(inits); }
    if (!run.address.empty()) {
        out["podIP"] = run.address;
        out["podIPs"] = json::array{json::object{{"ip", run.address}}};
    }
    out["reason"] = nullptr;
    out["message"] = nullptr;
    if (run.is_lost) {
        out["reason"] = "NodeLost";
        out["message"] = fmt::format("Node {} which was running pod {} does not answer", run.node,
                                     text_at(pod, "metadata.name"));
    }
    return out;
}

}  // namespace muster::lab
