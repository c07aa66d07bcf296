#include "sim/scenario.h"

#include "base/text.h"
#include "engine/engine.h"
#include "engine/world.h"
#include "sim/laws.h"
#include "sim/scenario_expect.h"
#include "sim/shapes.h"
#include "sim/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace muster::sim {

namespace {

/// The lines of both, those that differ marked; equal runs are kept as they are few.
std::string diff(const Lines& expected, const Lines& found) {
    // Longest common subsequence: golden blocks are short.
    const std::size_t rows = expected.size();
    const std::size_t columns = found.size();
    std::vector<std::vector<std::size_t>> common(rows + 1, std::vector<std::size_t>(columns + 1));
    for (std::size_t i = rows; i-- > 0;) {
        for (std::size_t k = columns; k-- > 0;) {
            common[i][k] = expected[i] == found[k] ? common[i + 1][k + 1] + 1
                                                   : std::max(common[i + 1][k], common[i][k + 1]);
        }
    }
    std::string out;
    std::size_t i = 0;
    std::size_t k = 0;
    while (i < rows || k < columns) {
        if (i < rows && k < columns && expected[i] == found[k]) {
            out += fmt::format("\n      | {}", expected[i++]);
            ++k;
        } else if (i < rows && (k == columns || common[i + 1][k] >= common[i][k + 1])) {
            out += fmt::format("\n    - | {}", expected[i++]);
        } else {
            out += fmt::format("\n    + | {}", found[k++]);
        }
    }
    return out;
}

class Runner {
public:
    Runner(Scenario scenario, std::string_view text)
        : scenario_(std::move(scenario)),
          engine_(scenario_.policy),
          text_(split(text, '\n')) {}

    ScenarioRun run() {
        for (const Command& command : scenario_.commands) {
            const bool is_expected = std::holds_alternative<ExpectRefused>(command.action);
            if (!is_expected) { tell_refusal(); }
            line_ = command.line;
            std::visit([this](const auto& action) { act(action); }, command.action);
        }
        tell_refusal();
        run_.updated = updated();
        return std::move(run_);
    }

private:
    void act(const Fact& fact) {
        if (auto done = engine_.apply(fact); !done) { refusal_ = std::move(done.error().message); }
    }

    void act(const RunCycles& cycles) {
        cycles_ = static_cast<std::size_t>(cycles.count);
        for (std::int64_t i = 0; i < cycles.count; ++i) {
            const CycleWatch watch(engine_.world());
            Plan plan = engine_.cycle();
            for (const std::string& law : broken_laws(engine_.world())) { miss(law); }
            for (const std::string& law : watch.broken_laws(engine_.world(), plan)) { miss(law); }
            for (const Placement& placement : plan.placements) {
                last_[placement.workload] = placement;
            }
            // The cluster does as it is told, at once.
            for (const Placement& placement : plan.placements) {
                for (const TaskPlace& task : placement.tasks) {
                    act(Fact(
                        TaskBound{placement.workload, task.task, task.node, true, task.devices}));
                }
            }
            for (const Release& release : plan.releases) {
                for (const TaskPlace& task : release.tasks) {
                    act(Fact(TaskGone{release.workload, task.task}));
                }
            }
            run_.plans.push_back(std::move(plan));
        }
    }

    void act(const ExpectNoChange&) {
        ++run_.expectations;
        if (run_.plans.empty()) { return miss("no cycle ran yet"); }
        for (std::size_t i = run_.plans.size() - cycles_; i < run_.plans.size(); ++i) {
            const Plan& plan = run_.plans[i];
            if (plan == Plan{.cycle = plan.cycle}) { continue; }
            std::string found = fmt::format("cycle {} decided", plan.cycle);
            for (const std::string& line : show_plan(plan)) { found += "\n      " + line; }
            miss(found);
        }
    }

    void act(const ExpectRefused& expected) {
        ++run_.expectations;
        const std::optional<std::string> refusal = std::exchange(refusal_, std::nullopt);
        if (!refusal) { return miss("the fact was taken"); }
        if (refusal->find(expected.part) == std::string::npos) {
            miss(fmt::format("refused with \"{}\"", *refusal));
        }
    }

    void act(const Show& show) {
        ++run_.expectations;
        Lines lines = lines_of(show.what);
        for (std::string& line : lines) { line.resize(line.find_last_not_of(' ') + 1); }
        if (lines != show.golden) { miss("another text" + diff(show.golden, lines)); }
        shown_.push_back({line_, show.golden.size(), std::move(lines)});
    }

    template <class Expected>
    void act(const Expected& expected) {
        ++run_.expectations;
        const Seen seen{.world = engine_.world(), .last = last_};
        for (const std::string& found : check(expected, seen)) { miss(found); }
    }

    Lines lines_of(Shown what) {
        const World& world = engine_.world();
        switch (what) {
            case Shown::topology: return show_topology(world);
            case Shown::queues: return show_queues(world);
            case Shown::plan: return show_plan(run_.plans.empty() ? Plan{} : run_.plans.back());
            case Shown::waiting: return show_waiting(world);
            case Shown::shapes: return show_shapes(free_shapes(world));
        }
        return {};
    }

    /// A fact that nobody expected to be refused.
    void tell_refusal() {
        if (!refusal_) { return; }
        miss(fmt::format("the engine refuses this: {}", *refusal_));
        refusal_.reset();
    }

    void miss(std::string_view found) {
        const std::string_view said =
            line_ <= text_.size() ? trim(text_[line_ - 1]) : std::string_view{};
        run_.mismatches.push_back({line_, fmt::format("{}\n    found: {}", said, found)});
    }

    [[nodiscard]] std::string updated() const {
        std::string out;
        std::size_t at = 0;  // next line of the text
        const auto copy_to = [&](std::size_t end) {
            for (; at < end; ++at) {
                out += text_[at];
                if (at + 1 < text_.size()) { out += '\n'; }
            }
        };
        for (const Block& block : shown_) {
            copy_to(block.line);
            if (!out.ends_with('\n')) { out += '\n'; }
            for (const std::string& line : block.lines) {
                out += line.empty() ? "|\n" : fmt::format("| {}\n", line);
            }
            at += block.golden;
        }
        copy_to(text_.size());
        return out;
    }

    struct Block {
        std::size_t line = 0;    // of `show`
        std::size_t golden = 0;  // `|` lines below it
        Lines lines;
    };

    Scenario scenario_;
    Engine engine_;
    std::vector<std::string_view> text_;
    ScenarioRun run_;
    std::map<std::string, Placement> last_;
    std::vector<Block> shown_;
    std::optional<std::string> refusal_;
    std::size_t line_ = 0;
    std::size_t cycles_ = 0;  // of the last `cycle` line
};

}  // namespace

Result<ScenarioRun> run_scenario(std::string_view file, std::string_view text) {
    MUSTER_TRY(scenario, read_scenario(file, text));
    return Runner(std::move(scenario), text).run();
}

std::string describe(std::string_view file, const ScenarioRun& run) {
    std::string out;
    for (const Mismatch& mismatch : run.mismatches) {
        out += fmt::format("{}:{}: {}\n", file, mismatch.line, mismatch.text);
    }
    return out;
}

}  // namespace muster::sim
