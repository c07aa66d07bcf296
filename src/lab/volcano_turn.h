// Runs the controller of Volcano Jobs on a real cluster while Volcano's own does not, and stands
// back as soon as that shows itself: by a pod that Volcano's charts label, by its Lease, or by what
// it writes into Jobs. Looked at now and then; the last one is heard at once. When in doubt it
// stands back. Both at work for a moment do no harm: they make the same objects under the same
// names, and write a status only over the version that they have read.
#pragma once

#include "base/log.h"
#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace muster::lab {

struct VolcanoTurnOptions {
    std::function<std::int64_t()> now_ms;
    Log log;
    std::int64_t look_ms = 5'000;
    std::int64_t quiet_ms = 30'000;  // without a sign, until it is taken for gone
};

class VolcanoTurn {
public:
    /// The transport outlives it.
    VolcanoTurn(kube::Transport& transport, VolcanoTurnOptions options);
    ~VolcanoTurn();
    VolcanoTurn(const VolcanoTurn&) = delete;
    VolcanoTurn& operator=(const VolcanoTurn&) = delete;

    void start();
    [[nodiscard]] bool is_acting() const;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::lab
