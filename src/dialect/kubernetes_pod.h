// Pods and pod templates: one task's needs, and of a live pod who it belongs to and where it is.
#pragma once

#include "dialect/kubernetes_scope.h"
#include "model/task.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::dialect {

/// `metadata` and `spec` of a pod or of a template in the namespace `name_space`; `pod` is its name
/// where it has one.
TaskSpec read_task(const Field& metadata, const Field& spec, std::string name_space,
                   const Scope& scope, std::string_view pod = {});

/// The gang of an owner, such as a JobSet, that a pod is of, and its place in it.
struct OwnerTie {
    std::string owner;  // "JobSet namespace/name"; empty when none
    std::string part;   // which of the owner's gangs, where it has several
    std::string role;
    std::int64_t batch = 0;    // which of the equal parts of its role
    std::int64_t index = -1;   // in it; −1: not said
    std::int64_t attempt = 0;  // of the owner, which may do all again
};

enum class PodPhase : std::uint8_t { waiting, bound, succeeded, failed };

struct PodItem {
    std::string name;         // "namespace/name"
    std::string group;        // "namespace/group" of any dialect, empty when alone
    std::string job;          // "namespace/job" that declares it, empty when none
    std::string role;         // its name for it
    std::int64_t index = -1;  // its place in the role
    OwnerTie tie;
    std::string maker;  // "Job namespace/name" that made it, of batch/v1; empty when none
    std::int64_t group_minimum = 0;  // as far as the pod itself says so
    std::string scheduler;
    std::string node;
    PodPhase phase = PodPhase::waiting;
    bool is_gated = false;
    WorkloadSpec head;  // queue, priority, times; without groups
    TopologyWish wish;
    TaskSpec task;
    std::vector<Fault> unsupported;
    Place place;  // only of those that may be refused
};

/// The same for the pods of an object with a template: the object's name, the template's labels.
PodItem read_template_head(const Field& object, const Scope& scope);
PodItem read_pod(const Field& pod, const Scope& scope);

}  // namespace muster::dialect
