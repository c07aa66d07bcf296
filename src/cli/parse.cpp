#include "cli/parse.h"

#include "cli/parse_jobs.h"
#include "cli/parse_lab.h"
#include "cli/parse_ledger.h"
#include "cli/parse_live.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace muster::cli {

namespace {

constexpr const char* about = R"(Muster: a GPU cluster scheduler that places whole jobs or nothing.

Start here:
  muster demo                                        what it does, in a minute
  muster plan --cluster cluster.yaml -f job.yaml     would this job start, and where?
  muster why train --cluster cluster.yaml            why does it wait?)";

constexpr const char* plan_examples = R"(
Clusters are Kubernetes YAML or JSON (kubectl get nodes,pods -A -o json), .muster scenarios, or the
running one that kubectl talks to (KUBECONFIG, --kubeconfig, --context).
Exit code: 0 it starts, 1 it waits, 2 bad input.

  muster plan --cluster cluster.yaml -f job.yaml
  kubectl get nodes,pods -A -o json | muster plan --cluster - -f job.yaml
  muster plan -f job.yaml                      the running cluster, when KUBECONFIG names one
  muster plan --cluster nodes.json --topology topology.conf -f job.yaml -o json)";

constexpr const char* why_examples = R"(
The decision, link by link: submit, admit, gang, place, bind.
Exit code: 0 it runs, 1 it waits, 2 bad input.

  muster why train                             in the running cluster that KUBECONFIG names
  muster why train --cluster cluster.yaml
  muster why team-a/train --cluster cluster.yaml -o json)";

constexpr const char* shapes_examples = R"(
Twelve free GPUs may hold an 8-GPU job, or not. This tells what is free as shapes: whole nodes,
whole racks, MIG profiles, and the largest gang that each level of the topology could take.

  muster shapes --cluster cluster.yaml)";

constexpr const char* queue_examples_tree = R"(
Who is guaranteed how many GPUs, who holds them, and who waits for how many.

  muster queue --cluster cluster.yaml
  muster queue --server http://127.0.0.1:9469)";

constexpr const char* lint_examples = R"(
The slips that make a job wait for ever: a minimum over the replicas, GPUs left to the default
scheduler, a request without a limit, an unknown queue or level, a gang that no node can hold.
Exit code: 0 nothing found, 1 something found, 2 bad input.

  muster lint -f job.yaml
  muster lint -f job.yaml --cluster cluster.yaml)";

constexpr const char* scenario_examples = R"(
Runs .muster files: a cluster, jobs, and what must come of them. docs/guide/scenarios.md tells the
language. Exit code: 0 all as expected, 1 something is not, 2 a file can't be read.

  muster scenario tests/scenarios/cases/t01-two-gangs.muster
  muster scenario --update my.muster           rewrites the | blocks below `show`
  muster scenario --cluster cluster.yaml       writes a cluster as a scenario: a bug report)";

constexpr const char* placement_examples = R"(
Replays an openb trace (Alibaba, 1,213 nodes, 6,212 GPUs): pods arrive one by one and never leave.

  muster sim placement --nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv \
    --arrivals openb_pod_list_default.arrivals.csv.gz \
    --node-ranks openb_pod_list_default.nodeperm.csv.gz --seed 42 --policy fgd -o json)";

constexpr const char* random_examples = R"(
Random fleets, jobs and failures; the laws of the design are checked after every step. A seed that
fails is printed, and the same seed fails again. With --loop the whole control loop runs, with its
ledger and a cluster: messages get lost, processes stop anywhere, another leader takes over.

  muster sim random --seed 7 --steps 1000
  muster sim random --loop --seed 7 --steps 5000)";

/// The application and where its words go.
class Parser {
public:
    Parser() : app_(std::make_unique<CLI::App>(about, "muster")) {
        app_->require_subcommand(1);
        app_->get_formatter()->column_width(34);
        add_plan();
        add_why();
        add_shapes();
        add_queue_tree();
        add_lint();
        add_scenario();
        add_sim();
        add_ledger();
        add_lab();
        auto* scheduler = add("scheduler", "Schedules a running cluster until it is told to stop",
                              scheduler_examples, [this] { return scheduler_; });
        add_scheduler_options(*scheduler, scheduler_);
        auto* replay = add("replay", "Decides a ledger anew, with its policy or another one",
                           replay_examples, [this] { return replay_; });
        add_replay_options(*replay, replay_);
        add_format(replay, replay_.format);
        add("demo", "What Muster does, in a minute", "", [] { return DemoOptions{}; });
        auto* version = add("version", "Version and limits", "", [this] { return version_; });
        add_format(version, version_.format);
        auto* completion =
            add("completion", "Completion for a shell", "\n  source <(muster completion bash)",
                [this] { return completion_; });
        completion->add_option("shell", completion_.shell, "bash, zsh or fish")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    }

