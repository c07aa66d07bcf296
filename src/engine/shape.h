// A shape is a task's needs, compiled once: tasks that ask for the same share one shape, whatever
// they are called. Owned by the World, counted by the groups that use it.
#pragma once

#include "engine/match.h"
#include "engine/space.h"
#include "model/task.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster {

using ShapeId = Id<struct ShapeTag>;

struct NodePreference {
    std::vector<Match> matches;
    std::int32_t weight = 0;
};

struct Shape {
    TaskSpec spec;  // without labels, which do not matter to the fit
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;
    std::vector<std::pair<Symbol, std::int64_t>> extended;
    std::uint64_t models = ~std::uint64_t{0};  // bit i: GPUs of model i will do
    std::vector<Match> node_selector;
    std::vector<std::vector<Match>> required;  // any one must hold
    std::vector<std::vector<Match>> implied;   // any one must hold
    std::vector<NodePreference> preferred;
    std::uint32_t users = 0;
};

/// The label keys that a shape looks at on nodes; keys of node classes (see world.h).
std::vector<Symbol> keys_of(const Shape& shape);

class ShapeTable {
public:
    /// A reference more on the shape of `task`, compiled if it is new. Ids are used again.
    ShapeId acquire(const TaskSpec& task, Symbols& symbols, std::vector<std::string>& gpu_models);
    /// One reference more on a live shape.
    void share(ShapeId id) { ++shapes_[id.value].users; }
    void release(ShapeId id);
    [[nodiscard]] const Shape& at(ShapeId id) const { return shapes_[id.value]; }
    [[nodiscard]] std::size_t size() const { return shapes_.size(); }

private:
    std::vector<Shape> shapes_;
    std::vector<std::string> keys_;
    std::vector<ShapeId> free_;
    std::unordered_map<std::string, ShapeId> ids_;
};

/// Bit index of a GPU product name, added when new; gpu_models_max names at the most (the last bit
/// then stands for all others).
std::uint32_t gpu_model_index(std::vector<std::string>& gpu_models, const std::string& name);

}  // namespace muster
