// `muster scheduler`: the wiring of a scheduler for a running cluster.
#include "base/text.h"
#include "cli/api.h"
#include "cli/audit_log.h"
#include "cli/cluster.h"
#include "cli/ledger_file.h"
#include "cli/more_metrics.h"
#include "cli/verbs.h"
#include "codec/policy_text.h"
#include "engine/world.h"
#include "kube/access.h"
#include "kube/objects.h"
#include "kube/scheduler_run.h"
#include "lab/volcano_turn.h"
#include "ledger/record.h"
#include "net/event_loop.h"
#include "net/http_server.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <random>
#include <unistd.h>

namespace muster::cli {

namespace {

volatile std::sig_atomic_t is_told_to_stop = 0;

std::int64_t wall_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string make_identity() {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    std::random_device dice;
    return fmt::format("{}_{:08x}{:08x}", host.data(), dice(), dice());
}

net::HttpResponse answer(int status, std::string text, std::string_view type = "text/plain") {
    return {.status = status,
            .headers = {{"Content-Type", std::string(type)}},
            .body = std::move(text)};
}

net::HttpResponse health(bool is_well) {
    return is_well ? answer(200, "ok\n") : answer(503, "not yet\n");
}

/// What the API speaks of.
ApiState state_of(const kube::SchedulerRun& run) {
    ApiState out;
    out.holder = run.other_holder();
    const kube::Scheduler* scheduler = run.scheduler();
    if (scheduler == nullptr) { return out; }
    const kube::ClusterSource& source = scheduler->source();
    out.engine = &scheduler->loop().engine();
    out.context = &source.context();
    out.find_workload = [&source](const std::string& name) { return source.find_workload(name); };
    out.refused = [&source] {
        std::vector<dialect::RefusedWorkload> refused;
        for (const kube::Problem& problem : source.refused()) {
            const auto& [space, name] = problem.object.name;
            refused.push_back({.workload = space + "/" + name,
                               .place = {.file = problem.object.text()},
                               .text = problem.text,
                               .why = problem.why});
        }
        for (const auto& [workload, text] : source.held_back()) {
            refused.push_back(
                {.workload = workload, .place = {}, .text = text, .why = Why::pods_missing});
        }
        return refused;
    };
    out.ledger = run.ledger_extent();
    return out;
}

/// Where the policy is, now and later.
Result<> set_policy(const SchedulerVerbOptions& options, kube::RunOptions& with) {
    with.policy = {.map = std::nullopt, .file = options.policy, .log = with.log, .now_ms = wall_ms};
    if (!options.live.names.empty()) { with.policy.component = options.live.names.front(); }
    if (!options.policy_configmap.empty()) {
        MUSTER_TRY(map, kube::read_config_map_key(options.policy_configmap));
        with.policy.map = std::move(map);
    }
    if (options.policy.empty()) { return {}; }
    MUSTER_TRY(source, read_source(options.policy));
    MUSTER_TRY(policy, read_policy(source));
    with.scheduler.loop.policy = std::move(policy);
    return {};
}

struct Served {
    const kube::SchedulerRun& run;
    Api& api;
    const std::optional<AuditLog>& audit;
};

net::HttpResponse handle(const net::HttpRequest& request, const Served& served) {
    const auto& [run, api, audit] = served;
    if (Api::is_path(request.target)) { return api.handle(request); }
    if (request.method != "GET" && request.method != "HEAD") { return answer(405, "GET only\n"); }
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path == "/healthz" || path == "/livez") { return health(run.is_alive()); }
    if (path == "/readyz") { return health(run.is_ready()); }
    if (path == "/metrics") {
        const World* world =
            run.scheduler() == nullptr ? nullptr : &run.scheduler()->loop().engine().world();
        return answer(200, run.figures().text() + more_metrics(world, api, audit),
                      metrics_content_type);
    }
    return answer(404, "there are /api/v1, /metrics, /healthz, /livez and /readyz\n");
}

Result<net::HttpServerOptions> read_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    const auto port = parse_int(
        "port", colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1), 0,
        65'535);
    if (!port || colon == 0) {
        return fail(Code::invalid,
                    fmt::format("--metrics {}: expected ADDRESS:PORT, as 127.0.0.1:9469", text));
    }
    net::HttpServerOptions out;
    out.address = text.substr(0, colon);
    out.port = static_cast<std::uint16_t>(*port);
    return out;
}

