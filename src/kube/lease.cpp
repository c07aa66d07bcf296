#include "kube/lease.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <ctime>
#include <random>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

const Resource& leases() {
    static const Resource resource{
        .group = "coordination.k8s.io", .version = "v1", .plural = "leases"};
    return resource;
}

/// What counts of a Lease: others see a change when any of it changes.
struct Record {
    std::string holder;
    std::string renewed;  // as it is written
    std::string acquired;
    std::int64_t seconds = 0;
    std::int64_t transitions = 0;

    bool operator==(const Record&) const = default;
};

Record record_of(const json::object& lease) {
    return {.holder = std::string(text_at(lease, "spec.holderIdentity")),
            .renewed = std::string(text_at(lease, "spec.renewTime")),
            .acquired = std::string(text_at(lease, "spec.acquireTime")),
            .seconds = int_at(lease, "spec.leaseDurationSeconds"),
            .transitions = int_at(lease, "spec.leaseTransitions")};
}

constexpr std::string_view ledger_key = "muster.dev/ledger";

std::string ledger_of(const json::object& lease) {
    return std::string(annotation_of(lease, ledger_key));
}

json::object spec_of(const Record& record) {
    return {{"holderIdentity", record.holder},
            {"leaseDurationSeconds", record.seconds},
            {"acquireTime", record.acquired},
            {"renewTime", record.renewed},
            {"leaseTransitions", record.transitions}};
}

}  // namespace

struct LeaseElector::Impl : std::enable_shared_from_this<LeaseElector::Impl> {
    Impl(Transport& over, LeaseOptions with)
        : transport(over),
          options(std::move(with)),
          random(std::random_device()()) {}

    [[nodiscard]] bool holds() const {
        return is_held && options.steady_ms() < sent_ms + options.renew_deadline_ms;
    }
    [[nodiscard]] ObjectName name() const { return {options.space, options.name}; }
    [[nodiscard]] std::string now_text() const { return micro_time_text(options.wall_ms()); }

    /// One try: look, and write when it is free or ours.
    void attempt() {
        is_busy = true;
        ++turn;
        // What comes later than that is of no use any more.
        transport.after(options.renew_deadline_ms, [weak = weak_from_this(), mine = turn] {
            const auto self = weak.lock();
            if (!self || self->turn != mine || !self->is_busy) { return; }
            ++self->turn;
            self->problem = "the server does not answer";
            self->rest();
        });
        Call call;
        call.target = path_of(leases(), options.space, options.name);
        ask(std::move(call), [this](const Result<Answer>& answer) { on_lease(answer); });
    }

    void on_lease(const Result<Answer>& answer) {
        if (answer && answer->status == 404) { return create(); }
        if (!answer || !answer->is_ok()) { return fail_with(answer); }
        boost::system::error_code error;
        json::value parsed = json::parse(answer->body, error);
        json::object* lease = error ? nullptr : parsed.if_object();
        if (lease == nullptr) {
            problem = "the lease is no JSON object";
            return rest();
        }
        observe(record_of(*lease));
        seen_ledger = ledger_of(*lease);
        const bool is_ours = seen.holder == options.identity;
        const bool is_free =
            seen.holder.empty() || seen_ms + seen.seconds * 1'000 <= options.steady_ms();
        if (!is_ours) { is_held = false; }
        if (is_ours || is_free) { return take(std::move(*lease)); }
        problem.clear();
        rest();
    }

    void observe(Record record) {
        if (record == seen && seen_ms >= 0) { return; }
        is_seen_alive = seen_ms >= 0 && record.holder == seen.holder;
        seen = std::move(record);
        seen_ms = options.steady_ms();
    }

    Record wanted() const {
        Record out{.holder = options.identity,
                   .renewed = now_text(),
                   .acquired = now_text(),
                   .seconds = options.lease_ms / 1'000,
                   .transitions = seen.transitions + 1};
        if (seen.holder == options.identity) {
            out.acquired = seen.acquired;
            out.transitions = seen.transitions;
        }
        return out;
    }

    void create() {
        Record record = wanted();
        record.transitions = 0;
        json::object lease{{"apiVersion", "coordination.k8s.io/v1"},
                           {"kind", "Lease"},
                           {"metadata", {{"name", options.name}, {"namespace", options.space}}},
                           {"spec", spec_of(record)}};
        tell_ledger(lease);
        write(create_call(leases(), options.space, lease), std::move(record));
    }

    /// The resourceVersion that was read makes the server refuse it when another one was faster.
    void take(json::object lease) {
        Record record = wanted();
        lease["spec"] = spec_of(record);
        tell_ledger(lease);
        write(replace_call(leases(), lease), std::move(record));
    }

