#include "lab/lab.h"

#include "kube/http_transport.h"
#include "kube/objects.h"
#include "kube/scheduler.h"
#include "lab/api.h"
#include "lab/cluster_controllers.h"
#include "lab/cluster_file.h"
#include "lab/collector.h"
#include "lab/fake_kubelet.h"
#include "lab/fleet.h"
#include "lab/known_resources.h"
#include "lab/loopback.h"
#include "lab/object_disk.h"
#include "lab/per_pod_scheduler.h"
#include "lab/queue_status.h"
#include "lab/refused_request.h"
#include "lab/schemas.h"
#include "lab/volcano_job.h"
#include "lab/workload_controllers.h"
#include "ledger/store_memory.h"
#include "ledger/store_sqlite.h"
#include "net/certificate.h"
#include "net/http_server.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <system_error>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// Until definitions that were applied meanwhile are seen by the scheduler.
constexpr std::int64_t look_ms = 5'000;

volatile std::sig_atomic_t is_told_to_stop = 0;

std::int64_t wall_clock() {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string random_token(std::random_device& dice) {
    std::string out;
    for (int i = 0; i < 4; ++i) { out += fmt::format("{:08x}", dice()); }
    return out;
}

/// Only its owner reads it.
Result<> write_private(const std::filesystem::path& file, const std::string& text) {
    const std::filesystem::path draft = file.string() + ".new";
    {
        std::ofstream out(draft, std::ios::trunc);
        std::error_code ignored;
        std::filesystem::permissions(
            draft, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
            ignored);
        errno = 0;
        out << text << std::flush;
        if (!out) {
            const std::error_code why(errno, std::generic_category());
            return fail(Code::unavailable,
                        fmt::format("{}: cannot be written: {}", file.string(), why.message()));
        }
    }
    std::error_code wrong;
    std::filesystem::rename(draft, file, wrong);
    if (wrong) {
        return fail(Code::unavailable, fmt::format("{}: {}", file.string(), wrong.message()));
    }
    return {};
}

struct Secrets {
    std::string token;
    net::KeyPair authority;
    net::KeyPair server;
    net::KeyPair client;
};

Result<Secrets> make_secrets(bool is_http) {
    std::random_device dice;
    Secrets out{.token = random_token(dice), .authority = {}, .server = {}, .client = {}};
    if (is_http) { return out; }
    MUSTER_TRY(authority, net::make_authority("muster lab"));
    MUSTER_TRY(server, net::sign_server(authority, {"localhost", "127.0.0.1", "::1"}));
    MUSTER_TRY(client, net::sign_client(authority, "muster-admin", "system:masters"));
    out.authority = std::move(authority);
    out.server = std::move(server);
    out.client = std::move(client);
    return out;
}

std::string kubeconfig_of(const std::string& url, const Secrets& secrets,
                          const std::filesystem::path& folder, bool is_http) {
    const std::string authority =
        is_http ? ""
                : fmt::format("      certificate-authority: {}\n", (folder / "ca.crt").string());
    const std::string client =
        is_http ? ""
                : fmt::format("      client-certificate: {}\n      client-key: {}\n",
                              (folder / "client.crt").string(), (folder / "client.key").string());
    return fmt::format(
        "apiVersion: v1\n"
        "kind: Config\n"
        "current-context: muster-lab\n"
        "clusters:\n"
        "  - name: muster-lab\n"
        "    cluster:\n"
        "      server: {}\n{}"
        "users:\n"
        "  - name: muster-lab\n"
        "    user:\n"
        "      token: {}\n{}"
        "contexts:\n"
        "  - name: muster-lab\n"
        "    context:\n"
        "      cluster: muster-lab\n"
        "      user: muster-lab\n",
        url, authority, secrets.token, client);
}

/// What every cluster has is there already.
bool is_there(const net::HttpResponse& made, std::string_view kind) {
    return made.status == 409 && (kind == "Namespace" || kind == "PriorityClass" ||
                                  kind == "ServiceAccount" || kind == "Queue");
}

Result<> add_cluster(Api& api, const LabOptions& options) {
    std::vector<std::string> left_out;
    MUSTER_TRY(objects, read_cluster_files(options.clusters, left_out));
    for (const FileObject& one : objects) {
        const ResourceType* type = find_type(one.second, api.registry());
        if (type == nullptr) {
            left_out.push_back(fmt::format("{}: {} of {}, which is not served", one.first,
                                           kube::text_at(one.second, "kind"),
                                           kube::text_at(one.second, "apiVersion")));
            continue;
        }
        const std::string_view space = kube::text_at(one.second, "metadata.namespace");
        const net::HttpResponse made = api.handle(
            kube::create_call({type->group, type->version, type->plural},
                              type->is_namespaced && space.empty() ? "default" : space, one.second),
            "kubectl");
        if (made.status == 201 || is_there(made, kube::text_at(one.second, "kind"))) { continue; }
        boost::system::error_code error;
        const json::value status = json::parse(made.body, error);
        return fail(
            Code::invalid,
            fmt::format("{}: {} {}: {}", one.first, kube::text_at(one.second, "kind"),
                        kube::text_at(one.second, "metadata.name"),
                        !error && status.is_object() ? kube::text_at(status.get_object(), "message")
                                                     : std::string_view(made.body)));
    }
    for (const std::string& what : left_out) {
        if (options.left_out) { options.left_out(what); }
    }
    return {};
}

Result<> add_fleet(Api& api, const LabOptions& options) {
    if (!api.store().all("nodes").empty()) { return {}; }
    if (!options.clusters.empty()) { return add_cluster(api, options); }
    MUSTER_TRY(fleet,
               options.like.empty() ? plain_fleet(options.nodes) : known_fleet(options.like));
    if (options.has_taints) { taint_gpu_nodes(fleet); }
    return api.load([&]() -> Result<> {
        for (const json::object& node : fleet) {
            const net::HttpResponse made =
                api.handle(kube::create_call(known::nodes, "", node), "fake-kubelet");
            if (made.status != 201) { return fail(Code::invalid, made.body); }
        }
        return {};
    });
}

}  // namespace

