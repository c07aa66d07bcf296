// What the command line asks for, as plain values; parse.cpp alone knows how it is written.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace muster::cli {

enum class Format : std::uint8_t { table, json };

struct ClusterOptions {
    std::vector<std::string> files;
    std::vector<std::string> topologies;  // Slurm's topology.conf or topology.yaml
};

struct PlanOptions {
    ClusterOptions cluster;
    std::vector<std::string> jobs;
    std::int32_t sensitivity_percent = 15;
    Format format = Format::table;
};

struct WhyOptions {
    ClusterOptions cluster;
    std::string job;
    Format format = Format::table;
};

struct ShapesOptions {
    ClusterOptions cluster;
    Format format = Format::table;
};

struct LintOptions {
    std::vector<std::string> files;
    ClusterOptions cluster;
    Format format = Format::table;
};

struct ScenarioOptions {
    std::vector<std::string> files;
    ClusterOptions cluster;  // to be written as a scenario
    bool is_updating = false;
    Format format = Format::table;
};

struct SimPlacementOptions {
    std::string nodes;
    std::string pods;
    std::string arrivals;
    std::string node_ranks;
    std::int32_t seed = 42;
    std::string policy = "muster";
    bool is_mix_learned = false;  // of muster: from the arrivals, not declared
    int offered_load = 0;         // percent; pods come and go at it; 0 = none leaves
    Format format = Format::table;
};

struct SimRandomOptions {
    std::uint64_t seed = 1;
    std::int64_t steps = 1'000;
    Format format = Format::table;
};

struct DemoOptions {};

struct VersionOptions {
    Format format = Format::table;
};

struct CompletionOptions {
    std::string shell;
};

using Options = std::variant<PlanOptions, WhyOptions, ShapesOptions, LintOptions, ScenarioOptions,
                             SimPlacementOptions, SimRandomOptions, DemoOptions, VersionOptions,
                             CompletionOptions>;

}  // namespace muster::cli
