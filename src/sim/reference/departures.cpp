#include "sim/reference/departures.h"

#include "sim/openb_study.h"
#include "sim/reference/cluster.h"

namespace muster::sim {

Result<DepartureResult> replay_departures(const OpenbStudy& study, const DepartureTrace& trace,
                                          const ReplayPolicy& policy, int seed) {
    MUSTER_TRY(ranks, study.ranks(openb_seed_first + seed % 10));
    ReferenceCluster cluster(study, ranks, policy.score);
    std::vector<ReferencePlacement> placements(trace.stays.size());
    const DepartureHost host{.place =
                                 [&](std::size_t stay) {
                                     const Request& request = study.requests[trace.stays[stay].pod];
                                     if (policy.learn && policy.learn(request)) {
                                         cluster.forget_scores();
                                     }
                                     const auto placement = cluster.place(request);
                                     if (placement) { placements[stay] = *placement; }
                                     return placement.has_value();
                                 },
                             .leave =
                                 [&](std::size_t stay) {
                                     cluster.remove(study.requests[trace.stays[stay].pod],
                                                    placements[stay]);
                                     if (policy.leave) { policy.leave(); }
                                 }};
    return run_departures(study, trace, host);
}

}  // namespace muster::sim
