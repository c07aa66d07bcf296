#include "sim/reference/cluster.h"

#include "base/assert.h"
#include "sim/openb_study.h"

#include <algorithm>

namespace muster::sim {

bool ReferenceNode::fits(const Request& request) const {
    if (request.milli_cpu > milli_cpu) { return false; }
    if (request.gpu_count == 0) { return true; }
    if (request.models != any_model &&
        (model >= gpu_models_max || (request.models >> model & 1) == 0)) {
        return false;
    }
    const auto count = std::count_if(gpu_free_milli.begin(), gpu_free_milli.end(),
                                     [&](std::int32_t free) { return free >= request.gpu_milli; });
    return count >= request.gpu_count;
}

std::size_t ReferenceNode::tightest_gpu(const Request& request) const {
    std::size_t best = gpu_free_milli.size();
    for (std::size_t i = 0; i < gpu_free_milli.size(); ++i) {
        if (gpu_free_milli[i] < request.gpu_milli) { continue; }
        if (best == gpu_free_milli.size() || gpu_free_milli[i] < gpu_free_milli[best]) { best = i; }
    }
    return best;
}

ReferenceCluster::ReferenceCluster(const OpenbStudy& study,
                                   std::span<const std::uint32_t> rank_by_node, Scorer scorer)
    : nodes_(study.nodes.size()),
      scorer_(std::move(scorer)) {
    MUSTER_ASSERT(rank_by_node.size() == study.nodes.size());
    for (std::size_t i = 0; i < study.nodes.size(); ++i) {
        const dialect::OpenbNode& node = study.nodes[i];
        const auto gpus = static_cast<std::size_t>(node.gpu_count);
        nodes_[rank_by_node[i]] = {
            .milli_cpu = node.milli_cpu,
            .memory_mib = node.memory_mib,
            .gpu_free_milli = std::vector<std::int32_t>(gpus, gpu_milli_whole),
            .model = study.node_model[i],
            .rank = rank_by_node[i],
            .version = 0};
        total_milli_ += node.gpu_count * gpu_milli_whole;
    }
}

std::int64_t ReferenceCluster::score(std::size_t node, const Request& request) const {
    return nodes_[node].fits(request) ? scorer_(nodes_[node], request).score : does_not_fit;
}

void ReferenceCluster::refresh(Scores& scores, const Request& request) {
    const std::size_t changed = changes_.size() - scores.changes_seen;
    if (scores.by_node.empty() || changed >= nodes_.size()) {
        scores.by_node.resize(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) { scores.by_node[i] = score(i, request); }
    } else {
        std::vector<std::uint32_t> stale(changes_.end() - static_cast<std::ptrdiff_t>(changed),
                                         changes_.end());
        std::sort(stale.begin(), stale.end());
        stale.erase(std::unique(stale.begin(), stale.end()), stale.end());
        for (const std::uint32_t i : stale) { scores.by_node[i] = score(i, request); }
    }
    scores.changes_seen = changes_.size();
}

std::optional<ReferencePlacement> ReferenceCluster::place(const Request& request) {
    Request key = request;
    key.memory_mib = 0;
    Scores& scores = scores_[key];
    refresh(scores, request);

    std::int64_t best = does_not_fit;
    std::size_t chosen = nodes_.size();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (scores.by_node[i] > best && nodes_[i].memory_mib >= request.memory_mib) {
            best = scores.by_node[i];
            chosen = i;
        }
    }
    if (chosen == nodes_.size()) { return std::nullopt; }

    ReferencePlacement placement{.node = chosen, .gpus = 0};
    const std::vector<std::int32_t>& free = nodes_[chosen].gpu_free_milli;
    if (request.gpu_count == 1 && request.gpu_milli < gpu_milli_whole) {
        placement.gpus = std::uint64_t{1} << scorer_(nodes_[chosen], request).gpu;
    } else {
        std::int32_t left = request.gpu_count;
        for (std::size_t i = 0; i < free.size() && left > 0; ++i) {
            if (free[i] < request.gpu_milli) { continue; }
            placement.gpus |= std::uint64_t{1} << i;
            --left;
        }
    }
    change(request, placement, -1);
    return placement;
}

void ReferenceCluster::remove(const Request& request, const ReferencePlacement& placement) {
    change(request, placement, 1);
}

void ReferenceCluster::change(const Request& request, const ReferencePlacement& placement,
                              int sign) {
    ReferenceNode& node = nodes_[placement.node];
    node.milli_cpu += sign * request.milli_cpu;
    node.memory_mib += sign * request.memory_mib;
    MUSTER_ASSERT(node.milli_cpu >= 0);
    MUSTER_ASSERT(node.memory_mib >= 0);
    for (std::size_t i = 0; i < node.gpu_free_milli.size(); ++i) {
        if ((placement.gpus >> i & 1) == 0) { continue; }
        node.gpu_free_milli[i] += sign * request.gpu_milli;
        MUSTER_ASSERT(node.gpu_free_milli[i] >= 0);
        MUSTER_ASSERT(node.gpu_free_milli[i] <= gpu_milli_whole);
    }
    used_milli_ -= sign * request.gpu_demand();
    ++node.version;
    changes_.push_back(static_cast<std::uint32_t>(placement.node));
}

}  // namespace muster::sim