    std::variant<Options, Stop> parse(std::span<const std::string> words) {
        std::vector<std::string> reversed(words.rbegin(), words.rend());
        try {
            app_->parse(std::move(reversed));
        } catch (const CLI::CallForHelp&) {
            return Stop{.code = 0, .text = help()};
        } catch (const CLI::ParseError& error) {
            return Stop{
                .code = 2,
                .text = std::string(error.what()) + "\nmuster --help tells what there is\n"};
        }
        for (const auto& [app, make] : makers_) {
            if (app->parsed()) { return make(); }
        }
        return Stop{.code = 2, .text = help()};
    }

    [[nodiscard]] std::vector<Verb> verbs() const {
        std::vector<Verb> out;
        for (const auto& [app, make] : makers_) {
            Verb verb{.name = app->get_name(), .about = app->get_description(), .options = {}};
            verb.about.resize(std::min(verb.about.find('\n'), verb.about.size()));
            if (app->get_parent() != app_.get()) {
                verb.name = app->get_parent()->get_name() + " " + verb.name;
            }
            for (const CLI::Option* option : app->get_options()) {
                if (!option->get_lnames().empty()) {
                    verb.options.push_back("--" + option->get_lnames().front());
                } else if (!option->get_snames().empty()) {
                    verb.options.push_back("-" + option->get_snames().front());
                }
            }
            out.push_back(std::move(verb));
        }
        return out;
    }

private:
    template <class Make>
    CLI::App* add(const char* name, const char* what, const char* examples, Make make,
                  CLI::App* parent = nullptr) {
        CLI::App* app = (parent == nullptr ? app_.get() : parent)->add_subcommand(name, what);
        app->footer(examples);
        makers_.emplace_back(app, [make]() -> Options { return make(); });
        return app;
    }

    static void add_format(CLI::App* app, Format& format) {
        const std::map<std::string, Format> names = {{"table", Format::table},
                                                     {"json", Format::json}};
        app->add_option("-o,--output", format, "table or json")
            ->transform(CLI::CheckedTransformer(names).description(""))
            ->type_name("FORM");
    }

    static void add_cluster(CLI::App* app, ClusterOptions& cluster) {
        app->add_option("--cluster", cluster.files,
                        "what the cluster is: YAML, JSON or .muster; - reads from the input; "
                        "several make one cluster")
            ->type_name("FILE");
        add_live_options(*app, cluster.live);
        app->add_option("--topology", cluster.topologies,
                        "Slurm's topology.conf or topology.yaml, beside the nodes")
            ->type_name("FILE");
    }

    void add_plan() {
        auto* app = add("plan", "Would a job start now, and where? If not, why not?", plan_examples,
                        [this] { return plan_; });
        add_cluster(app, plan_.cluster);
        add_remote_options(*app, plan_.cluster.remote);
        app->add_option("-f,--file", plan_.jobs,
                        "the job, as you would submit it; - reads the input")
            ->type_name("FILE")
            ->required();
        app->add_option("-n,--namespace", plan_.space,
                        "of what names none; otherwise that of the kubeconfig's context")
            ->type_name("NAME");
        app->add_option("--sensitivity", plan_.sensitivity_percent,
                        "share of its time that the job communicates, in percent, when all of it "
                        "is on NVLink")
            ->type_name("PERCENT")
            ->capture_default_str()
            ->check(CLI::Range(0, 100));
        add_format(app, plan_.format);
    }

    void add_why() {
        auto* app = add("why", "Why a job waits, or where it runs, decision by decision",
                        why_examples, [this] { return why_; });
        app->add_option("job", why_.job, "its name, or namespace/name")->required();
        app->add_option("-n,--namespace", why_.space, "of the job")->type_name("NAME");
        add_cluster(app, why_.cluster);
        add_remote_options(*app, why_.cluster.remote);
        add_format(app, why_.format);
    }

