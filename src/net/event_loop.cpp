#include "net/event_loop.h"

#include "net/event_loop_impl.h"
#include "net/timer.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

EventLoop::Impl::Impl(std::unique_ptr<asio::io_context> made) : context(std::move(made)) {}
EventLoop::Impl::~Impl() = default;

EventLoop::EventLoop() : impl_(std::make_unique<Impl>(std::make_unique<asio::io_context>())) {}
EventLoop::~EventLoop() = default;

void EventLoop::run() {
    const auto guard = asio::make_work_guard(*impl_->context);
    impl_->context->run();
    impl_->context->restart();
}

void EventLoop::run_for(std::int64_t milliseconds) {
    const auto guard = asio::make_work_guard(*impl_->context);
    impl_->context->run_for(std::chrono::milliseconds(milliseconds));
    // Only after a stop, so that one that comes while the time runs out is kept for the next run.
    if (impl_->context->stopped()) { impl_->context->restart(); }
}

void EventLoop::run_some(std::int64_t milliseconds) {
    const auto guard = asio::make_work_guard(*impl_->context);
    impl_->context->run_one_for(std::chrono::milliseconds(milliseconds));
    impl_->context->poll();
    if (impl_->context->stopped()) { impl_->context->restart(); }
}

void EventLoop::stop() { impl_->context->stop(); }

void EventLoop::post(std::function<void()> work) { asio::post(*impl_->context, std::move(work)); }

void EventLoop::after(std::int64_t milliseconds, std::function<void()> work) {
    auto timer = std::make_unique<asio::steady_timer>(*impl_->context,
                                                      std::chrono::milliseconds(milliseconds));
    asio::steady_timer& waiting = *timer;
    waiting.async_wait(
        [owned = std::move(timer), task = std::move(work)](const boost::system::error_code& error) {
            if (!error) { task(); }
        });
}

struct Timer::Impl {
    asio::steady_timer timer;
    std::uint64_t starts = 0;  // an expiry that was under way already when it was stopped is known
    std::function<void()> work;
};

Timer::Timer(EventLoop& loop)
    : impl_(std::make_shared<Impl>(Impl{asio::steady_timer(*loop.impl().context), 0, nullptr})) {}

Timer::~Timer() { stop(); }

void Timer::start(std::int64_t milliseconds, std::function<void()> work) {
    impl_->work = std::move(work);
    const std::uint64_t start = ++impl_->starts;
    impl_->timer.expires_after(std::chrono::milliseconds(milliseconds));
    impl_->timer.async_wait([impl = impl_, start](const boost::system::error_code& error) {
        if (error || start != impl->starts) { return; }
        const auto task = std::exchange(impl->work, nullptr);
        task();
    });
}

void Timer::stop() {
    ++impl_->starts;
    impl_->work = nullptr;
    impl_->timer.cancel();
}

}  // namespace muster::net
