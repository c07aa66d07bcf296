// Objects that declare their pods: Volcano's Job, batch/v1 Job, and the controllers of plain pods.
#pragma once

#include "dialect/kubernetes_pod.h"
#include "dialect/kubernetes_tree.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::dialect {

/// A gang whose final size is declared, however many of its pods exist.
struct DeclaredJob {
    WorkloadSpec workload;
    struct RoleTasks {
        std::string name;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        bool waits = false;       // its pods are made when those of others run
        std::uint32_t batch = 0;  // of an owner: its tasks come in parts of so many
    };
    std::vector<RoleTasks> roles;
    std::vector<Fault> unsupported;
    Place place;
    bool is_over = false;  // finished or suspended: asks for nothing
    // Of what kubernetes_owner.h reads, which is there when pods of it are:
    std::string owner;             // "JobSet namespace/name"; empty of all others
    std::int64_t parts = 0;        // each a gang with its own name; 0: it is one
    std::int64_t first_index = 0;  // its pods count from there
    std::int64_t attempt = 0;      // pods of an earlier one are left over
    // Of a Job:
    std::string made_by;  // the owner, which speaks for it
};

DeclaredJob read_volcano_job(const Field& job, const Scope& scope);

/// True when a batch/v1 Job asks to be placed whole: `muster.dev/gang: "true"`, a gang policy of
/// Kubernetes 1.37, or a topology for all of its pods.
bool is_gang_job(const Field& job, const Scope& scope);
DeclaredJob read_gang_job(const Field& job, const Scope& scope);

/// The pods of a Job, Deployment, StatefulSet or ReplicaSet, as if its controller had made them.
std::vector<PodItem> expand_pods(const Field& object, const Scope& scope);

}  // namespace muster::dialect
