// What the folder's own files see of the loop.
#pragma once

#include "net/event_loop.h"

#include <memory>

namespace boost::asio {
class io_context;
}

namespace muster::net {

struct EventLoop::Impl {
    std::unique_ptr<boost::asio::io_context> context;
    explicit Impl(std::unique_ptr<boost::asio::io_context> made);
    ~Impl();
};

}  // namespace muster::net
