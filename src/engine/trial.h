// The undoable way to look for a plan, and the only one that changes the World inside a cycle.
// What was not committed is undone by the destructor.
#pragma once

#include "engine/queue_tree.h"
#include "engine/world.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace muster {

class Trial {
public:
    using Mark = std::size_t;

    explicit Trial(World& world) : world_(world) {}
    ~Trial() { roll_back_to(0); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    [[nodiscard]] Mark mark() const { return steps_.size(); }
    void roll_back_to(Mark mark);

    /// Takes the best devices of the node; false, and nothing changed, when the task does not fit
    /// there or a cap of its queues is in the way.
    bool place(TaskRef ref, NodeId node);
    /// The cap that stood in the way of a placement, if one did since the start.
    [[nodiscard]] const std::optional<CapBlock>& capped() const { return capped_; }

    /// Tasks placed since `mark` and still in place, in the order of their placement.
    [[nodiscard]] std::vector<TaskRef> placed_since(Mark mark) const;

    void commit() { steps_.clear(); }

private:
    World& world_;
    std::vector<TaskRef> steps_;  // placed, in order
    std::optional<CapBlock> capped_;
};

}  // namespace muster
