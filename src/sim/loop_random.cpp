#include "sim/loop_random.h"

#include "control/loop.h"
#include "engine/world.h"
#include "sim/laws.h"
#include "sim/loop_adapter.h"
#include "sim/loop_agreement.h"
#include "sim/loop_reader.h"
#include "sim/loop_store.h"
#include "sim/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace muster {

namespace {

using namespace sim;

constexpr std::size_t process_count = 2;
constexpr std::int64_t quiet_every = 150;
constexpr int quiet_rounds_max = 200;

/// One scheduler process; empty between its end and the next start.
struct Process {
    std::unique_ptr<LoopAdapter> adapter;
    std::optional<Loop> loop;
    bool is_busy = false;    // in the middle of a turn, perhaps stopped there
    bool is_dead = false;    // it ended there
    bool is_fenced = false;  // it was told that another one leads
};

class LoopRun {
public:
    explicit LoopRun(const LoopRandomOptions& options)
        : options_(options),
          dice_(options.seed),
          cluster_(dice_.next()),
          reader_(!cluster_.has_strict_queues()) {
        outcome_.seed = options.seed;
        loss_ = dice_.chance(50) ? static_cast<int>(dice_.between(1, 40)) : 0;
        twice_ = dice_.chance(50) ? static_cast<int>(dice_.between(1, 30)) : 0;
        stop_ = dice_.chance(60) ? static_cast<int>(dice_.between(1, 8)) : 0;
        crash_ = dice_.chance(60) ? static_cast<int>(dice_.between(1, 5)) : 0;
        is_stormy_ = dice_.chance(50);
    }

    LoopRandomOutcome run() {
        while (outcome_.steps < options_.steps && outcome_.broken.empty()) {
            weather(true);
            for (std::int64_t i = 0; i < quiet_every && is_going(); ++i) { step(); }
            if (outcome_.broken.empty()) { be_quiet(); }
            collect();
        }
        outcome_.cycles = reader_.cycles();
        outcome_.binds = cluster_.bound();
        outcome_.evictions = cluster_.evicted();
        return std::move(outcome_);
    }

private:
    [[nodiscard]] bool is_going() {
        collect();
        return outcome_.steps < options_.steps && outcome_.broken.empty();
    }

    void say(std::string text) { outcome_.broken.push_back(std::move(text)); }

    void collect() {
        if (!outcome_.broken.empty()) { return; }
        for (const auto* broken : {&cluster_.broken(), &reader_.broken()}) {
            outcome_.broken.insert(outcome_.broken.end(), broken->begin(), broken->end());
        }
    }

    void weather(bool is_rough) {
        is_rough_ = is_rough;
        cluster_.loss_percent = is_rough ? loss_ : 0;
        cluster_.twice_percent = is_rough ? twice_ : 0;
    }

    // ---- what may happen next

    void step() {
        ++outcome_.steps;
        const std::size_t kind = dice_.below(100);
        if (kind < 30) { return cluster_.disturb(); }
        if (kind < 55) { return deliver(); }
        if (kind < 60) { return turn_clock(); }
        Process& process = processes_[dice_.below(process_count)];
        if (process.is_busy) { return; }
        if (kind < 90) {
            if (!process.loop) {
                // One leader is the rule.
                if (!other_of(process).loop || dice_.chance(5)) { start(process); }
                return;
            }
            return turn(process);
        }
        if (!is_stormy_) { return; }
        if (kind < 92 && process.loop && dice_.chance(20)) { return end(process); }
        if (kind < 94) { is_full_ = dice_.chance(30); }
        if (kind < 96 && process.loop) { process.adapter->may_lead = dice_.chance(80); }
    }

    void deliver() {
        std::vector<SentOrder>& requests = cluster_.requests;
        if (requests.empty()) { return; }
        const std::size_t at = is_rough_ ? dice_.below(requests.size()) : 0;
        const SentOrder request = requests[at];
        if (!is_rough_ || !dice_.chance(twice_)) {  // else it comes once more, some time
            requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(at));
        }
        if (is_rough_ && dice_.chance(loss_)) { return; }
        cluster_.handle(request);
    }

