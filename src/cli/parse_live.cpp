#include "cli/parse_live.h"

#include "cli/parse_ledger.h"

#include <CLI/CLI.hpp>

namespace muster::cli {

void add_live_options(CLI::App& app, LiveOptions& options) {
    app.add_option("--kubeconfig", options.kubeconfig,
                   "a running cluster; else KUBECONFIG, ~/.kube/config, or the pod's own")
        ->type_name("FILE");
    app.add_option("--context", options.context, "of the kubeconfig, in place of its current one")
        ->type_name("NAME");
    app.add_option("--names", options.names,
                   "schedulerNames of the pods that are Muster's, with commas between")
        ->type_name("NAMES")
        ->delimiter(',')
        ->default_str("muster,volcano");
}

void add_remote_options(CLI::App& app, RemoteOptions& options) {
    app.add_option("--server", options.server,
                   "asks a scheduler that runs, by its API; else MUSTER_SERVER")
        ->type_name("URL");
    app.add_option("--token-file", options.token_file, "a bearer token for it")->type_name("FILE");
    app.add_option("--certificate-authority", options.authority,
                   "whose certificates it may have, for https")
        ->type_name("PEM");
    app.add_option(
           "--service", options.service,
           "asks the one that runs in a cluster, through its API server's proxy, as kubectl "
           "muster does")
        ->type_name("NAMESPACE/NAME:PORT");
}

const char* const scheduler_examples = R"(
Pods with one of its schedulerNames are bound as whole gangs or not at all; conditions and events say
why one waits. One line per event goes to the error output. SIGTERM ends it: nothing is lost, the
ledger and the cluster know where it was.

  muster scheduler --ledger muster.ledger
  muster scheduler --ledger etcd://etcd-0:2379,etcd-1:2379/muster --etcd-cacert ca.crt --leader-elect)";

void add_scheduler_options(CLI::App& app, SchedulerVerbOptions& options) {
    add_live_options(app, options.live);
    app.add_option("--ledger", options.ledger,
                   "what was heard and decided, on record: a file, or for several replicas "
                   "etcd://HOST:PORT[,HOST:PORT]/PREFIX (etcd+http:// without TLS)")
        ->type_name("FILE")
        ->required();
    add_etcd_options(app, options.etcd);
    app.add_option("--keep-snapshots", options.keep_snapshots,
                   "of the ledger: the last N snapshots and all behind the first of them; 0 keeps "
                   "everything. Else 2 in etcd, and everything in a file")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
    auto* file = app.add_option("--policy", options.policy,
                                "what free shapes are worth; read again when it changes")
                     ->type_name("YAML");
    app.add_option("--policy-configmap", options.policy_configmap,
                   "the same in a ConfigMap that is followed; KEY is policy.yaml unless told")
        ->type_name("NAMESPACE/NAME[:KEY]")
        ->excludes(file);
    auto* audit = app.add_option("--audit-log", options.audit_log,
                                 "a line of JSON for each decision; - is the standard output")
                      ->type_name("FILE");
    app.add_option("--audit-log-megabytes", options.audit_log_megabytes,
                   "then it becomes FILE.1 and a new one begins")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
        ->needs(audit);
    app.add_option("--metrics", options.metrics,
                   "where /metrics, /healthz, /livez, /readyz and /api/v1 answer; port 0 is any "
                   "that is free")
        ->type_name("ADDRESS:PORT")
        ->capture_default_str();
    app.add_option("--controllers", options.controllers,
                   "what it runs beside: volcano makes the pods and groups of Volcano Jobs where "
                   "Volcano's own controller does not run")
        ->type_name("NAME")
        ->delimiter(',')
        ->check(CLI::IsMember({"volcano"}));
    auto* elect = app.add_flag("--leader-elect", options.is_elected,
                               "several replicas: the one that holds the lease decides");
    app.add_option("--lease", options.lease, "the Lease's name")
        ->type_name("NAME")
        ->capture_default_str()
        ->needs(elect);
    app.add_option("--lease-namespace", options.lease_namespace,
                   "where it is; else the namespace of the context or the pod")
        ->type_name("NAME")
        ->needs(elect);
    app.add_option("--lease-seconds", options.lease_seconds,
                   "after so long without a renewal another one leads")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{3}, std::int64_t{3'600}))
        ->needs(elect);
    app.add_option("--identity", options.identity, "of this replica; else host name and dice")
        ->type_name("NAME")
        ->needs(elect);
    app.add_option("--repair-seconds", options.repair_seconds,
                   "a gang below its minimum stops as a whole after so long; 0: never")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{86'400}));
    app.add_option("--critical-priority", options.critical_priority,
                   "for the metrics: workloads of at least this priority are critical")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--on-time-seconds", options.on_time_seconds,
                   "for the metrics: and should start within so long")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
}

}  // namespace muster::cli
