// Facts as a hard year in a small cluster would bring them: random fleets, queues, workloads,
// failures, foreign binds and nonsense. A seed decides which features take part at all, so that
// most failing seeds are simple. Reads the World only to choose what to touch.
#pragma once

#include "engine/world.h"
#include "model/fact.h"
#include "model/policy.h"
#include "sim/dice.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {

struct RandomFact {
    Fact fact;
    bool is_nonsense = false;  // must be refused
};

/// What a seed lets take part.
struct RandomTraits {
    std::int64_t levels = 0;
    std::int64_t nodes = 4;
    bool has_mig = false;
    bool has_shares = false;
    bool has_numa = false;
    bool has_links = false;  // NVLink and NICs
    bool has_selectors = false;
    bool has_taints = false;
    bool has_extended = false;
    bool has_pod_terms = false;
    bool has_trees = false;
    bool has_elastic = false;
    bool has_linked_gangs = false;
    bool has_wishes = false;
    bool has_queues = false;
    bool has_strict = false;
    bool has_updates = false;
    bool has_node_changes = false;
    bool has_foreign = false;
    bool has_nonsense = false;
    bool has_leases = false;
};

class RandomFacts {
public:
    explicit RandomFacts(std::uint64_t seed);

    [[nodiscard]] const Policy& policy() const { return policy_; }
    [[nodiscard]] const RandomTraits& traits() const { return traits_; }
    /// Topology, queues and fleet.
    std::vector<RandomFact> first();
    /// What happens in one step.
    std::vector<RandomFact> next(const World& world);

private:
    // random_fleet.cpp
    NodeSpec make_node(std::int64_t index);
    void add_gpus(NodeSpec& node);
    void add_numa(NodeSpec& node);
    void add_links(NodeSpec& node);
    TopologySet make_levels();
    void change_node(NodeSpec& node);

    // random_work.cpp
    TaskSpec make_task();
    void add_gpu_need(TaskSpec& task);
    void add_placement_rules(TaskSpec& task);
    void add_pod_terms(TaskSpec& task);
    TopologyWish make_wish();
    WorkloadSpec make_workload();
    void grow_tree(WorkloadSpec& spec, std::int32_t parent, int depth);
    void change_workload(WorkloadSpec& spec);

    // random_facts.cpp
    void add_workloads(std::vector<RandomFact>& out);
    void add_node_event(std::vector<RandomFact>& out);
    void add_task_event(const World& world, std::vector<RandomFact>& out);
    void add_queue_event(std::vector<RandomFact>& out);
    void add_bind(const World& world, std::vector<RandomFact>& out);
    void add_lease(const World& world, std::vector<RandomFact>& out);
    void add_nonsense(const World& world, std::vector<RandomFact>& out);
    QueueSpec make_queue(const std::string& name);

    Dice dice_;
    RandomTraits traits_;
    Policy policy_;
    std::map<std::string, NodeSpec> nodes_;      // as they were last described
    std::map<std::string, WorkloadSpec> works_;  // those that were not deleted
    std::vector<std::string> down_;              // nodes that failed
    std::vector<std::string> queue_names_;
    std::vector<WorkloadSpec> later_;  // linked gangs that have not arrived yet
    std::vector<LeaseSpec> leases_;    // that were not returned
    std::int64_t made_ = 0;
    std::int64_t now_ = 0;
};

}  // namespace muster