    void tell_ledger(json::object& lease) const {
        json::value& metadata = lease["metadata"];
        if (!metadata.is_object()) { return; }
        json::value& annotations = metadata.as_object()["annotations"];
        if (!annotations.is_object()) { annotations = json::object(); }
        annotations.as_object()[ledger_key] = ledger;
    }

    void write(Call call, Record record) {
        const std::int64_t begun = options.steady_ms();
        ask(std::move(call),
            [this, begun, record = std::move(record)](const Result<Answer>& answer) {
                // One that lost the race, or whose answer was lost, is looked at again.
                if (!answer || !answer->is_ok()) { return fail_with(answer); }
                seen = record;
                seen_ms = options.steady_ms();
                is_held = true;
                sent_ms = begun;
                problem.clear();
                rest();
            });
    }

    void fail_with(const Result<Answer>& answer) {
        problem = answer ? refusal_of(path_of(leases(), options.space, options.name), *answer)
                         : answer.error().message;
        rest();
    }

    void rest() {
        is_busy = false;
        if (is_over) {
            if (const auto then = std::exchange(released, nullptr)) { let_go(then); }
            return;
        }
        // Those that wait come a little apart.
        const std::int64_t spread =
            is_held ? 0 : static_cast<std::int64_t>(random()) % (options.retry_ms / 5 + 1);
        transport.after(options.retry_ms + spread, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && !self->is_over) { self->attempt(); }
        });
    }

    void let_go(const std::function<void()>& done) {
        if (seen.holder != options.identity) { return done(); }
        Call call;
        call.target = path_of(leases(), options.space, options.name);
        ask(std::move(call), [this, done](const Result<Answer>& answer) {
            boost::system::error_code error;
            json::value parsed =
                answer && answer->is_ok() ? json::parse(answer->body, error) : json::value();
            json::object* lease = error ? nullptr : parsed.if_object();
            if (lease == nullptr || record_of(*lease).holder != options.identity) { return done(); }
            Record record = record_of(*lease);
            record.holder.clear();
            record.seconds = 1;
            record.renewed = now_text();
            (*lease)["spec"] = spec_of(record);
            ask(replace_call(leases(), *lease), [done](const Result<Answer>&) { done(); });
        });
    }

    /// `then` is not called once this is gone or has given up waiting.
    void ask(Call call, Transport::Done then) {
        transport.call(std::move(call), [weak = weak_from_this(), mine = turn,
                                         then = std::move(then)](Result<Answer> answer) {
            const auto self = weak.lock();
            if (self && self->turn == mine) { then(std::move(answer)); }
        });
    }

    Transport& transport;
    LeaseOptions options;
    std::minstd_rand random;
    Record seen;
    std::string seen_ledger;
    bool is_seen_alive = false;  // its holder renewed it while we looked
    std::string ledger;          // ours
    std::int64_t seen_ms = -1;   // when it was seen first, by our clock
    std::int64_t sent_ms = 0;    // when the last renewal that succeeded was sent
    std::uint64_t turn = 0;
    bool is_held = false;
    bool is_busy = false;
    bool is_over = false;
    std::function<void()> released;
    std::string problem;
};

LeaseElector::LeaseElector(Transport& transport, LeaseOptions options)
    : impl_(std::make_shared<Impl>(transport, std::move(options))) {}
LeaseElector::~LeaseElector() = default;

void LeaseElector::start(std::string ledger) {
    impl_->ledger = std::move(ledger);
    impl_->attempt();
}
bool LeaseElector::is_leader() { return !impl_->is_over && impl_->holds(); }

void LeaseElector::release(std::function<void()> done) {
    const bool was_held = std::exchange(impl_->is_held, false);
    impl_->is_over = true;
    if (impl_->is_busy) {
        impl_->released = std::move(done);
    } else if (was_held) {
        impl_->let_go(done);
    } else {
        done();
    }
}

const std::string& LeaseElector::identity() const { return impl_->options.identity; }
const std::string& LeaseElector::holder() const { return impl_->seen.holder; }
std::optional<std::string> LeaseElector::ledger_of_living_holder() const {
    const bool is_another =
        !impl_->seen.holder.empty() && impl_->seen.holder != impl_->options.identity;
    if (!is_another || !impl_->is_seen_alive || impl_->seen_ledger.empty()) { return std::nullopt; }
    return impl_->seen_ledger;
}
const std::string& LeaseElector::problem() const { return impl_->problem; }

std::int64_t boot_ms() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

}  // namespace muster::kube
