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
    /// `trouble` may be null: it is told once that no more can be taken, until one was again.
    static Result<Listener> open(EventLoop& loop, const std::string& address, std::uint16_t port,
                                 std::function<void(int)> accepted,
                                 std::function<void(const std::string&)> trouble);
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
