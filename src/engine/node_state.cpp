#include "engine/node_state.h"

#include <algorithm>
#include <cstring>

namespace muster {

namespace {

template <class T>
void put(std::string& key, const T* values, std::size_t count) {
    static_assert(std::has_unique_object_representations_v<T>);
    key.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

template <class T>
void put(std::string& key, T value) {
    put(key, &value, 1);
}

}  // namespace

StateId NodeStates::of(const Machine& machine, NodeId node, const Space& space) {
    if (of_node_.size() <= node.value) { of_node_.resize(space.nodes.size()); }
    if (of_node_[node.value].is_valid()) { return of_node_[node.value]; }
    const NodeSpec& spec = machine.spec;
    const NodeFree& free = space.nodes[node.value];
    key_.clear();
    put(key_, machine.node_class.value);
    put(key_, machine.devices);
    put(key_, spec.allocatable.milli_cpu);
    put(key_, spec.allocatable.memory);
    put(key_, spec.pods);
    put(key_, free.milli_cpu);
    put(key_, free.memory);
    put(key_, free.whole);
    put(key_, free.pods);
    put(key_, machine.gpu_count());
    put(key_, space.gpus.data() + machine.gpu_begin, machine.gpu_count());
    if (machine.mig_gpus != 0) {
        put(key_, space.mig.data() + machine.gpu_begin, machine.gpu_count());
    }
    for (const auto& [name, total] : machine.extended) {
        put(key_, name.value);
        put(key_, total);
    }
    put(key_, space.extended.data() + machine.extended_begin, machine.extended.size());
    if (machine.has_zone_rule) {
        for (const GpuSpec& gpu : spec.gpus) { put(key_, gpu.numa); }
        put(key_, space.zone_cpu.data() + machine.zone_begin, spec.numa.size());
    }
    auto found = ids_.find(std::string_view(key_));
    if (found == ids_.end()) {
        if (ids_.size() >= std::max(states_max, 2 * space.nodes.size())) {
            forget_all();
            of_node_.resize(space.nodes.size());
        }
        found = ids_.emplace(key_, StateId(ids_.size())).first;
    }
    return of_node_[node.value] = found->second;
}

void NodeStates::change(NodeId node) {
    if (node.value < of_node_.size()) { of_node_[node.value] = {}; }
}

void NodeStates::forget_all() {
    ids_.clear();
    of_node_.clear();
}

}  // namespace muster
