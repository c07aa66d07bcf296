#include "kube/scheduler.h"

#include "kube/lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace muster::kube {

namespace {

constexpr std::int64_t retry_ms = 500;

std::int64_t wall_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

struct Scheduler::Always final : Clock, Leader {
    std::int64_t now() override { return wall_ms(); }
    bool is_leader() override { return true; }
};

struct Scheduler::Timed final : Source {
    explicit Timed(Source& source) : inner(source) {}
    Result<> begin(const Snapshot& known) override { return inner.begin(known); }
    Result<std::vector<Fact>> observe(std::int64_t patience_ms) override {
        auto facts = inner.observe(patience_ms);
        told = std::chrono::steady_clock::now();
        return facts;
    }
    std::vector<TaskRefName> take_ready() override { return inner.take_ready(); }
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - told).count();
    }

    Source& inner;
    std::chrono::steady_clock::time_point told;
};

Scheduler::Scheduler(Link link, const SchedulerOptions& options)
    : link_(std::move(link)),
      objects_(*link_.transport, link_.pump, options.look_ms, link_.is_over),
      source_(objects_, {.schedulers = options.names}, options.windows),
      binder_(source_, *link_.transport, wall_ms),
      behind_(
          *link_.transport, [this] { return !binder_.is_idle(); }, options.windows.now),
      writer_(behind_, objects_, source_,
              {.schedulers = options.names,
               .component = options.names.empty() ? "muster" : options.names.front(),
               .now = wall_ms,
               .clock = options.windows.now}),
      always_(std::make_unique<Always>()),
      timed_(std::make_unique<Timed>(source_)) {
    binder_.set_when_idle([this] { behind_.send(); });
}

Scheduler::~Scheduler() = default;

Result<std::unique_ptr<Scheduler>> Scheduler::start(Link link, std::unique_ptr<Store> store,
                                                    SchedulerOptions options) {
    if (!options.windows.now) { options.windows.now = boot_ms; }
    std::unique_ptr<Scheduler> out(new Scheduler(std::move(link), options));
    MUSTER_TRY(loop,
               Loop::start({.source = *out->timed_,
                            .actuator = out->binder_,
                            .clock = *out->always_,
                            .leader = options.leader != nullptr ? *options.leader : *out->always_},
                           std::move(store), std::move(options.loop)));
    out->loop_ = std::make_unique<Loop>(std::move(loop));
    return out;
}

Result<std::optional<Decision>> Scheduler::turn() {
    source_.note_ready(binder_.take_again());
    MUSTER_TRY(decision, loop_->turn());
    if (!std::exchange(has_written_reasons_, true)) {
        writer_.write_reasons(loop_->engine().world());
    }
    for (const auto& [workload, pod] : source_.take_new_pods()) {
        writer_.write_reason(loop_->engine().world(), workload, pod);
    }
    if (decision) { writer_.write(*decision); }
    for (const GangNews& news : source_.take_news()) { writer_.write(news); }
    for (const OrderNews& news : binder_.take_news()) {
        if (news.kind == OrderNews::Kind::bind_refused) {
            source_.note_refused(news.workload, fmt::format("the bind of {} was refused: {}",
                                                            news.pod.second, news.text));
        }
        writer_.write(news);
    }
    writer_.write_news();
    cycle_seconds_ = timed_->seconds();
    return std::move(decision);
}

SchedulerThread::SchedulerThread(Connect connect, Open open, SchedulerOptions options)
    : thread_([this, connect = std::move(connect), open = std::move(open),
               options = std::move(options)] { run(connect, open, options); }) {}

SchedulerThread::~SchedulerThread() {
    is_stopped_ = true;
    thread_.join();
}

void SchedulerThread::run(const Connect& connect, const Open& open,
                          const SchedulerOptions& options) {
    while (!is_stopped_) {
        const auto served = serve(connect, open, options);
        if (!served && served.error().code == Code::conflict) { break; }
        if (!is_stopped_) { std::this_thread::sleep_for(std::chrono::milliseconds(retry_ms)); }
    }
    is_running_ = false;
}

Result<> SchedulerThread::serve(const Connect& connect, const Open& open,
                                const SchedulerOptions& options) {
    MUSTER_TRY(link, connect());
    MUSTER_TRY(store, open());
    MUSTER_TRY(scheduler, Scheduler::start(std::move(link), std::move(store), options));
    while (!is_stopped_) {
        if (auto turned = scheduler->turn(); !turned) {
            if (turned.error().code == Code::conflict) {
                return tl::unexpected(std::move(turned).error());
            }
            scheduler->pump(retry_ms);
        }
    }
    return {};
}

}  // namespace muster::kube
