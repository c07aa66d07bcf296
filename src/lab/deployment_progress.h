// The condition Progressing of a Deployment: whether its rollout goes on, is through, or has made
// no step for as long as progressDeadlineSeconds. `kubectl rollout status` reads it. Pure.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>

namespace muster::lab {

struct RolloutCounts {
    std::int64_t wanted = 0;
    std::int64_t replicas = 0;
    std::int64_t updated = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;

    [[nodiscard]] bool is_done() const {
        return updated == wanted && replicas == wanted && available >= wanted;
    }
};

/// Writes the condition. Gives the milliseconds until the deadline would be over; −1 when none is.
std::int64_t set_progress(boost::json::array& conditions, const boost::json::object& deployment,
                          const RolloutCounts& now, const std::string& replica_set,
                          std::int64_t clock);

}  // namespace muster::lab
