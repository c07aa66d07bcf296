// The nodes that a reference policy places on, and the best node for a request by cached scores.
//
// Nodes stand in the order of their rank, so the first of the best scores is the one that the study
// takes. A score depends only on the request and the node's state: it is kept per request and node
// and computed again when the node has changed since.
#pragma once

#include "engine/value.h"
#include "sim/request.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace muster::sim {

struct OpenbStudy;

struct ReferenceNode {
    std::int64_t milli_cpu = 0;  // free, as all below
    std::int64_t memory_mib = 0;
    std::vector<std::int32_t> gpu_free_milli;
    std::uint32_t model = 0;
    std::uint32_t rank = 0;  // and the place in the cluster
    std::uint64_t version = 0;

    [[nodiscard]] NodeOpen open() const {
        return {.milli_cpu = milli_cpu, .gpu_free_milli = gpu_free_milli, .model = model};
    }
    /// Everything but memory, which the cluster checks itself.
    [[nodiscard]] bool fits(const Request& request) const;
    /// The wholly free GPU with the lowest index, or for a share the least free one that holds it.
    [[nodiscard]] std::size_t tightest_gpu(const Request& request) const;
};

/// How a policy sees one node; `gpu` is the GPU chosen for a share.
struct Scored {
    std::int64_t score = 0;
    std::size_t gpu = 0;
};
/// Called only for nodes that fit.
using Scorer = std::function<Scored(const ReferenceNode&, const Request&)>;

struct ReferencePlacement {
    std::size_t node = 0;
    std::uint64_t gpus = 0;  // bit i: GPU i holds gpu_milli
};

class ReferenceCluster {
public:
    ReferenceCluster(const OpenbStudy& study, std::span<const std::uint32_t> rank_by_node,
                     Scorer scorer);

    /// Places the request where the scorer likes it best; none when it fits nowhere.
    std::optional<ReferencePlacement> place(const Request& request);
    void remove(const Request& request, const ReferencePlacement& placement);
    /// For a scorer that has changed its mind.
    void forget_scores() { scores_.clear(); }

    [[nodiscard]] std::span<const ReferenceNode> nodes() const { return nodes_; }
    [[nodiscard]] std::int64_t used_milli() const { return used_milli_; }
    [[nodiscard]] std::int64_t total_milli() const { return total_milli_; }

private:
    static constexpr std::int64_t does_not_fit = std::numeric_limits<std::int64_t>::min();

    struct Scores {
        std::vector<std::int64_t> by_node;
        std::size_t changes_seen = 0;
    };
    void refresh(Scores& scores, const Request& request);
    std::int64_t score(std::size_t node, const Request& request) const;
    void change(const Request& request, const ReferencePlacement& placement, int sign);

    std::vector<ReferenceNode> nodes_;
    Scorer scorer_;
    std::map<Request, Scores> scores_;    // the key's memory is 0
    std::vector<std::uint32_t> changes_;  // nodes, in the order in which they changed
    std::int64_t used_milli_ = 0;
    std::int64_t total_milli_ = 0;
};

}  // namespace muster::sim
