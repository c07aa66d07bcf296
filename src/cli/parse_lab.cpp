#include "cli/parse_lab.h"

#include <CLI/CLI.hpp>

namespace muster::cli {

const char* const lab_up_examples = R"text(
A cluster with fake GPUs on this machine that the stock kubectl talks to. It stays as it was left,
also over a restart, until `muster lab reset`.

  eval "$(muster lab up --nodes 2x4)"
  kubectl get nodes
  muster lab up --like h100-superpod:4 --speed 60
  kubectl get nodes -o yaml > nodes.yaml && muster lab up --cluster nodes.yaml)text";

const char* const lab_fail_examples = R"text(
A node that does not answer has Ready Unknown; its pods are evicted after five lab minutes. A GPU
with an XID that is the hardware's is not allocatable any more; 46, 48, 79, 94, 95, 119 and a few
others end the pods that hold it.

  muster lab fail node node-0
  muster lab fail node node-0 --flap 10s
  muster lab fail node node-0 --slow 3
  muster lab fail gpu node-0:3 --xid 79)text";

const char* const lab_heal_examples = R"text(
  muster lab heal node node-0
  muster lab heal gpu node-0:3)text";

const char* const lab_spot_examples = R"text(
A condition, an event and a NoExecute taint tell of it at once, so that pods leave with their grace;
when the notice is over, the node is gone.

  muster lab spot node-1 --notice 120s)text";

const char* const lab_pool_examples = R"text(
The label lab.muster/pool says which pool a node is of. New nodes have the shape of its last one;
those that go are drained first, the emptiest ones before others.

  muster lab pool grow node 2
  muster lab pool shrink node 1)text";

const char* const lab_demo_examples = R"text(
Each starts a lab of its own in a temporary folder, needs no kubectl, and exits with 1 when a claim
does not hold.

  deadlock   two gangs of 5 on 8 GPUs, pod by pod and whole
  topology   a gang on 16 racks' switches, pod by pod and close together
  mig        slices of cut GPUs, until none is left
  failure    a node fails under a gang that runs)text";

namespace {

void add_folder(CLI::App& app, std::string& folder) {
    app.add_option("--folder", folder, "where the lab keeps what it is")
        ->type_name("FOLDER")
        ->envname("MUSTER_LAB");
}

}  // namespace

void add_lab_order_options(CLI::App& app, LabOrderOptions& options) {
    add_folder(app, options.folder);
    switch (options.order) {
        case LabOrder::fail:
        case LabOrder::heal:
            app.add_option("what", options.what, "node or gpu")
                ->required()
                ->check(CLI::IsMember({"node", "gpu"}));
            app.add_option("target", options.target, "node-0, or node-0:3 for its GPU 3")
                ->required();
            break;
        case LabOrder::spot:
            app.add_option("node", options.target, "node-0")->required();
            app.add_option("--notice", options.notice, "lab time until it is gone")
                ->type_name("TIME")
                ->capture_default_str();
            break;
        case LabOrder::pool:
            app.add_option("what", options.what, "grow or shrink")
                ->required()
                ->check(CLI::IsMember({"grow", "shrink"}));
            app.add_option("pool", options.target, "value of the label lab.muster/pool")
                ->required();
            app.add_option("count", options.count, "how many nodes")->required();
            break;
    }
    if (options.order != LabOrder::fail) { return; }
    auto* why = app.add_option("--why", options.why, "what is said to have happened to the node");
    auto* flap = app.add_option("--flap", options.flap,
                                "the node goes for so long, comes back for so long, and again");
    flap->type_name("TIME")->excludes(why);
    app.add_option("--slow", options.slow, "the node takes so many times as long")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{2}, std::int64_t{1'000}))
        ->excludes(flap)
        ->excludes(why);
    app.add_option("--xid", options.xid, "what the GPU's driver reports")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000}));
}

void add_lab_demo_options(CLI::App& app, LabDemoOptions& options) {
    app.add_option("name", options.name, "deadlock, topology, mig or failure")
        ->required()
        ->check(CLI::IsMember({"deadlock", "topology", "mig", "failure"}));
}

void add_lab_options(CLI::App& app, LabVerbOptions& options) {
    add_folder(app, options.folder);
    if (options.action != LabAction::up && options.action != LabAction::run) { return; }
    auto* nodes =
        app.add_option("--nodes", options.nodes, "NODESxGPUS, of a lab that has none yet");
    nodes->type_name("NxG")->capture_default_str();
    app.add_option(
           "--like", options.like,
           "h100-superpod:N (units of 32 nodes), gb200-nvl72:N (racks) or a100-mixed:N (nodes)")
        ->type_name("FLEET")
        ->excludes(nodes);
    app.add_option(
           "--cluster", options.clusters,
           "nodes and other objects of a lab that has none yet: YAML or JSON of kubectl get, or a "
           ".muster file; several make one cluster")
        ->type_name("FILE")
        ->excludes(nodes)
        ->excludes("--like");
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
    app.add_flag("--taint-gpus", options.has_taints,
                 "GPU nodes get nvidia.com/gpu=present:NoSchedule, as in clouds")
        ->excludes("--cluster");
    app.add_flag("--http", options.is_http, "without TLS");
    app.add_flag("--memory", options.is_in_memory, "nothing of it outlives the process");
    app.add_flag("--only-api", options.is_only_api,
                 "no nodes, kubelets, controllers or scheduler, as a bare API server");
}

}  // namespace muster::cli
