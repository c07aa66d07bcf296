// What the engine's benchmarks share: a fleet of 8-GPU nodes in spines, leaves and racks, workloads
// of one line each, and a stopwatch of CPU time, since other work shares the machine.
#pragma once

#include "engine/engine.h"
#include "engine/world.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace benchmark {
class State;
}

namespace muster {

inline constexpr int gpus_per_node = 8;
inline constexpr int nodes_per_rack = 16;
inline constexpr int nodes_per_leaf = 128;
inline constexpr int nodes_per_spine = 1'024;

/// A 64-bit linear congruential generator: the same numbers on every machine.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}
    std::uint32_t roll(std::uint32_t sides) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::uint32_t>((state_ >> 33) % sides);
    }

private:
    std::uint64_t state_;
};

NodeSpec fleet_node(int index);
std::unique_ptr<Engine> make_fleet(std::int64_t gpus);

/// One role: `tasks` × `gpus` whole GPUs with 12 CPUs each; `level` is required unless empty.
WorkloadSpec job(std::string name, int tasks, int gpus, const std::string& level = "");
/// What inference clusters see: shares, whole GPUs and CPU-only pods, some 60 different ones.
WorkloadSpec mixed_pod(std::string name, Dice& dice);

void apply_or_die(Engine& engine, const Fact& fact);
/// Single pods of 1, 2, 4 and 8 GPUs until `percent` of the GPUs are taken.
void fill_with_pods(Engine& engine, std::int64_t gpus, int percent);

/// The World behind an engine, to measure its parts.
World& world_of(Engine& engine);

std::int64_t cpu_nanoseconds();

/// Collects one figure per iteration; reports the median and the mean per operation.
class Samples {
public:
    void start() { started_ = cpu_nanoseconds(); }
    /// Seconds since `start`.
    double stop(std::int64_t operations);
    /// Sets the counters `median_us` and `mean_us`.
    void report(benchmark::State& state);

private:
    std::int64_t started_ = 0;
    std::vector<double> microseconds_;
};

}  // namespace muster
