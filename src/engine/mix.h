// The job mix as it is learned from arrivals, for clusters where nobody declares one.
//
// Requests are counted by what they ask for. Old ones fade: whenever 2·mix_fade_at are counted,
// all counts are halved (so the counts stay between that and twice as much). A ValueModel is built
// from it again when is_due() says that it has changed enough: at 64 arrivals and at every
// doubling, then each time that the counts have faded; and when the churn has moved by a quarter.
// Until the first 64 the default mix stands in. Same arrivals in the same order, same mix.
#pragma once

#include "engine/value.h"
#include "model/snapshot.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace muster {

inline constexpr std::int64_t mix_seen_min = 64;
inline constexpr std::int64_t mix_fade_at = 32'768;
/// The churn is measured over the last arrivals: when 2·churn_window are counted, both counts are
/// halved. Short, so that a fleet that was only filled is soon known for one whose work leaves.
inline constexpr std::int64_t churn_window = 512;
inline constexpr std::int32_t churn_step_percent = 25;  // a change that another ValueModel is worth
inline constexpr std::size_t mix_classes_max = 1'024;   // beyond, the rarest makes room

class Mix {
public:
    /// Counts `request` as its weight says; one that weighs nothing is not counted.
    void add(const MixClass& request);

    /// Some work has left.
    void leave() { left_ = left_ < recent_ ? left_ + 1 : recent_; }
    /// Twice the departures per 100 arrivals, at most 100: a tenth of the work that stays for good,
    /// or is refused, does not make a cluster one that only fills.
    [[nodiscard]] Churn churn() const;

    /// What was counted, in a fixed order; the default mix before mix_seen_min.
    [[nodiscard]] std::vector<MixClass> classes() const;

    /// Another ValueModel is worth its price. Stays true until build_done().
    [[nodiscard]] bool is_due() const;
    void build_done();

    /// As plain data, with models by name, and back.
    [[nodiscard]] MixStatus status(std::span<const std::string> gpu_models) const;
    void restore(const MixStatus& status, std::span<const std::string> gpu_models);

private:
    void fade();
    void drop_rarest();

    std::map<MixClass, std::int64_t> counts_;  // the key's weight is 0
    std::int64_t seen_ = 0;
    std::int64_t recent_ = 0;  // arrivals
    std::int64_t left_ = 0;    // departures meanwhile, no more than arrivals
    std::int64_t due_at_ = mix_seen_min;
    std::int32_t built_churn_ = 0;
};

}  // namespace muster
