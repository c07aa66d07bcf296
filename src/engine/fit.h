// One task against one node: how many would fit, what keeps them out, which devices they would
// get, and what taking them changes. Pure functions over a Machine and the Space.
#pragma once

#include "engine/machine.h"
#include "engine/shape.h"
#include "engine/value.h"
#include "model/fact.h"
#include "model/plan.h"

#include <optional>

namespace muster {

inline constexpr std::uint16_t fits_max = UINT16_MAX;

struct Fit {
    std::uint16_t count = 0;  // tasks of the shape, one after the other; fits_max bounds it
    CauseSet causes = 0;      // why none fits; empty when one does
    bool is_possible = true;  // the node would hold one if it were empty
};

constexpr CauseSet bit(Cause cause) {
    return static_cast<CauseSet>(1U << static_cast<unsigned>(cause));
}

/// Its selector and required terms hold; `implied` is not looked at.
bool is_selected(const Shape& shape, const Machine& machine, const Symbols& symbols);

/// What no release on the node can change; the same for all nodes of a class.
CauseSet static_causes(const Shape& shape, const Machine& machine, const Symbols& symbols);

/// GPUs that tasks of the shape may use at all; the same for all nodes of a class.
std::uint64_t usable_gpus(const Shape& shape, const Machine& machine);

/// Resources and devices only; `static_causes` must be empty.
Fit fit(const Shape& shape, const Machine& machine, NodeId node, const Space& space,
        std::uint64_t usable);

/// The devices that one task gets; none when it does not fit (also for CPU, memory, pods …).
std::optional<Devices> choose_devices(const Shape& shape, const Machine& machine, NodeId node,
                                      const Space& space, DeviceTable& table,
                                      const ValueModel& values);

/// True when they are as many as are asked for.
bool has_count(const Shape& shape, const Devices& devices);

/// True when the very devices that a fact names are free.
bool are_free(const Shape& shape, const Machine& machine, const Devices& devices,
              const Space& space);

/// Those of the devices that are there and free.
Devices free_part(const Shape& shape, const Machine& machine, const Devices& devices,
                  const Space& space);

enum class Taking : std::int8_t { take = 1, give = -1 };
void change(Space& space, Taking taking, const Shape& shape, const Machine& machine, NodeId node,
            const Devices& devices);

/// What is open on a node and its value; the World remembers it until the node changes.
struct OpenValue {
    NodeSum sum;
    Value value = 0;
    bool is_known = false;
};
OpenValue open_now(const Machine& machine, NodeId node, const Space& space,
                   const ValueModel& values);
/// What the best devices for one task of the shape take from it.
Value value_lost(const Shape& shape, const Machine& machine, const Space& space,
                 const ValueModel& values, const OpenValue& before, std::uint64_t usable);

/// Thousandths of a GPU and MiB that a share or MIG instance takes of a device.
struct ShareNeed {
    std::int32_t milli = 0;
    std::int32_t mib = 0;
};
ShareNeed share_of(const GpuNeed& need, std::int32_t memory_mib);
/// An instance by its memory slices, which weigh at least as much as its compute ones.
std::int64_t mig_milli(const Shape& shape, const ModelGpus& gpus);

}  // namespace muster
