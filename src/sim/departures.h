// The openb pods with their run times: what share of the GPU-hours asked for is refused when pods
// come and go at an offered load of k % of the cluster's GPU.
//
// The protocol, exact and in integers but for the policies:
// 1. The pool is the pods of the list that ran (deletion - scheduled seconds, at least one).
// 2. Random numbers: SplitMix64 from the seed; `below(n)` is the high half of its product with n.
// 3. At second 0 comes what would be running in a stationary cluster: pods drawn from the pool with
//    probability proportional to their run time, each with 1 + below(run time) seconds left, until
//    they ask for load % of the GPU. They come in the order drawn.
// 4. Then `arrivals` pods drawn evenly from the pool come at seconds drawn evenly from 1 to the
// span
//    (sorted; equal seconds in the order drawn), which is where the mean GPU-seconds of the pool
//    times `arrivals` is load % of the cluster's GPU over the span.
// 5. Each pod is tried once when it comes, after those have left whose time has come.
// 6. Counted is the window from 0 to the span: GPU-seconds asked for inside it, and how many of
// them
//    belong to refused pods.
// Node ranks are those of the study's seed (openb_seed_first + seed mod 10).
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace muster::sim {

struct OpenbStudy;

struct DepartureOptions {
    int load_percent = 100;
    int seed = 0;
    std::size_t arrivals = 20'000;
};

struct Stay {
    std::int64_t begin = 0;    // second
    std::int64_t seconds = 0;  // how long it runs
    std::uint32_t pod = 0;
};

struct DepartureTrace {
    std::vector<Stay> stays;  // in order of arrival
    std::int64_t span = 0;    // seconds
};

Result<DepartureTrace> make_departures(const OpenbStudy& study, DepartureOptions options);

struct DepartureResult {
    std::int64_t offered_milli_seconds = 0;  // of GPU, inside the window
    std::int64_t refused_milli_seconds = 0;
    std::int64_t refused_pods = 0;
    std::int64_t cpu_ns = 0;  // of this process

    [[nodiscard]] double refused_percent() const {
        return 100.0 * static_cast<double>(refused_milli_seconds) /
               static_cast<double>(offered_milli_seconds);
    }
};

/// Who places: told of each pod that comes, by its place among the stays, and of each that leaves.
struct DepartureHost {
    std::function<bool(std::size_t stay)> place;
    std::function<void(std::size_t stay)> leave;
};

DepartureResult run_departures(const OpenbStudy& study, const DepartureTrace& trace,
                               const DepartureHost& host);

}  // namespace muster::sim
