// The demo's long run: two months of a GPU pool through the production loop, with a crash in the
// middle, a proof, and another policy. Without the traces a made one.
#include "cli/demo.h"
#include "cli/what_if_text.h"
#include "codec/binary.h"
#include "control/loop.h"
#include "control/replay.h"
#include "ledger/store_sqlite.h"
#include "ledger/verify.h"
#include "sim/engine_jobs.h"
#include "sim/file.h"
#include "sim/job_generate.h"
#include "sim/job_measures.h"
#include "sim/job_report.h"
#include "sim/reference/job_replay.h"
#include "sim/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unistd.h>

namespace muster::cli {

namespace {

constexpr std::int64_t philly_from = 1'506'816'000;  // 2017-10-01 00:00:00
constexpr std::int64_t philly_to = 1'512'086'340;    // 2017-11-30 23:59:00

/// Removed at the end, with all that is in it.
class Folder {
public:
    Folder()
        : path_(std::filesystem::temp_directory_path() / fmt::format("muster-demo-{}", getpid())) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::string file(std::string_view name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

struct Pool {
    sim::JobTrace trace;
    sim::Machine machine;
};

Result<Pool> make_pool(const Stage& stage) {
    if (stage.data_folder().empty()) {
        Pool made{.machine = {.nodes = 32, .per_node = 8}};
        MUSTER_TRY(generator, sim::parse_generator("jobs=5000,load=95,mix=1:70/3:15/6:10/8:5"));
        made.trace = sim::generate_jobs(generator, made.machine.capacity());
        made.trace.unit = sim::JobUnit::gpu;
        MUSTER_CHECK(sim::prepare(made.trace, {}, {}));
        return made;
    }
    MUSTER_TRY(trace, sim::load_job_trace({.file = stage.data_folder() + "/sia-sosp23/philly.csv",
                                           .format = "philly",
                                           .span = {.from_s = philly_from, .to_s = philly_to}}));
    return Pool{.trace = std::move(trace), .machine = {.nodes = 64, .per_node = 8}};
}

/// Cycles before the crash, of about two for each job. The run without one has its only snapshot
/// there: an engine that goes on from what is on record looks at everything again, so both must.
std::uint64_t crash_at(const Pool& pool) { return pool.trace.jobs.size(); }

std::string hours(double seconds) { return fmt::format("{:.1f} h", seconds / 3'600); }

/// Peers and the engine on the same jobs.
Result<sim::JobRun> show_pool(Stage& stage, const Pool& pool) {
    stage.title("Months of a GPU pool in seconds");
    if (stage.data_folder().empty()) { stage.say("A made trace, as the real ones are not here."); }
    stage.say(fmt::format("{} jobs on {} nodes × {} GPUs, in virtual time.",
                          with_commas(static_cast<std::int64_t>(pool.trace.jobs.size())),
                          pool.machine.nodes, pool.machine.per_node));
    Table table({{"policy"},
                 {"mean wait", Align::right},
                 {"until it ended", Align::right},
                 {"idle", Align::right},
                 {"CPU", Align::right}});
    const auto add = [&](const sim::JobRun& run) {
        const sim::JobMeasures measures = sim::measure(pool.trace, run);
        constexpr std::int64_t milliseconds = 1'000'000;
        table.add({run.policy, hours(measures.wait_s.mean), hours(measures.jct_s.mean),
                   fmt::format("{:.1f} %", 100 * measures.idle_share),
                   fmt::format("{} ms", with_commas(run.cpu_ns / milliseconds))});
        return measures;
    };
    double fifo_jct = 0;
    for (const char* policy : {"fifo", "easy"}) {
        MUSTER_TRY(run, sim::replay_jobs(pool.trace, {.machine = pool.machine, .policy = policy}));
        const sim::JobMeasures measures = add(run);
        if (fifo_jct == 0) { fifo_jct = measures.jct_s.mean; }
    }
    MUSTER_TRY(run, sim::run_jobs_with_engine(pool.trace, {.cluster = {.machine = pool.machine},
                                                           .engine_version = MUSTER_VERSION,
                                                           .snapshot_every = crash_at(pool)}));
    const sim::JobMeasures measures = add(run);
    stage.table(table);
    stage.check(measures.unfinished == 0 && measures.jct_s.mean < fifo_jct,
                fmt::format("the engine runs every job, and in {:.0f} % less time than FIFO",
                            100 * (1 - measures.jct_s.mean / fifo_jct)));
    const std::string page = std::filesystem::temp_directory_path() / "muster-demo.html";
    MUSTER_CHECK(sim::write_file(page, sim::job_report(pool.trace, run, measures)));
    stage.say("     its page, with plots: " + page);
    return std::move(run);
}

Result<Loop> lead(sim::VirtualJobs& cluster, const std::string& file, int entries_per_commit) {
    MUSTER_TRY(store, open_sqlite_store(
                          file, {.is_synced = false, .entries_per_commit = entries_per_commit}));
    return Loop::start({cluster, cluster, cluster, cluster}, std::move(store),
                       {.leader = "demo", .engine_version = MUSTER_VERSION, .patience_ms = 0});
}

/// True when there is more to come.
Result<bool> turn(Loop& loop, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
        MUSTER_TRY(decision, loop.turn());
        if (!decision) { return false; }
    }
    return true;
}

/// What a process leaves that is gone without a word: its files, as they lie at that moment.
Result<> leave_behind(const std::string& from, const std::string& to) {
    for (const char* part : {"", "-wal", "-mark"}) {
        std::error_code failed;
        std::filesystem::copy_file(from + part, to + part, failed);
        if (failed) { return fail(Code::unavailable, from + part + ": " + failed.message()); }
    }
    return {};
}

bool have_same_starts(const sim::JobRun& a, const sim::JobRun& b) {
    return std::ranges::equal(a.outcomes, b.outcomes,
                              [](const sim::JobOutcome& one, const sim::JobOutcome& other) {
                                  return one.start_s == other.start_s && one.end_s == other.end_s;
                              });
}

/// Writes the ledger `file`, half by a leader that dies, half by the one that takes over.
Result<> show_crash(Stage& stage, const Pool& pool, const sim::JobRun& whole, const Folder& folder,
                    const std::string& file) {
    stage.title("A crash in the middle of it");
    const std::uint64_t half = crash_at(pool);
    sim::VirtualJobs cluster(pool.trace, {.machine = pool.machine});
    std::string known;
    {
        MUSTER_TRY(loop, lead(cluster, folder.file("dead"), 1));
        MUSTER_TRY(has_more, turn(loop, half));
        if (!has_more) { return fail(Code::invalid, "the run ended before the crash"); }
        known = encode(loop.engine().snapshot());
        MUSTER_CHECK(leave_behind(folder.file("dead"), file));
        stage.say(fmt::format("The scheduler dies after {} decisions; the cluster runs on.",
                              with_commas(static_cast<std::int64_t>(half))));
    }
    MUSTER_TRY(loop, lead(cluster, file, 1'000));
    stage.check(encode(loop.engine().snapshot()) == known,
                fmt::format("the next one reads the ledger ({} entries) and knows the same, byte "
                            "for byte",
                            with_commas(static_cast<std::int64_t>(loop.ledger().last().sequence))));
    MUSTER_CHECK(turn(loop, UINT64_MAX));
    const sim::JobRun run = cluster.take_run();
    stage.check(have_same_starts(run, whole),
                "nothing is lost, nothing doubled: every job starts in the second in which it "
                "starts without the crash");
    return {};
}

Result<> show_proof(Stage& stage, const std::string& file) {
    stage.title("A ledger that proves itself");
    MUSTER_TRY(store, open_sqlite_store(file, {.access = Access::read}));
    const auto verified = verify(*store);
    stage.check(verified.has_value(),
                verified ? "muster ledger verify: nothing was altered" : verified.error().message);
    MUSTER_TRY(told, decide_anew(*store));
    stage.check(
        !told.difference,
        told.difference
            ? told.difference->text
            : fmt::format("muster replay: {} decisions of {} leaders, decided anew, are "
                          "the same byte for byte",
                          with_commas(static_cast<std::int64_t>(told.cycles)), told.leaders));
    return {};
}

/// The mix of what was submitted, declared from the first moment on.
Policy declared_mix(const Pool& pool) {
    std::map<std::int32_t, std::int64_t> counts;
    for (const sim::Job& job : pool.trace.jobs) {
        ++counts[static_cast<std::int32_t>(std::min(job.size, pool.machine.per_node))];
    }
    Policy policy;
    for (const auto& [gpus, weight] : counts) {
        policy.mix.push_back({.gpu_count = gpus, .models = {}, .weight = weight});
    }
    return policy;
}

Result<> show_what_if(Stage& stage, const Pool& pool, const std::string& file) {
    stage.title("What if?");
    stage.say("The same submissions and run times; the job mix declared instead of learned.");
    MUSTER_TRY(store, open_sqlite_store(file, {.access = Access::read}));
    MUSTER_TRY(what, sim::what_if(*store, {.policy = declared_mix(pool),
                                           .policy_name = "declared mix",
                                           .engine_version = MUSTER_VERSION}));
    std::vector<sim::Figure> figures = sim::figures_of(what);
    std::erase_if(figures, [](const sim::Figure& figure) {
        return !figure.name.ends_with("mean s") && !figure.name.ends_with("p99 s") &&
               figure.name != "idle" && figure.name != "in pieces";
    });
    stage.table(figure_table(what, "measure", std::move(figures)));
    stage.check(what.started > 0 && what.same_starts == what.started,
                fmt::format("under its own policy again, {} of {} start when they did",
                            with_commas(what.same_starts), plural(what.started, "job")));
    stage.check(what.other.measures.unfinished == 0, "under the other one, all of them run too");
    return {};
}

Result<> show(Stage& stage) {
    const Folder folder;
    const std::string file = folder.file("pool.ledger");
    MUSTER_TRY(pool, make_pool(stage));
    MUSTER_TRY(whole, show_pool(stage, pool));
    MUSTER_CHECK(show_crash(stage, pool, whole, folder, file));
    MUSTER_CHECK(show_proof(stage, file));
    return show_what_if(stage, pool, file);
}

}  // namespace

void show_jobs(Stage& stage) {
    if (const auto done = show(stage); !done) { stage.check(false, done.error().message); }
}

}  // namespace muster::cli
