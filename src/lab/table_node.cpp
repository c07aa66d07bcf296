// Nodes and pods.
#include "lab/table.h"
#include "lab/table_kinds.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// The end of a container or its waiting, in a word.
std::string end_word(const json::object& terminated) {
    if (const std::string reason = text_of(terminated, "reason"); !reason.empty()) {
        return reason;
    }
    if (const std::int64_t signal = integer_of(terminated, "signal"); signal != 0) {
        return fmt::format("Signal:{}", signal);
    }
    return fmt::format("ExitCode:{}", integer_of(terminated, "exitCode"));
}

const json::object* state_of(const json::object& container, std::string_view path) {
    const json::value* found = value_at(container, path);
    return found == nullptr ? nullptr : found->if_object();
}

/// Restarts, and when the last of them was.
struct Restarts {
    std::int64_t count = 0;
    std::optional<std::int64_t> last;

    void add(const json::object& container) {
        count += integer_of(container, "restartCount");
        last = std::max(last, time_of(container, "lastState.terminated.finishedAt"));
    }
};

/// What the STATUS, READY and RESTARTS of a pod come to.
class PodSummary {
public:
    explicit PodSummary(const json::object& pod) : pod_(pod) {
        phase_ = text_of(pod, "status.phase");
        status_ = text_of(pod, "status.reason", phase_);
        const json::object* scheduled = condition_of(pod, "PodScheduled");
        if (scheduled != nullptr && text_of(*scheduled, "reason") == "SchedulingGated") {
            status_ = "SchedulingGated";
        }
        total_ = list_of(pod, "spec.containers").size();
        for (const json::value& one : list_of(pod, "spec.initContainers")) {
            if (!one.is_object()) { continue; }
            if (text_of(one.get_object(), "restartPolicy") == "Always") {
                sidecars_.insert(text_of(one.get_object(), "name"));
                ++total_;
            }
        }
        const bool is_starting = read_init_containers();
        if (!is_starting || is_condition_true(pod, "Initialized")) { read_containers(); }
        read_deletion();
    }

    [[nodiscard]] std::string ready() const { return fmt::format("{}/{}", ready_, total_); }
    [[nodiscard]] const std::string& status() const { return status_; }
    [[nodiscard]] std::string restarts(std::int64_t now) const {
        if (restarts_.count == 0 || !restarts_.last) { return std::to_string(restarts_.count); }
        return fmt::format("{} ({} ago)", restarts_.count, age(now - *restarts_.last));
    }

private:
    /// True while one of them keeps the pod from starting: the first that does names the status.
    bool read_init_containers() {
        Restarts of_sidecars;
        std::size_t index = 0;
        bool is_starting = false;
        for (const json::value& one : list_of(pod_, "status.initContainerStatuses")) {
            if (!one.is_object()) { continue; }
            const json::object& container = one.get_object();
            const bool is_sidecar = sidecars_.contains(text_of(container, "name"));
            restarts_.add(container);
            if (is_sidecar) { of_sidecars.add(container); }
            if (!is_past(container, is_sidecar)) {
                status_ = "Init:" + init_word(container, index);
                is_starting = true;
                break;
            }
            ++index;
        }
        sidecar_restarts_ = of_sidecars;
        return is_starting;
    }

    bool is_past(const json::object& container, bool is_sidecar) {
        const json::object* terminated = state_of(container, "state.terminated");
        if (terminated != nullptr && integer_of(*terminated, "exitCode") == 0) { return true; }
        if (!is_sidecar || !flag_of(container, "started")) { return false; }
        ready_ += flag_of(container, "ready") ? 1 : 0;
        return true;
    }

    [[nodiscard]] std::string init_word(const json::object& container, std::size_t index) const {
        if (const json::object* terminated = state_of(container, "state.terminated")) {
            return end_word(*terminated);
        }
        const std::string waiting = text_of(container, "state.waiting.reason");
        if (!waiting.empty() && waiting != "PodInitializing") { return waiting; }
        return fmt::format("{}/{}", index, list_of(pod_, "spec.initContainers").size());
    }

    /// The first container has the last word, but an error of any of them outdoes "Completed".
    void read_containers() {
        restarts_ = sidecar_restarts_;
        bool has_running = false;
        std::string error;
        const json::array& containers = list_of(pod_, "status.containerStatuses");
        for (std::size_t i = containers.size(); i-- > 0;) {
            if (!containers[i].is_object()) { continue; }
            const json::object& container = containers[i].get_object();
            restarts_.add(container);
            if (const std::string waiting = text_of(container, "state.waiting.reason");
                !waiting.empty()) {
                status_ = waiting;
            } else if (const json::object* terminated = state_of(container, "state.terminated")) {
                status_ = end_word(*terminated);
                if (integer_of(*terminated, "exitCode") != 0) { error = status_; }
            } else if (flag_of(container, "ready") && state_of(container, "state.running")) {
                has_running = true;
                ++ready_;
            }
        }
        if (status_ != "Completed") { return; }
        if (has_running && is_condition_true(pod_, "Ready")) {
            status_ = "Running";
        } else if (!error.empty()) {
            status_ = error;
        } else if (has_running) {
            status_ = "NotReady";
        }
    }

