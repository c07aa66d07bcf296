#include "kube/order_calls.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::size_t in_flight_max = 64;
constexpr std::int64_t bound_ms = 10'000;
constexpr std::int64_t unsure_ms = 65'000;
constexpr std::string_view budget_cause = "DisruptionBudget";

}  // namespace

bool is_budget_answer(const Answer& answer) {
    if (answer.status != 429) { return false; }
    const json::object status = object_of(answer.body);
    const json::array* causes = array_at(status, "details.causes");
    return causes != nullptr && std::any_of(causes->begin(), causes->end(), [](const auto& one) {
               return one.is_object() && text_at(one.get_object(), "reason") == budget_cause;
           });
}

std::int64_t put_off_ms(const Answer& answer) {
    const bool is_busy =
        (answer.status == 429 || answer.status == 503) && !is_budget_answer(answer);
    return is_busy ? answer.retry_after_ms : 0;
}

std::string message_of(const Answer& answer) {
    const json::object status = object_of(answer.body);
    if (const json::array* causes = array_at(status, "details.causes")) {
        for (const json::value& cause : *causes) {  // which budget it is stands there only
            if (cause.is_object() && text_at(cause.get_object(), "reason") == budget_cause) {
                return std::string(text_at(cause.get_object(), "message"));
            }
        }
    }
    const std::string_view message = text_at(status, "message");
    return message.empty() ? fmt::format("answered with {}", answer.status) : std::string(message);
}

void OrderCalls::note_bound(const std::string& uid) {
    bound_.insert(uid);
    after(bound_ms, [weak = weak_from_this(), uid] {
        if (const auto self = weak.lock()) { self->bound_.erase(uid); }
    });
}

void OrderCalls::note_unsure(const std::string& uid) {
    unsure_.insert(uid);
    after(unsure_ms, [weak = weak_from_this(), uid] {
        if (const auto self = weak.lock()) { self->unsure_.erase(self->unsure_.find(uid)); }
    });
}

void OrderCalls::ask(Call call, Transport::Done done) {
    waiting_.push_back({std::move(call), std::move(done)});
    send();
}

/// A server that is asked for too much says for how long to leave it alone.
void OrderCalls::rest(std::int64_t milliseconds) {
    is_resting_ = true;
    transport_.after(milliseconds, [self = shared_from_this()] {
        self->is_resting_ = false;
        self->again.insert(self->again.end(), self->put_off_.begin(), self->put_off_.end());
        self->put_off_.clear();
        self->send();
    });
}

void OrderCalls::send() {
    while (!is_over_ && !is_resting_ && in_flight_ < in_flight_max && !waiting_.empty()) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        ++in_flight_;
        transport_.call(std::move(next.call), [self = shared_from_this(),
                                               done = std::move(next.done)](Result<Answer> answer) {
            --self->in_flight_;
            const std::int64_t wait = answer ? put_off_ms(*answer) : 0;
            if (wait > 0 && !self->is_resting_) { self->rest(wait); }
            done(std::move(answer));
            self->send();
            if (self->is_idle() && self->when_idle) { self->when_idle(); }
        });
    }
}

}  // namespace muster::kube
