// A way to a server, with the loop that it lives in.
#pragma once

#include "kube/access.h"
#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace muster::kube {

/// Runs the transport's loop: returns when some of its work was done, or after so many ms.
using Pump = std::function<void(std::int64_t milliseconds)>;

/// Made and used in one thread.
struct Link {
    Pump pump;
    std::unique_ptr<Transport> transport;  // goes before the loop that the pump may hold
    /// No more use in waiting for an answer: who asks is told to stop, or leads no more.
    std::function<bool()> is_over = {};
};

Link connect(const ServerAddress& address);

}  // namespace muster::kube
