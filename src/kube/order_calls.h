// The calls by which orders are carried out: many at a time, none while the server asks to be left
// alone, and of one pod one at a time. Answers come from the transport's loop, also when who asked
// is gone; hence all of it is shared.
#pragma once

#include "control/seams.h"
#include "kube/client.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace muster::kube {

/// What is to be said of an order that did not simply succeed.
struct OrderNews {
    enum class Kind : std::uint8_t { bind_refused, eviction_waits, eviction_refused };
    Kind kind = Kind::bind_refused;
    std::string workload;
    ObjectName pod;
    std::string uid;  // of the pod
    std::string text;
};

struct OrderCounts {
    std::uint64_t bound = 0;
    std::uint64_t evicted = 0;
    std::uint64_t failed = 0;
    std::uint64_t budget_waits = 0;  // evictions that a budget did not allow yet
    std::uint64_t busy_waits = 0;    // binds and evictions that a busy server put off
};

class OrderCalls : public std::enable_shared_from_this<OrderCalls> {
public:
    explicit OrderCalls(Transport& transport) : transport_(transport) {}

    void ask(Call call, Transport::Done done);
    /// Asks nothing more.
    void stop() {
        is_over_ = true;
        when_idle = {};
        waiting_.clear();
    }
    [[nodiscard]] bool is_idle() const { return in_flight_ == 0 && waiting_.empty(); }
    void after(std::int64_t milliseconds, std::function<void()> work) {
        transport_.after(milliseconds, std::move(work));
    }

    /// False while something is asked of the pod of that uid.
    bool begin(const std::string& uid) { return busy_.insert(uid).second; }
    void end(const std::string& uid) { busy_.erase(uid); }
    [[nodiscard]] bool is_busy(const std::string& uid) const { return busy_.contains(uid); }

    /// The server took the bind; its watch, which may lag, will tell. Not for ever: it may be
    /// mistaken.
    void note_bound(const std::string& uid);
    [[nodiscard]] bool is_bound(const std::string& uid) const { return bound_.contains(uid); }
    /// Nobody knows whether the server took the bind. Behind a minute, after which it gives up a
    /// request, it did not.
    void note_unsure(const std::string& uid);
    [[nodiscard]] bool may_be_bound(const std::string& uid) const {
        return is_busy(uid) || is_bound(uid) || unsure_.contains(uid);
    }

    /// The server asked to be left alone. Binds are not queued meanwhile, for they are looked at
    /// anew when it is over.
    [[nodiscard]] bool is_resting() const { return is_resting_; }
    void note_put_off(const TaskRefName& task) { put_off_.push_back(task); }

    OrderCounts counts;
    std::vector<OrderNews> news;
    std::vector<TaskRefName> again;   // that were put off, and may be asked for now
    std::function<void()> when_idle;  // after the last answer

private:
    struct Waiting {
        Call call;
        Transport::Done done;
    };
    void send();
    void rest(std::int64_t milliseconds);

    Transport& transport_;
    std::deque<Waiting> waiting_;
    std::set<std::string> busy_;
    std::set<std::string> bound_;
    std::multiset<std::string> unsure_;
    std::vector<TaskRefName> put_off_;
    std::size_t in_flight_ = 0;
    bool is_resting_ = false;
    bool is_over_ = false;
};

/// The server says that a budget has no room, not that it has much to do.
bool is_budget_answer(const Answer& answer);
/// For how long a server that has much to do wants to be left alone; 0 when it does not say so.
std::int64_t put_off_ms(const Answer& answer);
/// What a Status says; the number when it says nothing.
std::string message_of(const Answer& answer);

}  // namespace muster::kube
