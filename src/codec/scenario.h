// Scenario text: a cluster, jobs, and what must come of them, in lines that a person writes.
// Reading is pure and strict: the text becomes typed commands with line numbers, or an error
// `file:line: …` that names what was found and what was expected. sim/scenario runs them.
// The language is told in docs/guide/scenarios.md.
#pragma once

#include "base/result.h"
#include "model/fact.h"
#include "model/plan.h"
#include "model/policy.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster {

/// `cycle [N]`
struct RunCycles {
    std::int64_t count = 1;

    bool operator==(const RunCycles&) const = default;
};

/// `expect A[,B…] runs [tasks=N] [in "rack r1"] [on a,b] [crossings=N]`; also `expect A on a`
struct ExpectRuns {
    std::vector<std::string> workloads;
    std::optional<std::int64_t> tasks;              // placed now
    std::optional<std::string> domain;              // "rack r1"; "" = the whole cluster
    std::optional<std::vector<std::string>> nodes;  // exactly these are used
    std::optional<std::int64_t> crossings;

    bool operator==(const ExpectRuns&) const = default;
};

/// `expect A/0 on a [gpus=0,1] [mig=0:4] [numa=0]`; `expect A/0 waits`
struct ExpectTask {
    std::string workload;
    std::uint32_t task = 0;
    std::string node;  // empty = it has no place
    std::optional<std::uint64_t> gpus;
    std::optional<std::vector<MigSlot>> mig;
    std::optional<std::int64_t> numa;

    bool operator==(const ExpectTask&) const = default;
};

/// `expect A[,B…] waits ["whole sentence"] [like="part"] [why=…] [link=…] [have=N] [needed=N]
/// [closest="rack r1"] [cause.gpu_free=N]`
struct ExpectWaits {
    std::vector<std::string> workloads;
    std::optional<std::string> text;
    std::optional<std::string> part;
    std::optional<Why> why;
    std::optional<ChainLink> link;
    std::optional<std::int64_t> have;
    std::optional<std::int64_t> needed;
    std::optional<std::string> closest;
    std::vector<CauseCount> causes;  // these, whatever others there are

    bool operator==(const ExpectWaits&) const = default;
};

/// `expect 2 of w[1-4] run`
struct ExpectCount {
    std::int64_t count = 0;
    std::vector<std::string> workloads;

    bool operator==(const ExpectCount&) const = default;
};

/// `expect no change`: no cycle of the last `cycle` line placed anything or gave a new reason.
struct ExpectNoChange {
    bool operator==(const ExpectNoChange&) const = default;
};

/// `expect refused ["part"]`: the fact just before made no sense and changed nothing.
struct ExpectRefused {
    std::string part;

    bool operator==(const ExpectRefused&) const = default;
};

enum class Shown : std::uint8_t { topology, queues, plan, waiting, shapes };

/// `show topology` and the `|` lines below it, which `--update` rewrites.
struct Show {
    Shown what = Shown::topology;
    std::vector<std::string> golden;

    bool operator==(const Show&) const = default;
};

using Action = std::variant<Fact, RunCycles, ExpectRuns, ExpectTask, ExpectWaits, ExpectCount,
                            ExpectNoChange, ExpectRefused, Show>;

struct Command {
    std::size_t line = 0;  // from 1
    Action action;
};

struct Scenario {
    Policy policy;
    std::vector<Command> commands;
};

inline constexpr std::size_t scenario_names_max = 200'000;  // of one line's range
inline constexpr std::size_t scenario_commands_max = 1'000'000;
inline constexpr std::int64_t scenario_cycles_max = 1'000'000;

/// `file` only names the text in errors.
Result<Scenario> read_scenario(std::string_view file, std::string_view text);

/// Text that reads back as the same policy and commands; line numbers apart.
std::string write_scenario(const Scenario& scenario);

}  // namespace muster
