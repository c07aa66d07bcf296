#include "sim/placement_measure.h"

namespace muster::sim {

void PlacementMeasure::add(const PlacementEvent& event) {
    arrived_milli_ += event.arrived_milli;
    const std::int64_t percent = (200 * arrived_milli_ + total_milli_) / (2 * total_milli_);
    if (percent > static_cast<std::int64_t>(percent_max)) { return; }
    Sums& sums = sums_[static_cast<std::size_t>(percent)];
    sums.events += 1;
    sums.used += event.used_milli;
    sums.fragmented += event.fragmented_milli;
}

std::optional<std::int64_t> PlacementMeasure::allocated_ppm(std::size_t arrived_percent) const {
    return mean(arrived_percent, &Sums::used);
}

std::optional<std::int64_t> PlacementMeasure::fragmented_ppm(std::size_t arrived_percent) const {
    return mean(arrived_percent, &Sums::fragmented);
}

std::optional<std::int64_t> PlacementMeasure::mean(std::size_t arrived_percent,
                                                   std::int64_t Sums::* part) const {
    if (arrived_percent > percent_max || sums_[arrived_percent].events == 0) {
        return std::nullopt;
    }
    const Sums& sums = sums_[arrived_percent];
    const __int128 whole = static_cast<__int128>(sums.events) * total_milli_;
    return static_cast<std::int64_t>((static_cast<__int128>(sums.*part) * 1'000'000 + whole / 2) /
                                     whole);
}

}  // namespace muster::sim
