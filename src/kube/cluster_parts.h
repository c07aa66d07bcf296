// A cluster read by parts: the frame (nodes, levels, queues, priority classes), and of all the rest
// what hangs together by names, such as a group and its pods. Only parts in which something has
// changed are read again; what they come to is what all objects come to when they are read at once.
#pragma once

#include "dialect/kubernetes_volume.h"
#include "kube/cluster_reading.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace muster::kube {

/// Where a workload stands in a reading of everything.
struct Origin {
    ObjectKey object;
    std::uint32_t index = 0;  // of those that one object made

    auto operator<=>(const Origin&) const = default;
};

/// In a list that is in the order of the names; null when it is not there.
NodeSpec* find_node(std::vector<NodeSpec>& nodes, std::string_view name);
const NodeSpec* find_node(const std::vector<NodeSpec>& nodes, std::string_view name);

class ClusterParts {
public:
    struct FrameChange {
        bool is_read = false;               // all of it: perhaps another one
        std::set<std::string> nodes;        // that came, went, or are other machines
        std::vector<std::string> modified;  // when not all of it was read: the nodes that were
    };
    struct Workload {
        Origin origin;
        WorkloadSpec spec;
        TaskPods pods;
    };
    struct Change {
        std::vector<Workload> workloads;  // as they are now, in the order of a whole reading
        std::set<std::string> names;      // theirs, and those of the ones that are no more
    };

    ClusterParts(const ClusterObjects& from, dialect::ClusterOptions options)
        : objects_(from),
          options_(std::move(options)) {
        options_.has_owner =
            owners_by([&from](const ObjectKey& key) { return from.has_text(key); });
        frame_.context.around = around_;
    }

    /// As if nothing had been read.
    void forget();
    /// Goes first.
    FrameChange read_frame(std::map<ObjectKey, dialect::Links> changed);
    /// Reads the object's part again next time.
    void touch(const ObjectKey& key);
    void touch_all() { is_all_dirty_ = true; }
    Change read_demand();

    /// Without workloads; nodes are in the order of their names.
    [[nodiscard]] const ClusterState& frame() const { return frame_; }
    /// That of the object's part, when there is one only and nothing in the part is wrong; else
    /// null.
    [[nodiscard]] const std::string* sole_workload(const ObjectKey& key) const;
    /// Claims on storage that an object looks at.
    [[nodiscard]] std::vector<std::string> claims_of(const ObjectKey& key) const;
    [[nodiscard]] const dialect::Surroundings& around() const { return *around_; }
    [[nodiscard]] const std::vector<Problem>& malformed() const { return malformed_; }
    [[nodiscard]] const std::vector<Problem>& refused() const { return refused_; }

private:
    struct Item {
        const ObjectKey* key = nullptr;
        dialect::Links links;
        std::uint64_t part = 0;  // 0: not read yet
    };
    /// Who says a name.
    struct Name {
        std::vector<Item*> said;
        std::vector<Item*> as_job;  // pods, which it ties only when a job declares it
        std::uint32_t jobs = 0;
    };
    struct Trouble {
        std::vector<Problem> malformed;
        std::vector<Problem> refused;
    };
    class Gathering;
    /// What a claim meant when those that look at it were read.
    struct Claim {
        dialect::ClaimView view;
        std::set<ObjectKey> users;
    };

    bool read_around(const std::vector<ObjectKey>& changed, std::vector<ObjectKey>& frame);
    [[nodiscard]] dialect::KubernetesContext around_alone() const;
    bool read_nodes(const std::vector<ObjectKey>& changed, FrameChange& out);
    void change(const ObjectKey& key, dialect::Links links);
    void add(Item& item);
    void take_out(Item& item);
    void mark(const Item& item);
    Item* find_pod(const std::string& name);
    void retire(std::uint64_t part, Change& change);
    void read_batch(const std::vector<Item*>& batch, Change& change);
    void collect_troubles();

    const ClusterObjects& objects_;
    dialect::ClusterOptions options_;
    ClusterState frame_;
    bool has_hypernodes_ = false;
    std::shared_ptr<dialect::Surroundings> around_ = std::make_shared<dialect::Surroundings>();
    std::map<std::string, Claim> claims_;  // those that are looked at
    std::set<ObjectKey> of_namespaces_;    // who looks at the labels of namespaces
    std::map<ObjectKey, Item> items_;
    std::unordered_map<std::string, Name> names_;
    std::unordered_map<std::uint64_t, std::vector<std::string>> parts_;  // names of their workloads
    std::map<std::uint64_t, Trouble> troubles_;                          // by part; 0 is the frame
    std::uint64_t last_part_ = 0;

    // What the next reading begins at.
    std::set<ObjectKey> dirty_;
    std::vector<std::uint64_t> gone_parts_;
    std::unordered_map<std::string, bool> dirty_names_;  // true: with pods that a job would tie
    bool is_all_dirty_ = false;
    bool are_troubles_new_ = false;

    std::vector<Problem> malformed_;
    std::vector<Problem> refused_;
};

}  // namespace muster::kube
