#include "lab/lab_timers.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

namespace muster::lab {

namespace {

struct Timer {
    std::int64_t due = 0;
    std::uint64_t serial = 0;
    std::function<void()> work;
};

struct IsLater {
    bool operator()(const Timer& a, const Timer& b) const {
        return std::pair(a.due, a.serial) > std::pair(b.due, b.serial);
    }
};

}  // namespace

struct LabTimers::Impl : std::enable_shared_from_this<LabTimers::Impl> {
    Impl(kube::Transport& over, LabClock time) : transport(over), clock(std::move(time)) {}

    void arm();
    void fire();

    kube::Transport& transport;
    LabClock clock;
    std::priority_queue<Timer, std::vector<Timer>, IsLater> heap;
    std::uint64_t serial = 0;
    std::uint64_t wait = 0;  // the wait that counts; earlier ones were overtaken
    std::int64_t armed = std::numeric_limits<std::int64_t>::max();  // for what is due then
    bool is_ended = false;
};

LabTimers::LabTimers(kube::Transport& transport, LabClock clock)
    : impl_(std::make_shared<Impl>(transport, std::move(clock))) {}

LabTimers::~LabTimers() { impl_->is_ended = true; }

std::int64_t LabTimers::now() const { return impl_->clock.now(); }
std::int64_t LabTimers::speed() const { return std::max<std::int64_t>(impl_->clock.speed, 1); }

void LabTimers::after(std::int64_t wait, std::function<void()> work) {
    impl_->heap.push({now() + std::max<std::int64_t>(wait, 0), ++impl_->serial, std::move(work)});
    impl_->arm();
}

void LabTimers::Impl::arm() {
    if (is_ended || heap.empty() || heap.top().due >= armed) { return; }
    armed = heap.top().due;
    const std::int64_t rest = std::max<std::int64_t>(armed - clock.now(), 0);
    const std::int64_t speed = std::max<std::int64_t>(clock.speed, 1);
    const std::uint64_t mine = ++wait;
    transport.after((rest + speed - 1) / speed, [weak = weak_from_this(), mine] {
        const auto self = weak.lock();
        if (self && self->wait == mine) { self->fire(); }
    });
}

void LabTimers::Impl::fire() {
    // What the work adds for now waits for the next turn, so that the loop gets its share.
    const std::uint64_t newest = serial;
    armed = std::numeric_limits<std::int64_t>::min();  // nobody arms meanwhile
    while (!is_ended && !heap.empty() && heap.top().due <= clock.now() &&
           heap.top().serial <= newest) {
        const auto work = heap.top().work;
        heap.pop();
        work();
    }
    armed = std::numeric_limits<std::int64_t>::max();
    arm();
}

}  // namespace muster::lab
