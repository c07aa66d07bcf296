// The engine is a function: facts in, plan out, nothing else decides. Same facts and policy, same
// plan, byte for byte, on any build. One thread owns an Engine; it reads no clock and logs nothing.
//
//   submit → queue admission → gang check → topology score → bind
#pragma once

#include "base/result.h"
#include "model/fact.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/snapshot.h"

#include <memory>
#include <optional>
#include <string_view>
#include <variant>

namespace muster {

struct World;

class Engine {
public:
    explicit Engine(Policy policy = {});
    ~Engine();
    Engine(Engine&&) noexcept;
    Engine& operator=(Engine&&) noexcept;

    /// Changes the World in place. A fact that makes no sense is refused whole and changes nothing.
    Result<> apply(const Fact& fact);

    /// Decides every workload whose answer could have changed since the last cycle.
    Plan cycle();

    /// What a cycle would answer if `workload` were submitted now, as the last of its queue;
    /// changes nothing. Refuses a name that is there already.
    Result<std::variant<Placement, Reason>> what_if(const WorkloadSpec& workload);

    /// Why a known workload waits, with the numbers of this moment; none when it runs or is not
    /// known. Changes nothing.
    std::optional<Reason> why(std::string_view workload);

    /// All it knows, between two cycles; and an engine that knows it. Whoever goes on from a
    /// snapshot decides the same: the engine it was taken of does only once it is restored from it
    /// too.
    [[nodiscard]] Snapshot snapshot() const;
    static Result<Engine> restore(const Snapshot& snapshot, Policy policy);
    /// A recorded plan in place of a cycle: nothing is decided. Before this engine decides again it
    /// is to be restored from its own snapshot.
    Result<> fold(const Plan& plan);

    [[nodiscard]] const World& world() const { return *world_; }

private:
    std::unique_ptr<World> world_;
};

}  // namespace muster