    void add_shapes() {
        auto* app = add("shapes", "What is free, as shapes that a job can take", shapes_examples,
                        [this] { return shapes_; });
        add_cluster(app, shapes_.cluster);
        add_remote_options(*app, shapes_.cluster.remote);
        add_format(app, shapes_.format);
    }

    void add_queue_tree() {
        auto* app = add("queue", "The tree of queues: guaranteed, used, waiting, share",
                        queue_examples_tree, [this] { return queues_; });
        add_cluster(app, queues_.cluster);
        add_remote_options(*app, queues_.cluster.remote);
        add_format(app, queues_.format);
    }

    void add_lint() {
        auto* app = add("lint", "Finds the classic slips in a job", lint_examples,
                        [this] { return lint_; });
        app->add_option("-f,--file", lint_.files, "manifests to look at")
            ->type_name("FILE")
            ->required();
        add_cluster(app, lint_.cluster);
        add_format(app, lint_.format);
    }

    void add_scenario() {
        auto* app = add("scenario", "Runs scenarios: the tests and bug reports of the scheduler",
                        scenario_examples, [this] { return scenario_; });
        app->add_option("files", scenario_.files, "scenario files")->type_name("FILE");
        add_cluster(app, scenario_.cluster);
        app->add_flag("--update", scenario_.is_updating, "rewrite the | blocks below `show`");
        add_format(app, scenario_.format);
    }

