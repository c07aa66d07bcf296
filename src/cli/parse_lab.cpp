#include "cli/parse_lab.h"

#include <CLI/CLI.hpp>

namespace muster::cli {

const char* const lab_up_examples = R"text(
A cluster with fake GPUs on this machine that the stock kubectl talks to. It stays as it was left,
also over a restart, until `muster lab reset`.

  eval "$(muster lab up --nodes 2x4)"
  kubectl get nodes
  muster lab up --like h100-superpod:4 --speed 60)text";

void add_lab_options(CLI::App& app, LabVerbOptions& options) {
    app.add_option("--folder", options.folder, "where the lab keeps what it is")
        ->type_name("FOLDER")
        ->envname("MUSTER_LAB");
    if (options.action != LabAction::up && options.action != LabAction::run) { return; }
    auto* nodes =
        app.add_option("--nodes", options.nodes, "NODESxGPUS, of a lab that has none yet");
    nodes->type_name("NxG")->capture_default_str();
    app.add_option(
           "--like", options.like,
           "h100-superpod:N (units of 32 nodes), gb200-nvl72:N (racks) or a100-mixed:N (nodes)")
        ->type_name("FLEET")
        ->excludes(nodes);
    app.add_option("--speed", options.speed, "lab seconds in a second")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
    app.add_option("--scheduler", options.scheduler, "muster, per-pod or none")
        ->type_name("NAME")
        ->capture_default_str()
        ->check(CLI::IsMember({"muster", "per-pod", "none"}));
    app.add_option("--port", options.port, "of the API; 0 is any that is free")
        ->type_name("N")
        ->check(CLI::Range(0, 65'535));
    app.add_flag("--http", options.is_http, "without TLS");
    app.add_flag("--memory", options.is_in_memory, "nothing of it outlives the process");
    app.add_flag("--only-api", options.is_only_api,
                 "no nodes, kubelets, controllers or scheduler, as a bare API server");
}

}  // namespace muster::cli
