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

std::optional<Reason> Engine::why(std::string_view workload) const {
    const WorkloadId id = world_->find_workload(workload);
    if (!id.is_valid()) { return std::nullopt; }
    const Workload& known = world_->workloads[id.value];
    return known.is_waiting() && known.has_reason ? std::optional(known.reason) : std::nullopt;
}

}  // namespace muster
