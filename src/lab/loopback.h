// The lab's own clients ask the API in the same process: the same requests and answers as over a
// socket, without one.
#pragma once

#include "kube/client.h"
#include "lab/api.h"
#include "net/event_loop.h"

#include <memory>
#include <string>

namespace muster::lab {

/// Both outlive it. `name` is the client's, for who owns which field.
std::unique_ptr<kube::Transport> connect_loopback(Api& api, net::EventLoop& loop, std::string name);

}  // namespace muster::lab
