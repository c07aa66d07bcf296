// Keeps the status of Volcano's Queues, as its controllers do: `state`, and how many groups are in
// which phase. The scheduler writes `allocated`, and the groups' own status. Queue `default` is
// made when there is none.
#pragma once

#include "kube/client.h"

#include <memory>

namespace muster::lab {

class QueueStatus {
public:
    /// The transport outlives it.
    explicit QueueStatus(kube::Transport& transport);
    ~QueueStatus();
    QueueStatus(const QueueStatus&) = delete;
    QueueStatus& operator=(const QueueStatus&) = delete;

    void start();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::lab
