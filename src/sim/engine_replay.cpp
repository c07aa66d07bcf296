#include "sim/engine_replay.h"

#include "engine/engine.h"
#include "engine/fit.h"
#include "engine/world.h"
#include "sim/cpu_time.h"
#include "sim/departures.h"
#include "sim/fragment.h"
#include "sim/openb_study.h"

#include <map>

namespace muster::sim {

namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

NodeSpec node_of(const dialect::OpenbNode& from, std::uint32_t rank) {
    NodeSpec node;
    node.name = from.name;
    node.rank = static_cast<std::int32_t>(rank);
    node.allocatable.milli_cpu = from.milli_cpu;
    node.allocatable.memory = from.memory_mib * mebi;
    node.pods = 1'000'000;
    GpuSpec gpu;
    gpu.model = from.model;
    node.gpus.assign(static_cast<std::size_t>(from.gpu_count), gpu);
    return node;
}

TaskSpec task_of(const Request& request, const std::vector<std::string>& models) {
    TaskSpec task;
    task.request.milli_cpu = request.milli_cpu;
    task.request.memory = request.memory_mib * mebi;
    if (request.gpu_count == 0) { return task; }
    const bool is_share = request.gpu_milli < gpu_milli_whole;
    task.gpu.kind = is_share ? GpuKind::share : GpuKind::whole;
    task.gpu.count = request.gpu_count;
    task.gpu.milli = is_share ? request.gpu_milli : 0;
    for (std::size_t i = 0; i < models.size() && request.models != any_model; ++i) {
        if ((request.models >> i & 1) != 0) { task.gpu.models.push_back(models[i]); }
    }
    return task;
}

Policy policy_of(const OpenbStudy& study, bool is_declared) {
    Policy policy;
    if (!is_declared) { return policy; }
    std::map<MixClass, std::int64_t> counts;
    for (const Request& request : study.requests) { ++counts[request.mix_class()]; }
    for (const auto& [kind, count] : counts) {
        MixEntry entry{.milli_cpu = kind.milli_cpu,
                       .gpu_milli = kind.gpu_milli,
                       .gpu_count = kind.gpu_count,
                       .models = {},
                       .weight = count};
        for (std::size_t i = 0; i < study.models.size() && kind.models != any_model; ++i) {
            if ((kind.models >> i & 1) != 0) { entry.models.push_back(study.models[i]); }
        }
        policy.mix.push_back(std::move(entry));
    }
    return policy;
}

std::int64_t fragmented_on(const World& world, NodeId id, const FragmentMeasure& fragments,
                           const OpenbStudy& study) {
    const Machine& machine = world.machines[id.value];
    std::vector<std::int32_t> free;
    for (std::uint32_t gpu = 0; gpu < machine.gpu_count(); ++gpu) {
        free.push_back(world.space.gpus[machine.gpu_begin + gpu].milli);
    }
    return fragments.fragmented({.milli_cpu = world.space.nodes[id.value].milli_cpu,
                                 .gpu_free_milli = free,
                                 .model = study.node_model[id.value]});
}

/// The engine with the study's nodes, and its pods as facts.
struct Host {
    Engine engine;
    Recorder recorder;
    std::vector<TaskSpec> tasks;  // by pod

    static Result<Host> make(const OpenbStudy& study, const std::vector<std::uint32_t>& ranks,
                             EngineReplayOptions& options) {
        const Policy policy = policy_of(study, options.is_mix_declared);
        MUSTER_TRY(recorder, Recorder::open(std::move(options.record), policy));
        Host host{Engine(policy), std::move(recorder), {}};
        for (std::size_t i = 0; i < study.nodes.size(); ++i) {
            MUSTER_CHECK(host.apply(NodeSet{node_of(study.nodes[i], ranks[i])}));
        }
        for (const Request& request : study.requests) {
            host.tasks.push_back(task_of(request, study.models));
        }
        return host;
    }

    Result<> apply(const Fact& fact) {
        auto done = engine.apply(fact);
        recorder.heard(fact, done);
        return done;
    }

    /// Its node; invalid when it was refused. It is tried once.
    Result<NodeId> place(const std::string& name, std::uint32_t pod) {
        WorkloadSpec workload;
        workload.name = name;
        workload.groups.emplace_back().task = tasks[pod];
        MUSTER_CHECK(apply(WorkloadSet{workload}));
        const Plan plan = engine.cycle();
        MUSTER_CHECK(recorder.decided(plan));
        if (!plan.placements.empty()) {
            return engine.world().find_node(plan.placements[0].tasks[0].node);
        }
        MUSTER_CHECK(apply(WorkloadGone{name}));
        return NodeId{};
    }
};

}  // namespace

Result<EngineReplayResult> replay_with_engine(const OpenbStudy& study,
                                              EngineReplayOptions options) {
    MUSTER_TRY(arrivals, study.arrivals(options.seed));
    MUSTER_TRY(ranks, study.ranks(options.seed));
    MUSTER_TRY(host, Host::make(study, ranks, options));
    Engine& engine = host.engine;

    EngineReplayResult result{.measure = PlacementMeasure(study.gpu_milli_total())};
    const FragmentMeasure fragments(study.common_classes(), study.models.size());
    std::vector<std::int64_t> fragmented(study.nodes.size(), 0);
    std::int64_t fragmented_total = 0;
    const auto refresh = [&](NodeId id) {
        fragmented_total -= fragmented[id.value];
        fragmented[id.value] = fragmented_on(engine.world(), id, fragments, study);
        fragmented_total += fragmented[id.value];
    };
    for (std::size_t i = 0; i < study.nodes.size() && options.measure_fragments; ++i) {
        refresh(NodeId(i));
    }

    std::int64_t used = 0;
    const std::int64_t begin = cpu_nanoseconds();
    for (const std::uint32_t pod : arrivals) {
        MUSTER_TRY(node, host.place("p" + std::to_string(result.arrived++), pod));
        if (node.is_valid()) {
            ++result.placed;
            used += study.requests[pod].gpu_demand();
            if (options.measure_fragments) { refresh(node); }
        }
        result.measure.add({.arrived_milli = study.requests[pod].gpu_demand(),
                            .used_milli = used,
                            .fragmented_milli = fragmented_total / fragments.weight()});
    }
    result.cpu_ns = cpu_nanoseconds() - begin;
    return result;
}

Result<DepartureResult> replay_departures_with_engine(const OpenbStudy& study,
                                                      const DepartureTrace& trace,
                                                      EngineReplayOptions options) {
    MUSTER_TRY(ranks, study.ranks(openb_seed_first + options.seed % 10));
    MUSTER_TRY(host, Host::make(study, ranks, options));
    Result<> failed;
    const auto keep = [&](const auto& result) {
        if (!result && failed) { failed = tl::unexpected(result.error()); }
    };
    const auto name_of = [](std::size_t stay) { return "p" + std::to_string(stay); };
    const DepartureHost side{
        .place =
            [&](std::size_t stay) {
                const Result<NodeId> node = host.place(name_of(stay), trace.stays[stay].pod);
                keep(node);
                return node && node->is_valid();
            },
        .leave = [&](std::size_t stay) { keep(host.apply(WorkloadGone{name_of(stay)})); }};
    const DepartureResult result = run_departures(study, trace, side);
    if (!failed) { return tl::unexpected(failed.error()); }
    return result;
}

}  // namespace muster::sim
