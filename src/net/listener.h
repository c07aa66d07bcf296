// A port that connections are taken from.
#pragma once

#include "base/result.h"
#include "net/event_loop.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {

class Listener {
public:
    /// Calls `accepted` with each socket; who is called owns it. Not once the listener is gone.
    static Result<Listener> open(EventLoop& loop, const std::string& address, std::uint16_t port,
                                 std::function<void(int)> accepted);
    ~Listener();
    Listener(Listener&&) noexcept;
    Listener& operator=(Listener&&) noexcept;

    [[nodiscard]] std::uint16_t port() const;

private:
    struct Impl;
    explicit Listener(std::shared_ptr<Impl> impl);
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net