    void turn_clock() {
        if (dice_.chance(90)) {
            cluster_.now += dice_.between(0, 3'000);
        } else {
            cluster_.now += dice_.between(-100'000, 100'000);
        }
    }

    // ---- processes

    Process& other_of(const Process& process) {
        return processes_[&process == processes_.data() ? 1 : 0];
    }

    /// The process stands at a point of its turn. Others may act now, and it may end here.
    bool at(Process& process) {
        if (process.is_dead) { return false; }
        if (!is_rough_) { return true; }
        if (dice_.chance(stop_)) {
            for (std::size_t i = dice_.below(40); i > 0 && is_going(); --i) { step(); }
        }
        if (dice_.chance(crash_)) {
            process.is_dead = true;
            ++outcome_.crashes;
        }
        return !process.is_dead;
    }

    std::unique_ptr<Store> open_store(Process& process) {
        return std::make_unique<LoopStore>(
            log_,
            LoopStore::Hooks{
                .at = [this, &process](Point) { return at(process); },
                .written = [this](const Entry& entry) { written(entry); },
                .fenced = [&process] { process.is_fenced = true; },
                .is_full = [this] { return is_rough_ && is_full_ && dice_.chance(80); },
                .is_answer_lost = [this] { return is_rough_ && is_stormy_ && dice_.chance(1); }});
    }

    void written(const Entry& entry) {
        auto record = decode_record(entry.payload);
        if (!record) { return say("ledger: " + record.error().message); }
        reader_.read(*record);
        last_ = entry.header.sequence;
    }

    void start(Process& process) {
        ++outcome_.leaders;
        process.is_busy = true;
        process.is_dead = process.is_fenced = false;
        process.adapter = std::make_unique<LoopAdapter>(
            cluster_, static_cast<std::size_t>(outcome_.leaders),
            [this, &process](Point) { return at(process); },
            [this, &process](const TaskOrder& order) {
                if (process.is_fenced) { say("fence: a leader that was replaced gives orders"); }
                reader_.check_order(order);
            });
        process.adapter->is_prompt = !is_rough_;
        LoopAdapter& seams = *process.adapter;
        auto loop = Loop::start({seams, seams, seams, seams}, open_store(process), loop_options());
        process.is_busy = false;
        if (!loop) {
            if (loop.error().code != Code::unavailable && loop.error().code != Code::conflict) {
                say("start: " + loop.error().message);
            }
            return end(process);
        }
        process.loop.emplace(std::move(*loop));
        if (is_current(process)) { reader_.compare(process.loop->engine(), "started"); }
    }

    LoopOptions loop_options() {
        LoopOptions options{.leader = "leader", .retry = {.first_ms = 1'000, .most_ms = 8'000}};
        if (dice_.chance(30)) {
            options.policy.mix = {{.milli_cpu = 8'000, .gpu_count = 2, .models = {"NVIDIA-A30"}},
                                  {.milli_cpu = 2'000, .gpu_milli = 500, .models = {}}};
        }
        options.patience_ms = 0;
        options.snapshot_every = dice_.chance(70) ? 1 + dice_.below(20) : 0;
        options.retention = {.keep = dice_.chance(50) ? Keep::snapshots : Keep::everything,
                             .snapshots = 1 + dice_.below(3)};
        return options;
    }

    void end(Process& process) {
        process.loop.reset();
        process.adapter.reset();
    }

    [[nodiscard]] bool is_current(const Process& process) const {
        return process.loop && process.loop->ledger().last().sequence == last_;
    }

    void turn(Process& process) {
        process.is_busy = true;
        auto turned = process.loop->turn();
        process.is_busy = false;
        if (process.is_dead) { return end(process); }
        if (!turned) {
            const Error& error = turned.error();
            if (error.code == Code::conflict) {
                outcome_.fenced += process.is_fenced ? 1 : 0;
                return end(process);
            }
            if (error.code != Code::unavailable) { say("turn: " + error.message); }
            return;
        }
        if (is_current(process)) { check(process, *turned); }
    }

    // ---- checks

    void check(Process& process, const std::optional<Decision>& decision) {
        const World& world = process.loop->engine().world();
        reader_.compare(process.loop->engine(), "after a turn");
        if (decision) {  // right after a snapshot all who wait are still to be looked at
            for (std::string& law : decision->snapshot ? broken_books(world) : broken_laws(world)) {
                say(std::move(law));
            }
        }
        if (const std::size_t open = unsettled_tasks(world);
            open != process.loop->orders().size()) {
            say(fmt::format("orders: {} are open, and the engine waits for {}",
                            process.loop->orders().size(), open));
        }
    }

    /// No adversary: one leader, every message arrives, time goes on. All must come to agree.
    void be_quiet() {
        weather(false);
        is_full_ = false;
        Process& process = processes_[processes_[0].loop ? 0 : 1];
        end(other_of(process));
        for (int round = 0; round < quiet_rounds_max && outcome_.broken.empty(); ++round) {
            if (!process.loop) {
                start(process);
                continue;
            }
            process.adapter->may_lead = process.adapter->is_prompt = true;
            while (!cluster_.requests.empty()) { deliver(); }
            cluster_.now += 10'000;
            const std::int64_t cycles = reader_.cycles();
            turn(process);
            collect();
            if (process.loop && cycles == reader_.cycles() && cluster_.requests.empty() &&
                !process.adapter->has_unheard() && process.loop->orders().size() == 0) {
                ++outcome_.quiets;
                for (std::string& text : disagreements(process.loop->engine().world(), cluster_)) {
                    say(std::move(text));
                }
                return;
            }
        }
        if (!outcome_.broken.empty() || !process.loop) { return; }
        say(fmt::format("liveness: {} orders are open after {} quiet turns",
                        process.loop->orders().size(), quiet_rounds_max));
    }

    LoopRandomOptions options_;
    LoopRandomOutcome outcome_;
    Dice dice_;
    LoopCluster cluster_;
    LoopReader reader_;
    MemoryLog log_;
    std::uint64_t last_ = 0;  // entry of the ledger
    std::array<Process, process_count> processes_;
    int loss_ = 0;
    int twice_ = 0;
    int stop_ = 0;   // chance that a process stops for a while, at each point of a turn
    int crash_ = 0;  // that it ends there
    bool is_stormy_ = false;
    bool is_rough_ = false;
    bool is_full_ = false;
};

}  // namespace

Result<LoopRandomOutcome> run_loop_random(const LoopRandomOptions& options) {
    if (options.steps < 1 || options.steps > random_steps_max) {
        return fail(Code::invalid,
                    fmt::format("steps is {}, expected 1 to {}", options.steps, random_steps_max));
    }
    return LoopRun(options).run();
}

}  // namespace muster
