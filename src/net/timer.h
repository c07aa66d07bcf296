// A wait that can be called off, unlike EventLoop::after().
#pragma once

#include "net/event_loop.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace muster::net {

class Timer {
public:
    explicit Timer(EventLoop& loop);
    ~Timer();  // as stop()
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// Calls `work` once, so many milliseconds from now, in place of what it waited for before.
    void start(std::int64_t milliseconds, std::function<void()> work);
    /// `work` is called no more.
    void stop();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net
