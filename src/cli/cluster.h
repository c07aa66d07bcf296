// A cluster out of files, or a running one, in an engine that has decided once: what runs, runs;
// what could start, has started; the rest waits with its reason.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "dialect/kubernetes.h"
#include "engine/engine.h"
#include "model/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

struct Cluster {
    Engine engine;
    std::vector<Fact> facts;  // as the engine took them
    std::vector<dialect::Warning> warnings;
    std::vector<dialect::RefusedWorkload> refused;
    dialect::KubernetesContext context;
    Plan plan;  // of the one cycle

    void take(dialect::ClusterInput input);
};

/// Bad input is an error that names file, place, found and expected; nothing is half-read.
Result<Cluster> load_cluster(const ClusterOptions& options);

/// Whole file, or the input for "-".
Result<SourceText> read_source(const std::string& path);
Result<std::vector<SourceText>> read_sources(const std::vector<std::string>& paths);

}  // namespace muster::cli
