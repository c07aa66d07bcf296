#include "engine/engine.h"

#include "engine/decide.h"
#include "engine/world.h"

#include <fmt/format.h>

#include <utility>

namespace muster {

namespace {

/// What a cycle would answer; nothing of the World is another one after it.
std::variant<Placement, Reason> ask(World& world, WorkloadId id) {
    world.refresh();
    World::LentValues lent = world.lend_values();
    auto answer = answer_for(world, id);
    world.put_back(std::move(lent));
    return answer;
}

}  // namespace

Engine::Engine(Policy policy) : world_(std::make_unique<World>(std::move(policy))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Result<> Engine::apply(const Fact& fact) { return world_->apply(fact); }

Plan Engine::cycle() { return run_cycle(*world_); }

Snapshot Engine::snapshot() const { return world_->snapshot(); }

Result<Engine> Engine::restore(const Snapshot& snapshot, Policy policy) {
    Engine engine(std::move(policy));
    MUSTER_CHECK(engine.world_->restore(snapshot));
    return engine;
}

Result<> Engine::fold(const Plan& plan) { return world_->fold(plan); }

Result<std::variant<Placement, Reason>> Engine::what_if(const WorkloadSpec& workload) {
    if (world_->find_workload(workload.name).is_valid()) {
        return fail(Code::conflict, fmt::format("workload {} is there already", workload.name));
    }
    const std::size_t gpu_models = world_->gpu_models.size();
    MUSTER_TRY(id, world_->add(workload));
    std::variant<Placement, Reason> answer = ask(*world_, id);
    world_->remove(id);
    world_->gpu_models.resize(gpu_models);  // a name that only the question knew
    return answer;
}

std::optional<Reason> Engine::why(std::string_view workload) {
    const WorkloadId id = world_->find_workload(workload);
    if (!id.is_valid() || !world_->workloads[id.value].is_waiting()) { return std::nullopt; }
    auto answer = ask(*world_, id);
    if (auto* reason = std::get_if<Reason>(&answer)) { return std::move(*reason); }
    // It could start: the next cycle will say so. Until then the last answer stands, if there is
    // one.
    const Reason* last = world_->workloads[id.value].reason.get();
    if (last != nullptr) { return *last; }
    Reason reason;
    reason.link = ChainLink::bind;
    reason.text = "nothing keeps it from starting; the next cycle decides";
    return reason;
}

}  // namespace muster
