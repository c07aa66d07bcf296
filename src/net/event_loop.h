// One thread's loop of sockets and timers. All that is given to it runs in the thread that calls
// run(); only post() and stop() may be called from others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace muster::net {

class EventLoop {
public:
    EventLoop();
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    /// Until stop(), or for so long.
    void run();
    void run_for(std::int64_t milliseconds);
    /// Until some work was done, and what is ready with it, or for so long.
    void run_some(std::int64_t milliseconds);
    void stop();

    void post(std::function<void()> work);
    /// Once, so many milliseconds from now. What is still to come when the loop goes is dropped.
    void after(std::int64_t milliseconds, std::function<void()> work);

    /// The asio context, for this folder's own files.
    struct Impl;
    Impl& impl() { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
