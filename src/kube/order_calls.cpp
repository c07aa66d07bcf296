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
constexpr int tries_max = 10;  // of a call that a busy server puts off
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

void OrderCalls::ask(Call call, Transport::Done done) {
    waiting_.push_back({std::move(call), std::move(done)});
    send();
}

/// A server that is asked for too much says for how long to leave it alone.
void OrderCalls::rest(std::int64_t milliseconds) {
    is_resting_ = true;
    transport_.after(milliseconds, [self = shared_from_this()] {
        self->is_resting_ = false;
        self->send();
    });
}

/// Orders come again ever more slowly, and a gang that is bound in part holds what others could
/// use: a call that was only put off is made again as soon as the server can be asked.
bool OrderCalls::put_off(Waiting& asked, const Result<Answer>& answer) {
    const bool is_busy = answer && (answer->status == 429 || answer->status == 503) &&
                         answer->retry_after_ms > 0 && !is_budget_answer(*answer);
    if (!is_busy) { return false; }
    if (!is_resting_) { rest(answer->retry_after_ms); }
    if (asked.tries == tries_max) { return false; }
    ++asked.tries;
    ++counts.busy_waits;
    waiting_.push_front(std::move(asked));
    return true;
}

void OrderCalls::send() {
    while (!is_over_ && !is_resting_ && in_flight_ < in_flight_max && !waiting_.empty()) {
        const auto asked = std::make_shared<Waiting>(std::move(waiting_.front()));
        waiting_.pop_front();
        ++in_flight_;
        transport_.call(asked->call, [self = shared_from_this(), asked](Result<Answer> answer) {
            --self->in_flight_;
            if (self->put_off(*asked, answer)) { return; }
            asked->done(std::move(answer));
            self->send();
            if (self->is_idle() && self->when_idle) { self->when_idle(); }
        });
    }
}

}  // namespace muster::kube