    void add_sim() {
        auto* sim = app_->add_subcommand("sim", "Replays traces and random histories");
        sim->require_subcommand(1);
        auto* placement = add(
            "placement", "How full a real fleet gets", placement_examples,
            [this] { return placement_; }, sim);
        placement->add_option("--nodes", placement_.nodes, "node list")
            ->type_name("CSV")
            ->required();
        placement->add_option("--pods", placement_.pods, "pod list")->type_name("CSV")->required();
        placement->add_option("--arrivals", placement_.arrivals, "order of arrival by seed")
            ->type_name("CSV.GZ")
            ->required();
        placement->add_option("--node-ranks", placement_.node_ranks, "order of ties by seed")
            ->type_name("CSV.GZ")
            ->required();
        placement->add_option("--seed", placement_.seed, "which column")->capture_default_str();
        placement->add_option("--policy", placement_.policy, "muster, fgd or bestfit")
            ->capture_default_str()
            ->check(CLI::IsMember({"muster", "fgd", "bestfit"}))
            ->type_name("NAME");
        placement
            ->add_option("--offered-load", placement_.offered_load,
                         "pods come and go, asking for so many % of the GPUs")
            ->check(CLI::Range(1, 1'000))
            ->type_name("PERCENT");
        placement->add_flag("--learned-mix", placement_.is_mix_learned,
                            "muster learns the job mix from the arrivals; else it is declared");
        add_record_option(*placement, placement_.ledger);
        add_format(placement, placement_.format);
        auto* random = add(
            "random", "A random history; the laws are checked at each step", random_examples,
            [this] { return random_; }, sim);
        random->add_option("--seed", random_.seed, "of the history")->capture_default_str();
        random->add_option("--steps", random_.steps, "events")
            ->capture_default_str()
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}));
        random->add_flag("--loop", random_.is_loop, "the control loop under an adversary");
        add_record_option(*random, random_.ledger);
        add_format(random, random_.format);
        add_jobs(sim);
    }

    void add_jobs(CLI::App* sim) {
        queue_.policy = "easy";
        auto* queue = add(
            "queue", "A batch queue: jobs of a trace wait for processors", queue_examples,
            [this] { return queue_; }, sim);
        add_queue_options(*queue, queue_);
        add_format(queue, queue_.format);
        jobs_.policy = "fifo";
        auto* jobs = add(
            "jobs", "A pool of GPU nodes: jobs of a trace wait for GPUs", jobs_examples,
            [this] { return jobs_; }, sim);
        add_jobs_options(*jobs, jobs_);
        add_format(jobs, jobs_.format);
    }

    void add_ledger() {
        auto* ledger = app_->add_subcommand("ledger", "What was heard and decided, on record");
        ledger->require_subcommand(1);
        auto* show = add(
            "show", "The entries of a ledger", ledger_show_examples,
            [this] { return ledger_show_; }, ledger);
        add_ledger_show_options(*show, ledger_show_);
        add_format(show, ledger_show_.format);
        auto* verify = add(
            "verify", "Proves that a ledger is whole", ledger_verify_examples,
            [this] { return ledger_verify_; }, ledger);
        add_ledger_file(*verify, ledger_verify_.file, ledger_verify_.etcd);
        add_format(verify, ledger_verify_.format);
        auto* exported = add(
            "export", "A ledger as JSON lines", ledger_export_examples,
            [this] { return ledger_export_; }, ledger);
        add_ledger_export_options(*exported, ledger_export_);
    }

    void add_lab() {
        auto* lab = app_->add_subcommand("lab", "A GPU cluster on this machine, for kubectl");
        lab->require_subcommand(1);
        const auto add_action = [&](const char* name, const char* what, LabAction action,
                                    const char* examples) {
            LabVerbOptions& options = lab_[static_cast<std::size_t>(action)];
            options.action = action;
            auto* app = add(name, what, examples, [&options] { return options; }, lab);
            add_lab_options(*app, options);
        };
        add_action("up", "Starts it in the background and tells where it is", LabAction::up,
                   lab_up_examples);
        add_action("down", "Stops it; it stays as it is", LabAction::down, "");
        add_action("status", "Whether it runs, and what it holds", LabAction::status, "");
        add_action("reset", "Stops it and forgets all of it", LabAction::reset, "");
        add_action("run", "The lab itself, in the foreground", LabAction::run, "");
        const auto add_order = [&](const char* name, const char* what, LabOrder order,
                                   const char* examples) {
            LabOrderOptions& options = orders_[static_cast<std::size_t>(order)];
            options.order = order;
            auto* app = add(name, what, examples, [&options] { return options; }, lab);
            add_lab_order_options(*app, options);
        };
        add_order("fail", "Breaks a node or a GPU of it", LabOrder::fail, lab_fail_examples);
        add_order("heal", "Mends a node or a GPU", LabOrder::heal, lab_heal_examples);
        add_order("spot", "A node is taken back, after a notice", LabOrder::spot,
                  lab_spot_examples);
        add_order("pool", "Adds or removes nodes of a pool", LabOrder::pool, lab_pool_examples);
        auto* demo = add(
            "demo", "A demonstration that checks what it tells", lab_demo_examples,
            [this] { return lab_demo_; }, lab);
        add_lab_demo_options(*demo, lab_demo_);
    }

    /// Of the innermost subcommand that was named.
    [[nodiscard]] std::string help() const {
        const CLI::App* app = app_.get();
        std::string path = app->get_name();
        for (bool is_inner = true; is_inner;) {
            is_inner = false;
            for (const CLI::App* inner : app->get_subcommands()) {
                path += " " + inner->get_name();
                app = inner;
                is_inner = true;
                break;
            }
        }
        return app->get_formatter()->make_help(app, path, CLI::AppFormatMode::Normal);
    }

    std::unique_ptr<CLI::App> app_;
    std::vector<std::pair<CLI::App*, std::function<Options()>>> makers_;
    PlanOptions plan_;
    WhyOptions why_;
    ShapesOptions shapes_;
    QueueOptions queues_;
    LintOptions lint_;
    ScenarioOptions scenario_;
    SimPlacementOptions placement_;
    SimRandomOptions random_;
    SimJobsOptions queue_;
    SimJobsOptions jobs_;
    LedgerShowOptions ledger_show_;
    LedgerVerifyOptions ledger_verify_;
    LedgerExportOptions ledger_export_;
    ReplayOptions replay_;
    std::array<LabVerbOptions, 5> lab_;
    std::array<LabOrderOptions, 4> orders_;
    LabDemoOptions lab_demo_;
    SchedulerVerbOptions scheduler_;
    VersionOptions version_;
    CompletionOptions completion_;
};

}  // namespace

std::variant<Options, Stop> parse(std::span<const std::string> words) {
    return Parser().parse(words);
}

std::vector<Verb> verbs() { return Parser().verbs(); }

}  // namespace muster::cli
