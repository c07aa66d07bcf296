// A scheduler that looks at one pod at a time, as those before gang scheduling do: each pending pod
// goes to the first node with room. Here to show what becomes of gangs then.
#pragma once

#include "kube/client.h"

#include <memory>

namespace muster::lab {

class PerPodScheduler {
public:
    /// The transport outlives it.
    explicit PerPodScheduler(kube::Transport& transport);
    ~PerPodScheduler();
    PerPodScheduler(const PerPodScheduler&) = delete;
    PerPodScheduler& operator=(const PerPodScheduler&) = delete;

    void start();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::lab