    void read_deletion() {
        if (text_of(pod_, "metadata.deletionTimestamp").empty()) { return; }
        if (text_of(pod_, "status.reason") == "NodeLost") {
            status_ = "Unknown";
        } else if (phase_ != "Succeeded" && phase_ != "Failed") {
            status_ = "Terminating";
        }
    }

    const json::object& pod_;
    std::string phase_;
    std::string status_;
    std::set<std::string> sidecars_;
    std::size_t total_ = 0;
    std::size_t ready_ = 0;
    Restarts restarts_;
    Restarts sidecar_restarts_;
};

std::string readiness_gates(const json::object& pod) {
    const json::array& gates = list_of(pod, "spec.readinessGates");
    if (gates.empty()) { return "<none>"; }
    const auto open = std::ranges::count_if(gates, [&](const json::value& gate) {
        return gate.is_object() &&
               is_condition_true(pod, text_of(gate.get_object(), "conditionType"));
    });
    return fmt::format("{}/{}", open, gates.size());
}

std::string pod_address(const json::object& pod) {
    const json::array& all = list_of(pod, "status.podIPs");
    if (all.empty() || !all[0].is_object()) { return "<none>"; }
    return text_of(all[0].get_object(), "ip", "<none>");
}

json::array pod_cells(const json::object& pod, std::int64_t now) {
    const PodSummary summary(pod);
    return {own_name(pod),
            summary.ready(),
            summary.status(),
            summary.restarts(now),
            own_age(pod, now),
            pod_address(pod),
            text_of(pod, "spec.nodeName", "<none>"),
            text_of(pod, "status.nominatedNodeName", "<none>"),
            readiness_gates(pod)};
}

std::string node_status(const json::object& node) {
    std::string out = "Unknown";
    if (condition_of(node, "Ready") != nullptr) {
        out = is_condition_true(node, "Ready") ? "Ready" : "NotReady";
    }
    return flag_of(node, "spec.unschedulable") ? out + ",SchedulingDisabled" : out;
}

std::string node_roles(const json::object& node) {
    constexpr std::string_view prefix = "node-role.kubernetes.io/";
    std::set<std::string> roles;
    for (const auto& [key, value] : map_of(node, "metadata.labels")) {
        const std::string_view label = key;
        if (label.starts_with(prefix) && label.size() > prefix.size()) {
            roles.emplace(label.substr(prefix.size()));
        }
        if (label == "kubernetes.io/role" && value.is_string() && !value.get_string().empty()) {
            roles.emplace(value.get_string());
        }
    }
    return roles.empty() ? "<none>" : fmt::format("{}", fmt::join(roles, ","));
}

std::string node_address(const json::object& node, std::string_view type) {
    for (const json::value& one : list_of(node, "status.addresses")) {
        if (one.is_object() && text_of(one.get_object(), "type") == type) {
            return text_of(one.get_object(), "address");
        }
    }
    return "<none>";
}

json::array node_cells(const json::object& node, std::int64_t now) {
    std::string kernel = text_of(node, "status.nodeInfo.kernelVersion", "<unknown>");
    if (const std::string machine = text_of(node, "status.nodeInfo.architecture");
        !machine.empty()) {
        kernel += " (" + machine + ")";
    }
    return {own_name(node),
            node_status(node),
            node_roles(node),
            own_age(node, now),
            text_of(node, "status.nodeInfo.kubeletVersion"),
            node_address(node, "InternalIP"),
            node_address(node, "ExternalIP"),
            text_of(node, "status.nodeInfo.osImage", "<unknown>"),
            kernel,
            text_of(node, "status.nodeInfo.containerRuntimeVersion", "<unknown>")};
}

}  // namespace

std::span<const KindTable> node_tables() {
    static const std::vector<KindTable> all = {
        {"",
         "Pod",
         {name_column,
          {.name = "Ready"},
          {.name = "Status"},
          {.name = "Restarts"},
          age_column,
          {.name = "IP", .priority = 1},
          {.name = "Node", .priority = 1},
          {.name = "Nominated Node", .priority = 1},
          {.name = "Readiness Gates", .priority = 1}},
         pod_cells},
        {"",
         "Node",
         {name_column,
          {.name = "Status"},
          {.name = "Roles"},
          age_column,
          {.name = "Version"},
          {.name = "Internal-IP", .priority = 1},
          {.name = "External-IP", .priority = 1},
          {.name = "OS-Image", .priority = 1},
          {.name = "Kernel-Version", .priority = 1},
          {.name = "Container-Runtime", .priority = 1}},
         node_cells},
    };
    return all;
}

}  // namespace muster::lab
