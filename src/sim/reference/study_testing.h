// For tests of the studies: the data folder, or none and the test says that it was skipped; and a
// small cluster made by hand.
#pragma once

#include "sim/openb_study.h"
#include "sim/reference/fgd.h"
#include "sim/reference/replay.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::sim {

inline std::optional<std::filesystem::path> data_folder() {
    const char* folder = std::getenv("MUSTER_DATA");
    return folder == nullptr ? std::nullopt : std::optional<std::filesystem::path>(folder);
}

#define MUSTER_NEEDS_DATA(folder)                                                                  \
    const auto folder = data_folder();                                                             \
    if (!folder) { GTEST_SKIP() << "MUSTER_DATA is not set: no real traces"; }

inline ReplayPolicy fgd_policy(const OpenbStudy& study) {
    return {.score = Fgd(FragmentMeasure(study.common_classes(), study.models.size()))};
}

struct TestNode {
    std::int64_t milli_cpu = 96'000;
    std::int32_t gpu_count = 8;
    std::uint32_t model = 0;
};

/// Nodes of models "m0" and "m1" with plenty of memory, and no pods.
inline OpenbStudy study_of(const std::vector<TestNode>& nodes) {
    OpenbStudy study;
    study.list = "by hand";
    study.models = {"m0", "m1"};
    for (const TestNode& node : nodes) {
        study.nodes.push_back({.name = "n" + std::to_string(study.nodes.size()),
                               .milli_cpu = node.milli_cpu,
                               .memory_mib = 1000,
                               .gpu_count = node.gpu_count,
                               .model = study.models[node.model]});
        study.node_model.push_back(node.model);
    }
    return study;
}

}  // namespace muster::sim
