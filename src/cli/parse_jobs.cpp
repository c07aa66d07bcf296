#include "cli/parse_jobs.h"

#include "cli/parse_ledger.h"

#include <CLI/CLI.hpp>

namespace muster::cli {

const char* const queue_examples = R"(
Replays a log of a parallel machine, such as those of the Parallel Workloads Archive, or jobs made
from a seed. docs/guide/simulate.md tells what is measured.

  muster sim queue --trace KTH-SP2-1996-2.1-cln.swf.gz --policy easy
  muster sim queue --trace lublin_256.swf --processors 256 --window 1981:1024 \
    --policy sjf --backfill window -o json
  muster sim queue --generate jobs=2000,load=85 --processors 128 --report queue.html)";

const char* const jobs_examples = R"(
Replays jobs on nodes of GPUs: a job that fits on one node is placed on one.
docs/guide/simulate.md tells formats, policies and what is measured.

  muster sim jobs --trace philly.csv --from '2017-10-01 00:00:00' --to '2017-11-30 23:59:00' \
    --nodes 64x8 --policy sjf-skip --report philly.html
  muster sim jobs --generate jobs=5000,load=95,mix=1:70/8:20/32:10 --nodes 32x8 --policy easy
  muster sim jobs --trace philly.csv --nodes 64x8 --policy muster --ledger philly.ledger)";

namespace {

void add_trace_options(CLI::App& app, SimJobsOptions& options) {
    auto* trace = app.add_option("--trace", options.trace, "jobs of a file, .gz too");
    trace->type_name("FILE");
    app.add_option("--format", options.trace_format,
                   "swf, philly, openb, gavel, tiresias or kubernetes; told by name and first line "
                   "when it can be")
        ->type_name("NAME");
    app.add_option_function<std::string>(
           "--generate",
           [&options](const std::string& text) {
               options.generate = text;
               options.is_generated = true;
           },
           "jobs made from a seed: jobs= load= (percent) mix=1:70/8:30 (sizes and weights) seed= "
           "shortest= longest= tail= (percent) request= (percent) users= queues= high= (percent)")
        ->type_name("KEY=N,…")
        ->excludes(trace);
    app.add_option("--from", options.from, "leave out jobs before; a time or seconds")
        ->type_name("TIME");
    app.add_option("--to", options.to, "leave out jobs after")->type_name("TIME");
    app.add_option("--window", options.window, "only so many jobs, from one on, counted from 0")
        ->type_name("START:COUNT");
    app.add_option("--speeds", options.speeds, "steps per second of Gavel's job types")
        ->type_name("JSON");
    app.add_option("--speeds-gpu", options.speeds_gpu, "and on which GPU")
        ->capture_default_str()
        ->type_name("NAME");
    app.add_option("--target", options.targets,
                   "seconds in which jobs of a priority class should start (3600); without a "
                   "class: all others")
        ->type_name("[CLASS=]SECONDS");
    app.add_option("--report", options.report, "also write a page with plots")->type_name("HTML");
    add_record_option(app, options.ledger);
}

}  // namespace

void add_queue_options(CLI::App& app, SimJobsOptions& options) {
    add_trace_options(app, options);
    app.add_option("--processors", options.processors, "of the machine; as the trace says if not")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}))
        ->type_name("N");
    app.add_option("--policy", options.policy, "fcfs, easy, conservative, sjf, sjf-skip or muster")
        ->capture_default_str()
        ->type_name("NAME");
    app.add_option("--backfill", options.backfill,
                   "window: with fcfs and sjf, jobs start that end before the blocked one could")
        ->check(CLI::IsMember({"none", "window"}))
        ->capture_default_str()
        ->type_name("HOW");
}

void add_jobs_options(CLI::App& app, SimJobsOptions& options) {
    add_trace_options(app, options);
    app.add_option("--nodes", options.nodes, "nodes and the GPUs of each: 64x8")
        ->required()
        ->type_name("NxG");
    app.add_option("--policy", options.policy, "fifo, easy, sjf, sjf-skip or muster")
        ->capture_default_str()
        ->type_name("NAME");
    app.add_option("--sensitivity", options.sensitivity_percent,
                   "share of its time that a job communicates, in percent: it runs longer when "
                   "its GPUs are apart; 0: the place does not matter")
        ->check(CLI::Range(0, 100))
        ->capture_default_str()
        ->type_name("PERCENT");
    app.add_option("--product", options.product, "whose bandwidths count then")
        ->capture_default_str()
        ->type_name("GPU");
    app.add_option("--nodes-per-leaf", options.nodes_per_leaf,
                   "how many share a leaf switch; 0: all")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str()
        ->type_name("N");
}

}  // namespace muster::cli
