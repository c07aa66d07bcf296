// What can wait, behind what can't: while binds and evictions are unanswered, nothing else is
// written, so that a server that is busy starts gangs before it hears what is said of them. None
// waits for that longer than a few seconds.
#pragma once

#include "kube/client.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace muster::kube {

/// As a Transport its calls are made now and sent later.
class BehindOrders final : public Transport {
public:
    /// `inner` outlives it; `now` in ms.
    BehindOrders(Transport& inner, std::function<bool()> are_orders_under_way,
                 std::function<std::int64_t()> now)
        : direct_(*this, inner),
          are_orders_under_way_(std::move(are_orders_under_way)),
          now_(std::move(now)) {}

    /// `work` looks what is to be said when its turn comes, and makes its calls by `direct`.
    void ask(std::function<void()> work);
    Transport& direct() { return direct_; }

    void call(Call call, Done done) override;
    std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                   Done done) override {
        return direct_.stream(std::move(call), std::move(line), std::move(done));
    }
    void after(std::int64_t milliseconds, std::function<void()> work) override {
        direct_.after(milliseconds, std::move(work));
    }

    /// When orders have been answered.
    void send();

private:
    /// Counts what is under way.
    class Direct final : public Transport {
    public:
        Direct(BehindOrders& owner, Transport& inner) : owner_(owner), inner_(inner) {}
        void call(Call call, Done done) override;
        std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                       Done done) override {
            return inner_.stream(std::move(call), std::move(line), std::move(done));
        }
        void after(std::int64_t milliseconds, std::function<void()> work) override {
            inner_.after(milliseconds, std::move(work));
        }

    private:
        BehindOrders& owner_;
        Transport& inner_;
    };
    struct Waiting {
        std::function<void()> work;
        std::int64_t since = 0;
    };
    [[nodiscard]] std::int64_t wait_ms() const;

    Direct direct_;
    std::function<bool()> are_orders_under_way_;
    std::function<std::int64_t()> now_;
    std::deque<Waiting> waiting_;
    std::size_t in_flight_ = 0;
    bool is_timed_ = false;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace muster::kube
