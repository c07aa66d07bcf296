// The FGD study's measures, for reference policies and for the engine alike: what share of the GPUs
// is allocated, and fragmented, when the pods that have arrived ask for k % of the cluster.
//
// After each arrival the run tells what is used; the value at k is the mean over the arrivals whose
// arrived demand rounds to k. Dropped pods count as arrived.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace muster::sim {

struct PlacementEvent {
    std::int64_t arrived_milli = 0;     // GPU asked for by this pod
    std::int64_t used_milli = 0;        // in the cluster, after the decision
    std::int64_t fragmented_milli = 0;  // the same
};

class PlacementMeasure {
public:
    static constexpr std::size_t percent_max = 130;

    explicit PlacementMeasure(std::int64_t gpu_milli_total) : total_milli_(gpu_milli_total) {}

    void add(const PlacementEvent& event);

    /// In millionths of the cluster's GPU; none when no arrival falls there.
    [[nodiscard]] std::optional<std::int64_t> allocated_ppm(std::size_t arrived_percent) const;
    [[nodiscard]] std::optional<std::int64_t> fragmented_ppm(std::size_t arrived_percent) const;

private:
    struct Sums {
        std::int64_t events = 0;
        std::int64_t used = 0;
        std::int64_t fragmented = 0;
    };
    [[nodiscard]] std::optional<std::int64_t> mean(std::size_t arrived_percent,
                                                   std::int64_t Sums::* part) const;

    std::int64_t total_milli_;
    std::int64_t arrived_milli_ = 0;
    std::array<Sums, percent_max + 1> sums_{};
};

}  // namespace muster::sim
