#include "engine/model_load.h"

#include <algorithm>
#include <map>

namespace muster {

namespace {

constexpr int rounds = 24;  // each brings the levels nearer to even; the error halves at least
constexpr std::int64_t milli_max = std::int64_t{1} << 44;

struct Vessel {
    std::size_t model = 0;
    std::int64_t held = 0;  // milli of other demand
};

/// Pours `milli` into the vessels so that those it reaches stand equally high; adds to `filled`.
void pour(std::vector<Vessel> vessels, std::int64_t milli, std::span<const std::int64_t> capacity,
          std::vector<std::int64_t>& filled) {
    std::sort(vessels.begin(), vessels.end(), [&](const Vessel& a, const Vessel& b) {
        const __int128 left = static_cast<__int128>(a.held) * capacity[b.model];
        const __int128 right = static_cast<__int128>(b.held) * capacity[a.model];
        return left != right ? left < right : a.model < b.model;
    });
    // The reached ones are a prefix: the longest whose common level is above the last one's own.
    __int128 content = milli;
    __int128 width = 0;
    std::size_t reached = 0;
    for (; reached < vessels.size(); ++reached) {
        const Vessel& next = vessels[reached];
        if (reached > 0 &&
            content * capacity[next.model] <= static_cast<__int128>(next.held) * width) {
            break;
        }
        content += next.held;
        width += capacity[next.model];
    }
    for (std::size_t i = 0; i < reached; ++i) {
        const std::size_t model = vessels[i].model;
        filled[model] =
            static_cast<std::int64_t>(content * capacity[model] / width) - vessels[i].held;
    }
}

}  // namespace

std::vector<std::int64_t> model_loads(std::span<const ModelDemand> demands,
                                      std::span<const std::int64_t> capacity) {
    std::map<std::uint64_t, std::int64_t> by_set;
    for (const ModelDemand& demand : demands) {
        std::uint64_t usable = 0;
        for (std::size_t i = 0; i < capacity.size(); ++i) {
            if (capacity[i] > 0 && (demand.models >> i & 1) != 0) {
                usable |= std::uint64_t{1} << i;
            }
        }
        if (usable == 0 || demand.milli <= 0) { continue; }
        by_set[usable] = std::min(milli_max, by_set[usable] + std::min(demand.milli, milli_max));
    }

    std::vector<std::int64_t> held(capacity.size(), 0);
    std::map<std::uint64_t, std::vector<std::int64_t>> poured;
    for (int round = 0; round < rounds; ++round) {
        for (const auto& [set, milli] : by_set) {
            auto& mine = poured.try_emplace(set, capacity.size(), 0).first->second;
            std::vector<Vessel> vessels;
            for (std::size_t i = 0; i < capacity.size(); ++i) {
                held[i] -= mine[i];
                mine[i] = 0;
                if ((set >> i & 1) != 0) { vessels.push_back({.model = i, .held = held[i]}); }
            }
            pour(std::move(vessels), milli, capacity, mine);
            for (std::size_t i = 0; i < capacity.size(); ++i) { held[i] += mine[i]; }
        }
    }
    std::vector<std::int64_t> loads;
    for (std::size_t i = 0; i < capacity.size(); ++i) {
        loads.push_back(capacity[i] <= 0
                            ? 0
                            : static_cast<std::int64_t>(static_cast<__int128>(held[i]) * load_one /
                                                        capacity[i]));
    }
    return loads;
}

}  // namespace muster