kube::LeaseOptions lease_of(const SchedulerVerbOptions& options, const std::string& space) {
    const std::int64_t lease_ms = options.lease_seconds * 1'000;
    return {.space = options.lease_namespace.empty() ? space : options.lease_namespace,
            .name = options.lease,
            .identity = options.identity.empty() ? make_identity() : options.identity,
            .lease_ms = lease_ms,
            .renew_deadline_ms = lease_ms * 2 / 3,
            .retry_ms = std::min<std::int64_t>(2'000, lease_ms / 6),
            .steady_ms = kube::boot_ms,
            .wall_ms = wall_ms};
}

/// A leader that waits for its ledger still renews its lease in time.
std::int64_t ledger_wait_ms(const SchedulerVerbOptions& options) {
    constexpr std::int64_t most = 5'000;
    return options.is_elected ? std::min(most, options.lease_seconds * 1'000 / 3) : most;
}

/// etcd's room is small, and others' too.
Retention retention_of(const SchedulerVerbOptions& options, bool is_in_etcd) {
    const std::int64_t count = options.keep_snapshots >= 0 ? options.keep_snapshots
                               : is_in_etcd                ? 2
                                                           : 0;
    if (count == 0) { return {}; }
    return {.keep = Keep::snapshots, .snapshots = static_cast<std::uint64_t>(count)};
}

void stop_once(int signal) {
    is_told_to_stop = 1;
    std::signal(signal, SIG_DFL);  // told twice, it ends at once
}

}  // namespace

Result<int> run_verb(const SchedulerVerbOptions& options, Terminal& terminal) {
    MUSTER_TRY(access, kube::find_access({.file = options.live.kubeconfig,
                                          .context = options.live.context,
                                          .user_agent = "muster/" MUSTER_VERSION,
                                          .variable = kube::variable_of_process,
                                          .is_patient = false}));
    kube::RunOptions with;
    MUSTER_TRY(listen, read_address(options.metrics));
    with.log = Log([&](const std::string& line) { terminal.err << line << std::flush; },
                   [] { return kube::micro_time_text(wall_ms()); });
    const Log log = with.log;
    MUSTER_CHECK(set_policy(options, with));
    std::optional<AuditLog> audit;
    if (!options.audit_log.empty()) {
        MUSTER_TRY(opened, AuditLog::open({.file = options.audit_log,
                                           .bytes_max = options.audit_log_megabytes << 20,
                                           .log = log}));
        audit.emplace(std::move(opened));
    }
    with.address = access.address;
    MUSTER_TRY(ledger, find_ledger(options.ledger, options.etcd, ledger_wait_ms(options)));
    with.ledger_id = ledger.id;
    with.scheduler.loop.retention = retention_of(options, ledger.is_in_etcd);
    with.scheduler.names = options.live.names;
    with.scheduler.loop.engine_version = MUSTER_VERSION;
    with.scheduler.loop.snapshot_every = 1'000;
    with.scheduler.windows.length_ms = options.repair_seconds * 1'000;
    with.figures = {.critical_priority = options.critical_priority,
                    .on_time_ms = options.on_time_seconds * 1'000,
                    .look_ms = 250};
    if (!options.controllers.empty()) {
        with.beside = [log](kube::Transport& transport) {
            auto turn = std::make_shared<lab::VolcanoTurn>(
                transport, lab::VolcanoTurnOptions{.now_ms = wall_ms, .log = log});
            turn->start();
            return turn;
        };
    }
    with.is_stopped = [] { return is_told_to_stop != 0; };
    if (options.is_elected) {
        with.lease = lease_of(options, access.space);
        with.scheduler.loop.leader = with.lease->identity;
    }

    is_told_to_stop = 0;
    std::signal(SIGTERM, stop_once);
    std::signal(SIGINT, stop_once);
    std::signal(SIGPIPE, SIG_IGN);
    net::EventLoop loop;
    const kube::SchedulerRun* asked = nullptr;
    Api api(loop, [&asked] { return asked == nullptr ? ApiState{} : state_of(*asked); });
    with.open_ledger = [&api, &log, open = ledger.open]() -> Result<std::unique_ptr<Store>> {
        MUSTER_TRY(store, open());
        if (auto recalled = api.recall(*store); !recalled) {
            log.warn("the API shows no decision of before", {{"reason", recalled.error().message}});
        }
        return std::move(store);
    };
    with.told = [&](const Decision& decision, const Header& entry) {
        api.take(decision, entry);
        if (!audit || asked->scheduler() == nullptr) { return; }
        const World& world = asked->scheduler()->loop().engine().world();
        write_audit(decision,
                    {.time = kube::micro_time_text(wall_ms()),
                     .policy_hash = policy_hash(world.policy),
                     .entry = entry},
                    [&audit](const std::string& line) { audit->write(line); });
    };
    kube::SchedulerRun run(loop, std::move(with));
    asked = &run;
    MUSTER_TRY(server, net::HttpServer::listen(loop, std::move(listen),
                                               [&](const net::HttpRequest& request) {
                                                   return handle(request, {run, api, audit});
                                               }));
    log.info(
        "muster starts",
        {{"version", MUSTER_VERSION},
         {"cluster", access.name},
         {"metrics", fmt::format("{}:{}", options.metrics.substr(0, options.metrics.rfind(':')),
                                 server.port())}});
    auto done = run.run();
    if (!done) {
        log.error("muster ends", {{"reason", done.error().message}});
        return tl::unexpected(std::move(done).error());
    }
    log.info("muster ends");
    return exit_good;
}

}  // namespace muster::cli
