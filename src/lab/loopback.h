// The lab's own clients ask the API in the same process: the same requests and answers as over a
// socket, without one.
#pragma once

#include "kube/client.h"
#include "lab/api.h"
#include "net/event_loop.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::lab {

/// Does work later, in the thread of the API: at once means after what runs now.
using Later = std::function<void(std::int64_t milliseconds, std::function<void()> work)>;

/// The API outlives it. `name` is the client's, for who owns which field.
std::unique_ptr<kube::Transport> connect_loopback(Api& api, Later later, std::string name);
std::unique_ptr<kube::Transport> connect_loopback(Api& api, net::EventLoop& loop, std::string name);

}  // namespace muster::lab
