#include "sim/reference/replay.h"

#include "sim/openb_study.h"

#include <ctime>
#include <vector>

namespace muster::sim {

namespace {

/// The cluster's fragmented GPU, brought up to date one node at a time.
class FragmentSum {
public:
    FragmentSum(const OpenbStudy& study, const ReferenceCluster& cluster)
        : measure_(study.common_classes(), study.models.size()) {
        for (const ReferenceNode& node : cluster.nodes()) {
            by_node_.push_back(measure_.fragmented(node.open()));
            sum_ += by_node_.back();
        }
    }
    void update(const ReferenceNode& node) {
        const std::int64_t now = measure_.fragmented(node.open());
        sum_ += now - by_node_[node.rank];
        by_node_[node.rank] = now;
    }
    [[nodiscard]] std::int64_t milli() const { return sum_ / measure_.weight(); }

private:
    FragmentMeasure measure_;
    std::vector<std::int64_t> by_node_;
    std::int64_t sum_ = 0;
};

}  // namespace

Result<ReplayResult> replay(const OpenbStudy& study, const ReplayPolicy& policy,
                            ReplayOptions options) {
    MUSTER_TRY(arrivals, study.arrivals(options.seed));
    MUSTER_TRY(ranks, study.ranks(options.seed));
    const std::clock_t begin = std::clock();
    ReferenceCluster cluster(study, ranks, policy.score);
    std::optional<FragmentSum> fragments;
    if (options.measure_fragments) { fragments.emplace(study, cluster); }
    ReplayResult result{.measure = PlacementMeasure(cluster.total_milli())};
    for (const std::uint32_t pod : arrivals) {
        const Request& request = study.requests[pod];
        if (policy.learn && policy.learn(request)) { cluster.forget_scores(); }
        const auto placement = cluster.place(request);
        if (placement && fragments) { fragments->update(cluster.nodes()[placement->node]); }
        result.arrived += 1;
        result.placed += placement ? 1 : 0;
        result.measure.add({.arrived_milli = request.gpu_demand(),
                            .used_milli = cluster.used_milli(),
                            .fragmented_milli = fragments ? fragments->milli() : 0});
    }
    result.cpu_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

}  // namespace muster::sim
