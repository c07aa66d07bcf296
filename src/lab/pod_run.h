// What a fake kubelet knows of a pod that it runs, and the status that it writes of it.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct ContainerRun {
    enum class State : std::uint8_t { waiting, running, ended, backing_off };
    State state = State::waiting;
    std::int32_t exit_code = 0;  // of the last end
    std::int32_t restarts = 0;
    std::int64_t started = 0;  // lab milliseconds
    std::int64_t ended = 0;
};

/// A GPU, or a MIG slice of one, that a container was given.
struct HeldDevice {
    std::uint32_t container = 0;
    std::string resource;   // "nvidia.com/gpu"
    std::int64_t slot = 0;  // which of the node's devices of that resource
    bool is_bad = false;
    bool is_dead = false;  // what uses it fails
};

struct PodRun {
    std::uint64_t serial = 0;  // of all runs; timers of an earlier one are not heard
    std::string uid;
    std::string node;
    std::string address;
    std::int64_t started = 0;
    std::uint32_t init_count = 0;
    std::vector<ContainerRun> containers;  // the init containers first
    std::vector<HeldDevice> devices;
    bool is_finished = false;
    bool is_leaving = false;
    bool is_lost = false;  // its node does not answer
    bool is_sending = false;
    bool is_dirty = false;  // changed since the status was sent
};

/// The containers of a pod's spec in the order of PodRun.
std::vector<const boost::json::object*> containers_of(const boost::json::object& pod);
/// A run as the pod's spec wants it, and as far as its status says that it has come.
PodRun read_run(const boost::json::object& pod);

bool has_initialised(const PodRun& run);
/// "Pending", "Running", "Succeeded", "Failed"
std::string_view phase_of(const PodRun& run);
/// A strategic merge patch's `status`.
boost::json::object status_of(const PodRun& run, const boost::json::object& pod,
                              std::string_view host_address, std::int64_t now);

}  // namespace muster::lab
