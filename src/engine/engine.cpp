#include "engine/engine.h"

#include "engine/decide.h"
#include "engine/world.h"

#include <fmt/format.h>

#include <utility>

namespace muster {

Engine::Engine(Policy policy) : world_(std::make_unique<World>(std::move(policy))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Result<> Engine::apply(const Fact& fact) { return world_->apply(fact); }

Plan Engine::cycle() { return run_cycle(*world_); }

Result<std::variant<Placement, Reason>> Engine::what_if(const WorkloadSpec& workload) {
    if (world_->find_workload(workload.name).is_valid()) {
        return fail(Code::conflict, fmt::format("workload {} is there already", workload.name));
    }
    MUSTER_TRY(id, world_->add(workload));
    world_->refresh();
    std::variant<Placement, Reason> answer = answer_for(*world_, id);
    world_->remove(id);
    return answer;
}

std::optional<Reason> Engine::why(std::string_view workload) {
    const WorkloadId id = world_->find_workload(workload);
    if (!id.is_valid() || !world_->workloads[id.value].is_waiting()) { return std::nullopt; }
    world_->refresh();
    auto answer = answer_for(*world_, id);
    if (auto* reason = std::get_if<Reason>(&answer)) { return std::move(*reason); }
    // It could start: the next cycle will say so. Until then the last answer stands.
    return world_->workloads[id.value].reason;
}

}  // namespace muster
