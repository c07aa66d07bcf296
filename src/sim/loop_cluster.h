// A cluster in virtual time for the whole loop: it really runs pods. A pod has a number of its own;
// when it ends, a new one takes its place. It is bound once, to one node with these devices, and
// asked for by number, so that what comes late finds nobody. Says when two pods that were ordered
// have one device.
#pragma once

#include "control/listing.h"
#include "model/fact.h"
#include "model/order.h"
#include "sim/dice.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace muster::sim {

using PodName = std::pair<std::string, std::uint32_t>;

/// A fact on its way to one listener, with what an adapter knows besides.
struct Heard {
    Fact fact;
    std::uint64_t pod = 0;            // whom TaskBound and TaskGone are about
    std::uint64_t next_pod = 0;       // who has the place of the one that is gone
    std::vector<std::uint64_t> pods;  // of a WorkloadSet, task by task
    std::uint64_t node = 0;           // which machine of the name a NodeSet is about
};

/// An order on its way to the cluster.
struct SentOrder {
    TaskOrder order;
    std::uint64_t pod = 0;
    std::uint64_t node = 0;
    std::size_t sender = 0;
};

/// Who is who right now.
struct Numbers {
    std::map<PodName, std::uint64_t> pods;
    std::map<std::string, std::uint64_t> nodes;
};

class LoopCluster {
public:
    struct Pod {
        std::uint64_t number = 0;
        std::string node;  // empty while it waits
        Devices devices;
        bool is_finished = false;
        bool is_ours = false;  // bound by an order
    };
    struct Work {
        WorkloadSpec spec;
        std::vector<Pod> pods;
    };

    explicit LoopCluster(std::uint64_t seed);

    /// A listener hears what happens from here on.
    void attach(std::size_t listener) { heard_[listener].clear(); }
    void detach(std::size_t listener) { heard_.erase(listener); }
    std::deque<Heard>& heard(std::size_t listener) { return heard_[listener]; }
    [[nodiscard]] bool is_attached(std::size_t listener) const { return heard_.contains(listener); }
    [[nodiscard]] Listing listing() const;
    [[nodiscard]] Numbers numbers() const;

    /// Carries an order out, or not, and tells.
    void handle(const SentOrder& request);
    /// Something happens that nobody ordered.
    void disturb();

    std::vector<SentOrder> requests;  // under way
    std::int64_t now = 0;
    int loss_percent = 0;   // of answers to orders
    int twice_percent = 0;  // facts that come twice
    std::size_t roll(std::size_t count) { return dice_.below(count); }

    [[nodiscard]] const std::map<std::string, Work>& works() const { return works_; }
    [[nodiscard]] const std::vector<std::string>& broken() const { return broken_; }
    [[nodiscard]] bool has_strict_queues() const { return has_strict_; }
    [[nodiscard]] std::int64_t bound() const { return bound_; }
    [[nodiscard]] std::int64_t evicted() const { return evicted_; }

private:
    struct Node {
        NodeSpec spec;
        std::uint64_t number = 0;
        bool is_up = true;
    };

    // loop_cluster.cpp
    void tell(Heard heard, bool is_answer = false);
    void tell_to(std::size_t listener, const Heard& heard, bool is_answer);
    void bind(const SentOrder& request, Pod& pod);
    void start(const PodName& name, Pod& pod, const TaskOrder& order, bool is_ours);
    void end(const PodName& name, bool is_finished, bool is_answer);
    [[nodiscard]] std::int32_t milli_of(const Work& work, std::uint32_t task) const;
    void check_devices(const std::string& node);

    // loop_disturb.cpp
    NodeSpec make_node(std::size_t index);
    WorkloadSpec make_work();
    QueueSpec make_queue(const std::string& name);
    GroupSpec make_group(std::int32_t parent);
    void submit();
    void resize();
    void remove_work();
    void end_some_pod();
    void bind_from_outside();
    void lose_node();
    void return_node();
    void change_node();
    void change_gpus(Node& node);
    void change_queue();
    void step_lease();
    void set_work(Work& work);
    std::vector<PodName> pods_where(bool is_running) const;

    Dice dice_;
    std::map<std::string, Node> nodes_;
    std::map<std::string, Work> works_;
    std::map<std::string, QueueSpec> queues_;
    std::map<std::string, LeaseSpec> leases_;
    std::vector<Level> levels_;
    std::map<std::size_t, std::deque<Heard>> heard_;
    std::vector<std::string> broken_;
    std::uint64_t last_number_ = 0;
    std::int64_t made_ = 0;
    std::int64_t bound_ = 0;
    std::int64_t evicted_ = 0;
    bool has_strict_ = false;
    bool has_foreign_ = false;
    bool has_leases_ = false;
    bool has_changes_ = false;  // of nodes
    bool has_trees_ = false;
};

}  // namespace muster::sim
