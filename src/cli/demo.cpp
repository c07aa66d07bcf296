#include "cli/demo.h"

#include "cli/change.h"
#include "cli/slowdown.h"
#include "cli/verbs.h"
#include "engine/engine.h"
#include "engine/world.h"
#include "sim/reference/per_pod.h"
#include "sim/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace muster::cli {

namespace {

NodeSpec node_of(std::string name, std::size_t gpus, std::string_view model) {
    NodeSpec node;
    node.name = std::move(name);
    node.gpus.resize(gpus, GpuSpec{.model = std::string(model), .memory_mib = 81'920});
    return node;
}

WorkloadSpec gang_of(std::string name, std::int32_t tasks, std::int32_t gpus) {
    GroupSpec group;
    group.name = name;
    group.count = tasks;
    group.minimum = tasks;
    group.task.gpu = {.kind = GpuKind::whole, .count = gpus};
    WorkloadSpec workload;
    workload.name = std::move(name);
    workload.groups = {std::move(group)};
    return workload;
}

std::int64_t free_gpus(const World& world) {
    std::int64_t free = 0;
    for (std::size_t i = 0; i < world.machines.size(); ++i) {
        if (world.machines[i].is_present) { free += std::popcount(world.space.nodes[i].whole); }
    }
    return free;
}

std::size_t node_count(const Placement& placement) {
    std::set<std::string_view> nodes;
    for (const TaskPlace& place : placement.tasks) { nodes.insert(place.node); }
    return nodes.size();
}

/// All facts are good: the demo writes them itself.
bool apply(Engine& engine, const Fact& fact) { return engine.apply(fact).has_value(); }

Engine two_by_four(Stage& stage) {
    Engine engine;
    const bool is_taken = apply(engine, NodeSet{node_of("a", 4, "NVIDIA H100 80GB HBM3")}) &&
                          apply(engine, NodeSet{node_of("b", 4, "NVIDIA H100 80GB HBM3")});
    if (!is_taken) { stage.check(false, "the engine takes two nodes"); }
    return engine;
}

}  // namespace

void Stage::title(std::string_view text) {
    if (titles_++ > 0) { terminal_.out << '\n'; }
    terminal_.out << paint_(Ink::bold, fmt::format("{}. {}", titles_, text)) << '\n';
}

void Stage::say(std::string_view text) { terminal_.out << "   " << text << '\n'; }

void Stage::check(bool is_so, std::string_view text) {
    ++checks_;
    failures_ += !is_so;
    terminal_.out << "   " << paint_(is_so ? Ink::green : Ink::red, is_so ? "[ok]" : "[no]") << ' '
                  << text << '\n';
}

void Stage::table(const Table& table) { terminal_.out << table.text(paint_, "   "); }

void show_gangs(Stage& stage) {
    stage.title("A gang starts whole");
    stage.say("2 nodes × 4 GPUs; a job of 6 tasks × 1 GPU, all or nothing.");
    Engine engine = two_by_four(stage);
    bool is_taken = apply(engine, WorkloadSet{gang_of("six", 6, 1)});
    Plan plan = engine.cycle();
    const bool has_six = is_taken && plan.placements.size() == 1;
    stage.check(has_six && plan.placements[0].tasks.size() == 6,
                fmt::format("{} of 6 tasks start together, on {} nodes",
                            has_six ? plan.placements[0].tasks.size() : 0,
                            has_six ? node_count(plan.placements[0]) : 0));

    stage.title("… or waits, holds nothing, and knows why");
    stage.say("The same cluster, empty; now 10 tasks.");
    engine = two_by_four(stage);
    const WorkloadSpec ten = gang_of("ten", 10, 1);
    is_taken = apply(engine, WorkloadSet{ten});
    plan = engine.cycle();
    const std::optional<Reason> reason = engine.why("ten");
    stage.check(is_taken && plan.placements.empty() && reason.has_value(),
                fmt::format("it waits: {}", reason ? reason->text : "no reason"));
    stage.check(free_gpus(engine.world()) == 8,
                fmt::format("{} of 8 GPUs stay free for others", free_gpus(engine.world())));
    std::vector<Change> changes;
    if (reason) { changes = changes_that_start(engine, ten, *reason); }
    stage.check(!changes.empty(), fmt::format("it would start now with {}",
                                              changes.empty() ? "nothing" : changes[0].text));
    is_taken = apply(engine, NodeSet{node_of("c", 4, "NVIDIA H100 80GB HBM3")});
    plan = engine.cycle();
    stage.check(is_taken && plan.placements.size() == 1 && plan.placements[0].tasks.size() == 10,
                "a third node joins: all 10 start in that cycle, and nobody had to ask again");
}

void show_deadlock(Stage& stage) {
    constexpr std::int64_t hour = 3600;
    constexpr std::int64_t until = 12 * hour;
    const std::vector<sim::PodJob> jobs = {{"A", 5, hour}, {"B", 5, hour}};
    const sim::PodJobsRun pods = sim::run_per_pod(8, jobs, until);
    const sim::PodJobsRun gangs = sim::run_as_gangs(8, jobs, until);

    stage.title("The deadlock of schedulers that know no gangs");
    stage.say("8 GPUs; jobs A and B want 5 each for an hour, pods arrive in turn. After 12 hours:");
    Table table({{"scheduling"},
                 {"A holds", Align::right},
                 {"B holds", Align::right},
                 {"jobs done", Align::right},
                 {"last ends", Align::right},
                 {"GPU-hours used", Align::right},
                 {"wasted", Align::right}});
    const auto add = [&](std::string name, const sim::PodJobsRun& run) {
        const auto done = std::ranges::count_if(
            run.jobs, [](const sim::PodJobEnd& job) { return job.ended >= 0; });
        std::int64_t last = 0;
        for (const sim::PodJobEnd& job : run.jobs) { last = std::max(last, job.ended); }
        table.add({std::move(name), fmt::format("{}", run.jobs[0].bound),
                   fmt::format("{}", run.jobs[1].bound), fmt::format("{} of 2", done),
                   done == 2 ? fmt::format("{} h", last / hour) : "never",
                   fmt::format("{}", run.useful_gpu_seconds / hour),
                   fmt::format("{}", run.wasted_gpu_seconds / hour)});
    };
    add("pod by pod", pods);
    add("gangs", gangs);
    stage.table(table);
    stage.check(pods.jobs[0].bound == 4 && pods.jobs[1].bound == 4 && pods.useful_gpu_seconds == 0,
                fmt::format("pod by pod: each holds 4 and waits for a fifth; {} GPU-hours wasted",
                            pods.wasted_gpu_seconds / hour));
    stage.check(gangs.jobs[0].ended == hour && gangs.jobs[1].ended == 2 * hour &&
                    gangs.wasted_gpu_seconds == 0,
                fmt::format("gangs: A, then B; both done after 2 hours, {} GPU-hours wasted",
                            gangs.wasted_gpu_seconds / hour));
}

namespace {

/// Where 8 tasks × 1 GPU go on three H100 nodes in one rack, `busy` GPUs of the first being taken.
std::optional<Placement> place_eight(std::int32_t busy, Engine& engine) {
    bool is_good = apply(engine, TopologySet{{{"rack", "rack"}}});
    for (const char* name : {"a", "b", "c"}) {
        NodeSpec node = node_of(name, 8, "NVIDIA H100 80GB HBM3");
        node.labels = {{"rack", "r1"}};
        is_good = is_good && apply(engine, NodeSet{std::move(node)});
    }
    for (const char* name : {"a", "b", "c"}) {
        const std::int32_t taken = name[0] == 'a' ? busy : 4;
        if (taken == 0) { continue; }
        const std::string owner = std::string("busy-") + name;
        WorkloadSpec other = gang_of(owner, 1, taken);
        other.groups[0].task.node_selector = {{"metadata.name", name}};
        is_good = is_good && apply(engine, WorkloadSet{std::move(other)});
    }
    engine.cycle();
    is_good = is_good && apply(engine, WorkloadSet{gang_of("train", 8, 1)});
    const Plan plan = engine.cycle();
    if (!is_good || plan.placements.size() != 1) { return std::nullopt; }
    return plan.placements[0];
}

}  // namespace

void show_topology(Stage& stage) {
    constexpr std::int32_t sensitivity = sensitivity_percent_default;
    stage.title("Distance costs time");
    stage.say("3 nodes × 8 H100 in a rack, b and c half used; a gang of 8 tasks × 1 GPU.");
    Table table({{"node a"},
                 {"placed on"},
                 {"farthest pair"},
                 {"all-reduce", Align::right},
                 {"expected time", Align::right}});
    std::int64_t near_percent = 0;
    std::int64_t far_percent = 0;
    std::size_t near_nodes = 0;
    for (const std::int32_t busy : {0, 4}) {
        Engine engine;
        const auto placement = place_eight(busy, engine);
        const auto cost =
            placement ? slowdown_of(*placement, engine.world(), sensitivity) : std::nullopt;
        if (!cost) { return stage.check(false, "the gang starts"); }
        (busy == 0 ? near_percent : far_percent) = cost->percent;
        if (busy == 0) { near_nodes = node_count(*placement); }
        table.add({busy == 0 ? "free" : "half used",
                   fmt::format("{} node{}", node_count(*placement),
                               node_count(*placement) == 1 ? "" : "s"),
                   std::string(words_of(cost->reach)), fmt::format("{} GB/s", cost->gbs),
                   fmt::format("{}.{:02} ×", cost->percent / 100, cost->percent % 100)});
    }
    stage.table(table);
    stage.check(near_nodes == 1 && near_percent == 100,
                "with a choice, all 8 go to the free NVLink node");
    stage.check(far_percent > 200,
                fmt::format("spread over nodes the same job takes {}.{:02} × as long, if {} % of "
                            "it is communication",
                            far_percent / 100, far_percent % 100, sensitivity));
}

Result<int> run_verb(const DemoOptions&, Terminal& terminal) {
    Stage stage(terminal);
    show_gangs(stage);
    show_deadlock(stage);
    show_topology(stage);
    show_replay(stage);
    show_jobs(stage);
    stage.say("");
    stage.say(
        fmt::format("{} of {} checks hold", stage.checks() - stage.failures(), stage.checks()));
    return stage.failures() == 0 ? exit_good : exit_waits;
}

}  // namespace muster::cli
