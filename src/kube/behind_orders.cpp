#include "kube/behind_orders.h"

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace {

constexpr std::size_t in_flight_max = 64;
constexpr std::int64_t patience_ms = 3'000;

}  // namespace

void BehindOrders::ask(std::function<void()> work) {
    waiting_.push_back({std::move(work), now_()});
    send();
}

void BehindOrders::call(Call call, Done done) {
    ask([this, call = std::move(call), done = std::move(done)]() mutable {
        direct_.call(std::move(call), std::move(done));
    });
}

void BehindOrders::Direct::call(Call call, Done done) {
    ++owner_.in_flight_;
    inner_.call(std::move(call), [&owner = owner_, done = std::move(done),
                                  alive = std::weak_ptr(owner_.alive_)](Result<Answer> answer) {
        if (alive.expired()) { return; }
        --owner.in_flight_;
        done(std::move(answer));
        if (!alive.expired()) { owner.send(); }
    });
}

/// What the first one has still to wait for orders.
std::int64_t BehindOrders::wait_ms() const {
    const std::int64_t left = waiting_.front().since + patience_ms - now_();
    return are_orders_under_way_() ? std::max(left, std::int64_t{0}) : 0;
}

void BehindOrders::send() {
    while (!waiting_.empty() && in_flight_ < in_flight_max) {
        if (const std::int64_t wait = wait_ms(); wait > 0) {
            if (std::exchange(is_timed_, true)) { return; }
            return direct_.after(wait, [this, alive = std::weak_ptr(alive_)] {
                if (alive.expired()) { return; }
                is_timed_ = false;
                send();
            });
        }
        const Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        next.work();
    }
}

}  // namespace muster::kube
