// `muster lab up|down|status|reset|run`: one lab in one folder. `up` starts `run` as a process of
// its own and waits until it answers.
#include "base/text.h"
#include "cli/cluster.h"
#include "cli/lab_client.h"
#include "cli/verbs.h"
#include "lab/cluster_file.h"
#include "lab/fleet.h"
#include "lab/fleet_orders.h"
#include "lab/lab.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace muster::cli {

namespace {

using std::filesystem::path;
constexpr int wait_step_ms = 10;
constexpr std::string_view left_out = "left out: ";
constexpr int up_wait_ms = 60'000;
constexpr int down_wait_ms = 10'000;

std::string first_line(const path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// The lab's process, as its file says and as the system has it; 0 when there is none.
pid_t process_of(const path& folder) {
    const std::string line = first_line(lab::files_of(folder).process);
    const auto id = static_cast<pid_t>(std::atoi(line.c_str()));
    if (id <= 0 || kill(id, 0) != 0) { return 0; }
    const std::string words = first_line(fmt::format("/proc/{}/cmdline", id));
    return words.find(std::string("lab\0run", 7)) == std::string::npos ? 0 : id;
}

void sleep_step() { usleep(wait_step_ms * 1'000); }

std::string export_line(const path& folder) {
    return fmt::format("export KUBECONFIG={}\n", lab::files_of(folder).kubeconfig.string());
}

Result<int> run_in_foreground(const LabVerbOptions& options, Terminal& terminal) {
    const path folder = lab_folder(options.folder);
    std::error_code wrong;
    std::filesystem::create_directories(folder, wrong);
    if (wrong) {
        return fail(Code::unavailable, fmt::format("{}: {}", folder.string(), wrong.message()));
    }
    const lab::LabFiles files = lab::files_of(folder);
    if (const pid_t other = process_of(folder); other != 0 && other != getpid()) {
        return fail(Code::conflict, fmt::format("a lab runs in {} already", folder.string()));
    }
    MUSTER_TRY(clusters, read_sources(options.clusters));
    const lab::LabOptions with{
        .folder = folder,
        .nodes = options.nodes,
        .like = options.like,
        .clusters = std::move(clusters),
        .has_taints = options.has_taints,
        .speed = options.speed,
        .scheduler = options.scheduler == "muster"    ? lab::LabScheduler::muster
                     : options.scheduler == "per-pod" ? lab::LabScheduler::per_pod
                                                      : lab::LabScheduler::none,
        .is_http = options.is_http,
        .is_in_memory = options.is_in_memory,
        .is_only_api = options.is_only_api,
        .port = options.port,
        .version = MUSTER_VERSION,
        .left_out = [&](const std::string& what) { terminal.out << left_out << what << '\n'; },
        .trouble = [&](const std::string& what) { terminal.err << what << std::endl; }};
    MUSTER_CHECK(lab::run_lab(with, [&](const std::string& url) {
        std::ofstream(files.settings) << url << '\n';
        std::ofstream(files.process) << getpid() << '\n';
        terminal.out << "the lab answers at " << url << '\n' << export_line(folder) << std::flush;
    }));
    std::filesystem::remove(files.process, wrong);
    return exit_good;
}

std::vector<std::string> words_of(const LabVerbOptions& options, const path& folder) {
    std::vector<std::string> out{"muster",
                                 "lab",
                                 "run",
                                 "--folder",
                                 folder.string(),
                                 "--scheduler",
                                 options.scheduler,
                                 "--speed",
                                 std::to_string(options.speed),
                                 "--port",
                                 std::to_string(options.port)};
    for (const std::string& file : options.clusters) {
        out.insert(out.end(), {"--cluster", std::filesystem::absolute(file).string()});
    }
    if (!options.like.empty()) { out.insert(out.end(), {"--like", options.like}); }
    if (options.like.empty() && options.clusters.empty()) {
        out.insert(out.end(), {"--nodes", options.nodes});
    }
    if (options.has_taints) { out.emplace_back("--taint-gpus"); }
    if (options.is_http) { out.emplace_back("--http"); }
    if (options.is_in_memory) { out.emplace_back("--memory"); }
    if (options.is_only_api) { out.emplace_back("--only-api"); }
    return out;
}

/// In a session of its own, so that it outlives the shell.
Result<pid_t> start(const LabVerbOptions& options, const path& folder) {
    const std::vector<std::string> words = words_of(options, folder);
    std::vector<char*> arguments;
    for (const std::string& word : words) { arguments.push_back(const_cast<char*>(word.c_str())); }
    arguments.push_back(nullptr);
    const std::string log = lab::files_of(folder).log.string();
    const pid_t child = fork();
    if (child < 0) { return fail(Code::unavailable, "the system starts no process"); }
    if (child > 0) { return child; }
    setsid();
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
}

/// What can be told before anything is made.
Result<> check_input(const LabVerbOptions& options) {
    MUSTER_TRY(sources, read_sources(options.clusters));
    std::vector<std::string> ignored;
    if (!sources.empty()) { MUSTER_CHECK(lab::read_cluster_files(sources, ignored)); }
    if (sources.empty() && !options.like.empty()) { MUSTER_CHECK(lab::known_fleet(options.like)); }
    return {};
}

void forget(const path& folder) {
    const lab::LabFiles files = lab::files_of(folder);
    std::error_code ignored;
    for (const path& file :
         {files.objects, files.ledger, files.kubeconfig, files.settings, files.log, files.process,
          folder / "ca.crt", folder / "client.crt", folder / "client.key"}) {
        for (const char* behind : {"", "-wal", "-shm", "-mark"}) {
            std::filesystem::remove(file.string() + behind, ignored);
        }
    }
}

Result<int> up(const LabVerbOptions& options, Terminal& terminal) {
    const path folder = lab_folder(options.folder);
    if (process_of(folder) != 0) {
        terminal.out << export_line(folder);
        terminal.err << "the lab runs already at " << first_line(lab::files_of(folder).settings)
                     << '\n';
        return exit_good;
    }
    MUSTER_CHECK(check_input(options));
    std::error_code wrong;
    const bool was_there = std::filesystem::exists(folder, wrong);
    const bool had_objects = std::filesystem::exists(lab::files_of(folder).objects, wrong);
    std::filesystem::create_directories(folder, wrong);
    if (wrong) {
        return fail(Code::unavailable, fmt::format("{}: {}", folder.string(), wrong.message()));
    }
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, wrong);
    std::filesystem::remove(lab::files_of(folder).process, wrong);
    MUSTER_TRY(child, start(options, folder));
    for (int waited = 0; waited < up_wait_ms; waited += wait_step_ms) {
        if (process_of(folder) == child) {
            terminal.out << export_line(folder);
            terminal.err << "the lab answers at " << first_line(lab::files_of(folder).settings)
                         << '\n';
            std::ifstream log(lab::files_of(folder).log);
            for (std::string line; std::getline(log, line);) {
                if (line.starts_with(left_out)) { terminal.err << line << '\n'; }
            }
            return exit_good;
        }
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) {
            std::ifstream log(lab::files_of(folder).log);
            const std::string said((std::istreambuf_iterator<char>(log)), {});
            // Of a lab that never was nothing stays.
            if (!had_objects) { forget(folder); }
            if (!was_there) { std::filesystem::remove(folder, wrong); }
            return fail(Code::unavailable, fmt::format("the lab did not start: {}", trim(said)));
        }
        sleep_step();
    }
    return fail(Code::timeout, "the lab did not answer within a minute");
}

Result<bool> stop_lab(const path& folder) {
    const pid_t id = process_of(folder);
    if (id == 0) { return false; }
    kill(id, SIGTERM);
    for (int waited = 0; waited < down_wait_ms; waited += wait_step_ms) {
        if (process_of(folder) == 0) { return true; }
        sleep_step();
    }
    kill(id, SIGKILL);
    return true;
}

Result<int> down(const LabVerbOptions& options, Terminal& terminal, bool forgets) {
    const path folder = lab_folder(options.folder);
    MUSTER_TRY(was_running, stop_lab(folder));
    terminal.out << (was_running ? "the lab has stopped\n" : "no lab ran\n");
    if (!forgets) { return exit_good; }
    forget(folder);
    terminal.out << "and all of it is forgotten\n";
    return exit_good;
}

Result<int> status(const LabVerbOptions& options, Terminal& terminal) {
    const path folder = lab_folder(options.folder);
    const pid_t id = process_of(folder);
    if (id == 0) {
        terminal.out << "no lab runs in " << folder.string() << '\n';
        return exit_waits;
    }
    terminal.out << fmt::format("the lab answers at {}, process {}\n{}",
                                first_line(lab::files_of(folder).settings), id,
                                export_line(folder));
    return exit_good;
}

}  // namespace

Result<int> run_verb(const LabVerbOptions& options, Terminal& terminal) {
    switch (options.action) {
        case LabAction::up: return up(options, terminal);
        case LabAction::down: return down(options, terminal, false);
        case LabAction::reset: return down(options, terminal, true);
        case LabAction::status: return status(options, terminal);
        case LabAction::run: return run_in_foreground(options, terminal);
    }
    return exit_bad_input;
}

namespace {

std::string lines_of(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) { out += fmt::format("node {}\n", name); }
    return out;
}

Result<std::string> carry_out(const LabOrderOptions& options, lab::LabHand& hand) {
    const bool is_gpu = options.what == "gpu";
    switch (options.order) {
        case LabOrder::fail:
            if (is_gpu) {
                MUSTER_TRY(gpu, lab::read_gpu_name(options.target));
                return lab::fail_gpu(hand, gpu, options.xid);
            }
            return lab::fail_node(hand, {.node = options.target,
                                         .why = options.why,
                                         .flap = options.flap,
                                         .slow = options.slow});
        case LabOrder::heal:
            if (is_gpu) {
                MUSTER_TRY(gpu, lab::read_gpu_name(options.target));
                return lab::heal_gpu(hand, gpu);
            }
            return lab::heal_node(hand, options.target);
        case LabOrder::spot: return lab::reclaim_node(hand, options.target, options.notice);
        case LabOrder::pool: break;
    }
    if (options.what == "grow") {
        MUSTER_TRY(names, lab::grow_pool(hand, options.target, options.count));
        return lines_of(names) + "have been added";
    }
    MUSTER_TRY(names, lab::shrink_pool(hand, options.target, options.count));
    return lines_of(names) + "have been drained and removed";
}

}  // namespace

Result<int> run_verb(const LabOrderOptions& options, Terminal& terminal) {
    const path folder = lab_folder(options.folder);
    if (process_of(folder) == 0) {
        return fail(Code::unavailable, fmt::format("no lab runs in {}", folder.string()));
    }
    MUSTER_TRY(client, LabClient::reach(lab::files_of(folder).kubeconfig));
    MUSTER_TRY(done, carry_out(options, client.hand()));
    terminal.out << done << '\n';
    return exit_good;
}

}  // namespace muster::cli