LabFiles files_of(const std::filesystem::path& folder) {
    return {.kubeconfig = folder / "kubeconfig",
            .objects = folder / "objects.sqlite",
            .ledger = folder / "ledger",
            .process = folder / "process",
            .log = folder / "log",
            .settings = folder / "settings"};
}

Result<> run_lab(const LabOptions& options, const std::function<void(const std::string&)>& ready) {
    const LabFiles files = files_of(options.folder);
    MUSTER_TRY(secrets, make_secrets(options.is_http));
    std::unique_ptr<Disk> disk;
    if (!options.is_in_memory) {
        MUSTER_TRY(opened, open_object_disk(files.objects));
        disk = std::move(opened);
    }
    MUSTER_TRY(store, ObjectStore::open(std::move(disk)));

    net::EventLoop loop;
    std::random_device dice;
    const std::int64_t began = wall_clock();
    MUSTER_TRY(api, Api::open(std::move(store), built_in_schemas(),
                              {.kubernetes = std::string(built_in_schemas().origin()),
                               // kubectl sends no token where there is no TLS.
                               .token = options.is_http ? "" : secrets.token,
                               .now = wall_clock,
                               .dice = [&dice] { return dice(); },
                               .after =
                                   [&loop](std::int64_t wait, std::function<void()> work) {
                                       loop.after(wait, std::move(work));
                                   },
                               .counts_quotas = !options.is_only_api}));
    if (!options.is_only_api) { MUSTER_CHECK(add_fleet(*api, options)); }
    bool is_collecting = false;  // soon
    std::optional<Collector> collector;
    if (!options.is_only_api) {
        collector.emplace(*api, [&] {
            if (std::exchange(is_collecting, true)) { return; }
            loop.post([&] {
                is_collecting = false;
                collector->collect();
            });
        });
    }

    net::HttpServerOptions server_options;
    server_options.port = options.port;
    server_options.refusal = [most = server_options.body_bytes_max](int status) {
        return refused_request(status, most);
    };
    server_options.trouble = options.trouble;
    if (!options.is_http) {
        server_options.tls = std::make_unique<net::ServerTls>(
            net::ServerTls{.certificate = secrets.server.certificate,
                           .key = secrets.server.key,
                           .client_authority = secrets.authority.certificate});
    }
    MUSTER_TRY(server, net::HttpServer::listen(
                           loop, std::move(server_options),
                           [&api](net::HttpRequest request) { return api->handle(request); }));
    const std::string url =
        fmt::format("{}://127.0.0.1:{}", options.is_http ? "http" : "https", server.port());
    if (!options.is_http) {
        MUSTER_CHECK(write_private(options.folder / "ca.crt", secrets.authority.certificate));
        MUSTER_CHECK(write_private(options.folder / "client.crt", secrets.client.certificate));
        MUSTER_CHECK(write_private(options.folder / "client.key", secrets.client.key));
    }
    MUSTER_CHECK(write_private(files.kubeconfig,
                               kubeconfig_of(url, secrets, options.folder, options.is_http)));

    // It answers from here on; controllers and scheduler look around meanwhile.
    loop.post([&] { ready(url); });
    const std::int64_t speed = options.speed;
    const auto lab_now = [began, speed] { return began + (wall_clock() - began) * speed; };
    const auto kubelet_link = connect_loopback(*api, loop, "fake-kubelet");
    const auto controller_link = connect_loopback(*api, loop, "kube-controller-manager");
    const auto volcano_link = connect_loopback(*api, loop, "vc-controller-manager");
    FakeKubelet kubelet(*kubelet_link, {.now = lab_now, .speed = speed});
    WorkloadControllers controllers(*controller_link, {.now = lab_now, .speed = speed});
    ClusterControllers cluster(*controller_link, {.now = lab_now, .speed = speed});
    VolcanoJobs volcano(*volcano_link, lab_now, speed);
    QueueStatus queues(*volcano_link);
    if (!options.is_only_api) {
        kubelet.start();
        controllers.start();
        cluster.start();
        volcano.start();
        queues.start();
    }

    std::unique_ptr<kube::Transport> per_pod_link;
    std::unique_ptr<PerPodScheduler> per_pod;
    std::unique_ptr<kube::SchedulerThread> scheduler;
    MemoryLog memory;
    if (options.is_only_api) {
        // What is asked of it is all that happens.
    } else if (options.scheduler == LabScheduler::per_pod) {
        per_pod_link = connect_loopback(*api, loop, "per-pod-scheduler");
        per_pod = std::make_unique<PerPodScheduler>(*per_pod_link);
        per_pod->start();
    } else if (options.scheduler == LabScheduler::muster) {
        const kube::ServerAddress address{.http = {.port = server.port(),
                                                   .is_tls = !options.is_http,
                                                   .authority = secrets.authority.certificate,
                                                   .certificate = secrets.client.certificate,
                                                   .key = secrets.client.key},
                                          .token = secrets.token};
        const auto connect = [address]() -> Result<kube::Link> { return kube::connect(address); };
        const auto open = [&]() -> Result<std::unique_ptr<Store>> {
            if (options.is_in_memory) { return open_memory_store(memory); }
            return open_sqlite_store(files.ledger);
        };
        kube::SchedulerOptions scheduling;
        scheduling.names = {"muster", "volcano", "default-scheduler"};
        scheduling.look_ms = look_ms;
        scheduling.loop.engine_version = options.version;
        scheduling.loop.snapshot_every = 1'000;
        scheduler = std::make_unique<kube::SchedulerThread>(connect, open, std::move(scheduling));
    }

    const std::function<void()> look_for_end = [&] {
        if (is_told_to_stop != 0) { return loop.stop(); }
        loop.after(20, look_for_end);
    };
    const auto stop = [](int) { is_told_to_stop = 1; };
    std::signal(SIGTERM, stop);
    std::signal(SIGINT, stop);
    std::signal(SIGPIPE, SIG_IGN);
    loop.post([&] {
        if (collector) { collector->collect(); }
        look_for_end();
    });
    loop.run();
    scheduler.reset();
    return {};
}

}  // namespace muster::lab
