// What the command line asks for, as plain values; parse.cpp alone knows how it is written.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace muster::cli {

enum class Format : std::uint8_t { table, json };

/// A running cluster, as kubectl finds it.
struct LiveOptions {
    std::string kubeconfig;
    std::string context;
    std::vector<std::string> names = {"muster", "volcano"};  // whose waiting pods are ours

    [[nodiscard]] bool is_told() const { return !kubeconfig.empty() || !context.empty(); }
};

/// A scheduler that runs, asked by its API: at a URL, or as a service of a running cluster.
struct RemoteOptions {
    std::string server;      // "http://127.0.0.1:9469"
    std::string token_file;  // for whoever guards it
    std::string authority;   // file; whose server certificates are taken
    std::string service;     // "namespace/name:port", behind the API server's proxy
};

struct ClusterOptions {
    std::vector<std::string> files;  // without any, the running cluster
    LiveOptions live;
    RemoteOptions remote;
    std::vector<std::string> topologies;  // Slurm's topology.conf or topology.yaml
};

struct PlanOptions {
    ClusterOptions cluster;
    std::vector<std::string> jobs;
    std::string space;  // of what names none; empty: the context's
    std::int32_t sensitivity_percent = 15;
    Format format = Format::table;
};

struct WhyOptions {
    ClusterOptions cluster;
    std::string job;
    std::string space;  // of the job; may be empty
    Format format = Format::table;
};

struct ShapesOptions {
    ClusterOptions cluster;
    Format format = Format::table;
};

struct QueueOptions {
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
    std::string ledger;           // file that the log is written to; policy muster only
    Format format = Format::table;
};

struct SimRandomOptions {
    std::uint64_t seed = 1;
    std::int64_t steps = 1'000;
    std::string ledger;
    bool is_loop = false;  // the whole loop around the engine, under an adversary
    Format format = Format::table;
};

/// `sim queue` and `sim jobs`: a trace of jobs, read or made, under a policy.
struct SimJobsOptions {
    std::string trace;
    std::string trace_format;  // empty: told by name and first line
    std::string from;          // a time or seconds, as the trace has them; both ends belong to it
    std::string to;
    std::string speeds;  // of Gavel's jobs
    std::string speeds_gpu = "v100";
    std::string generate;  // "jobs=1000,load=90", instead of a trace
    bool is_generated = false;
    std::int64_t processors = 0;  // of `sim queue`; 0: as the trace says
    std::string nodes;            // of `sim jobs`: "64x8"
    std::string policy;
    std::string window;             // "START:COUNT"
    std::string backfill = "none";  // or "window"
    std::vector<std::string> targets;
    std::int32_t sensitivity_percent = 0;
    std::string product = "H100";
    std::int32_t nodes_per_leaf = 0;
    std::string report;
    std::string ledger;  // file that the log is written to; policy muster only
    Format format = Format::table;
};

/// PEM files for a ledger in etcd.
struct EtcdFiles {
    std::string authority;
    std::string certificate;
    std::string key;
};

struct LedgerShowOptions {
    std::string file;
    EtcdFiles etcd;
    std::uint64_t from = 0;  // 0 = as many as `last` says
    std::uint64_t last = 20;
    Format format = Format::table;
};

struct LedgerVerifyOptions {
    std::string file;
    EtcdFiles etcd;
    Format format = Format::table;
};

struct LedgerExportOptions {
    std::string file;
    EtcdFiles etcd;
    std::string format = "jsonl";
};

/// Without a policy: decides the log anew and compares. With one: what it would have come to.
struct ReplayOptions {
    std::string file;
    EtcdFiles etcd;
    std::uint64_t from = 1;
    std::string policy;  // file
    std::string report;
    Format format = Format::table;
};

struct DemoOptions {};

struct VersionOptions {
    Format format = Format::table;
};

enum class LabAction : std::uint8_t { up, down, status, reset, run };

/// What is done to the machines of a lab that runs.
enum class LabOrder : std::uint8_t { fail, heal, spot, pool };
struct LabOrderOptions {
    LabOrder order = LabOrder::fail;
    std::string folder;
    std::string what;    // node or gpu; of a pool: grow or shrink
    std::string target;  // "node-0", "node-0:3", a pool
    std::string why = "failed";
    std::string flap;
    std::int64_t slow = 0;
    std::int64_t xid = 79;
    std::string notice = "120s";
    std::int64_t count = 1;
};

struct LabDemoOptions {
    std::string name;
};

/// `muster lab`: `run` is the lab's own process, the others are about it.
struct LabVerbOptions {
    LabAction action = LabAction::up;
    std::string folder;  // empty: in the user's home
    std::string nodes = "2x4";
    std::string like;
    std::vector<std::string> clusters;  // files
    std::int64_t speed = 1;
    std::string scheduler = "muster";
    std::uint16_t port = 0;
    bool has_taints = false;
    bool is_http = false;
    bool is_in_memory = false;
    bool is_only_api = false;
};

/// `muster scheduler`: for a running cluster, until it is told to stop.
struct SchedulerVerbOptions {
    LiveOptions live;
    std::string ledger;  // file, or address of etcd
    EtcdFiles etcd;
    std::int64_t keep_snapshots = -1;  // 0: everything is kept; -1: as the ledger's kind has it
    std::string policy;
    std::string policy_configmap;  // "namespace/name:key"
    std::string audit_log;
    std::int64_t audit_log_megabytes = 100;
    std::string metrics = "127.0.0.1:0";
    std::vector<std::string> controllers;
    bool is_elected = false;
    std::string lease = "muster";
    std::string lease_namespace;  // empty: the kubeconfig's or the pod's
    std::int64_t lease_seconds = 15;
    std::string identity;  // empty: the host's name and some dice
    std::int64_t critical_priority = 1;
    std::int64_t on_time_seconds = 60;
    std::int64_t repair_seconds = 60;  // 0: gangs are never given up
};

struct CompletionOptions {
    std::string shell;
};

using Options =
    std::variant<PlanOptions, WhyOptions, ShapesOptions, QueueOptions, LintOptions, ScenarioOptions,
                 SimPlacementOptions, SimRandomOptions, SimJobsOptions, LedgerShowOptions,
                 LedgerVerifyOptions, LedgerExportOptions, ReplayOptions, DemoOptions,
                 LabVerbOptions, LabOrderOptions, LabDemoOptions, SchedulerVerbOptions,
                 VersionOptions, CompletionOptions>;

}  // namespace muster::cli
