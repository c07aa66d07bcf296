#include "sim/departures.h"

#include "sim/cpu_time.h"
#include "sim/openb_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <compare>
#include <functional>
#include <queue>
#include <utility>

namespace muster::sim {

namespace {

class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

    std::int64_t below(std::int64_t limit) {
        const auto product =
            static_cast<unsigned __int128>(next()) * static_cast<std::uint64_t>(limit);
        return static_cast<std::int64_t>(product >> 64);
    }

private:
    std::uint64_t next() {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }

    std::uint64_t state_;
};

struct Pool {
    std::vector<Stay> stays;                  // all beginning at 0
    std::vector<std::int64_t> seconds_until;  // running sum
    std::int64_t milli_seconds = 0;           // of GPU, altogether
};

Pool pool_of(const OpenbStudy& study) {
    Pool pool;
    std::int64_t sum = 0;
    for (std::uint32_t pod = 0; pod < study.pods.size(); ++pod) {
        const auto& times = study.pods[pod].times;
        const std::int64_t seconds = times ? times->run_seconds().value_or(0) : 0;
        if (seconds == 0) { continue; }
        pool.stays.push_back({.begin = 0, .seconds = seconds, .pod = pod});
        pool.seconds_until.push_back(sum += seconds);
        pool.milli_seconds += seconds * study.requests[pod].gpu_demand();
    }
    return pool;
}

/// The pods that are there at second 0, the longer runs the likelier.
std::vector<Stay> running_at_zero(const OpenbStudy& study, const Pool& pool, std::int64_t gpu_milli,
                                  SplitMix64& random) {
    std::vector<Stay> stays;
    for (std::int64_t asked = 0; asked < gpu_milli;) {
        const std::int64_t point = random.below(pool.seconds_until.back());
        const auto found =
            std::upper_bound(pool.seconds_until.begin(), pool.seconds_until.end(), point);
        Stay stay = pool.stays[static_cast<std::size_t>(found - pool.seconds_until.begin())];
        stay.seconds = 1 + random.below(stay.seconds);
        stays.push_back(stay);
        asked += study.requests[stay.pod].gpu_demand();
    }
    return stays;
}

}  // namespace

Result<DepartureTrace> make_departures(const OpenbStudy& study, DepartureOptions options) {
    const Pool pool = pool_of(study);
    if (pool.milli_seconds == 0) {
        return fail(Code::invalid,
                    fmt::format("list {}: found no GPU pod with a run time; departures "
                                "need scheduled and deletion times",
                                study.list));
    }
    SplitMix64 random(static_cast<std::uint64_t>(options.seed));
    const std::int64_t gpu_milli = study.gpu_milli_total() * options.load_percent / 100;
    DepartureTrace trace{.stays = running_at_zero(study, pool, gpu_milli, random)};
    trace.span = static_cast<std::int64_t>(
        static_cast<__int128>(pool.milli_seconds) * static_cast<std::int64_t>(options.arrivals) /
        static_cast<std::int64_t>(pool.stays.size()) / gpu_milli);

    std::vector<std::pair<std::int64_t, std::size_t>> order;
    std::vector<Stay> drawn;
    for (std::size_t i = 0; i < options.arrivals; ++i) {
        const auto size = static_cast<std::int64_t>(pool.stays.size());
        Stay stay = pool.stays[static_cast<std::size_t>(random.below(size))];
        stay.begin = 1 + random.below(trace.span);
        order.emplace_back(stay.begin, i);
        drawn.push_back(stay);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [begin, i] : order) { trace.stays.push_back(drawn[i]); }
    return trace;
}

DepartureResult run_departures(const OpenbStudy& study, const DepartureTrace& trace,
                               const DepartureHost& host) {
    struct Leaving {
        std::int64_t second = 0;
        std::size_t stay = 0;
        auto operator<=>(const Leaving&) const = default;
    };
    const std::int64_t begin = cpu_nanoseconds();
    std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> leaving;
    DepartureResult result;
    for (std::size_t i = 0; i < trace.stays.size(); ++i) {
        const Stay& stay = trace.stays[i];
        for (; !leaving.empty() && leaving.top().second <= stay.begin; leaving.pop()) {
            host.leave(leaving.top().stay);
        }
        const std::int64_t inside = std::min(stay.seconds, trace.span - stay.begin);
        const std::int64_t asked = inside * study.requests[stay.pod].gpu_demand();
        result.offered_milli_seconds += asked;
        if (host.place(i)) {
            leaving.push({.second = stay.begin + stay.seconds, .stay = i});
        } else {
            result.refused_milli_seconds += asked;
            result.refused_pods += 1;
        }
    }
    result.cpu_ns = cpu_nanoseconds() - begin;
    return result;
}

}  // namespace muster::sim
