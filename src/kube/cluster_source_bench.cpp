// What a scheduler's view of a large cluster costs: 5,000 nodes and 140,000 pods in gangs of 8,
// which is what Kubernetes itself is made for.
#include "kube/cluster_source.h"

#include "kube/scheduler.h"
#include "ledger/store_memory.h"

#include <benchmark/benchmark.h>
#include <boost/json.hpp>
#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <fstream>
#include <string>

namespace muster::kube {
namespace {

constexpr std::size_t pods_per_node = 28;
constexpr std::size_t per_gang = 8;

std::string node_text(std::size_t i, bool is_closed = false, std::size_t version = 1) {
    return fmt::format(
        R"({{"metadata":{{"name":"node-{0}","uid":"node-{0}","resourceVersion":"{2}","labels":)"
        R"({{"kubernetes.io/hostname":"node-{0}","nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3",)"
        R"("fabric.topograph.run/tier-0":"leaf-{3}","fabric.topograph.run/tier-1":"spine-{4}"}}}},)"
        R"("spec":{{"unschedulable":{1}}},"status":{{"capacity":{{"cpu":"192","memory":"2048Gi",)"
        R"("pods":"250","nvidia.com/gpu":"8"}},"allocatable":{{"cpu":"192","memory":"2048Gi",)"
        R"("pods":"250","nvidia.com/gpu":"8"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        i, is_closed, version, i / 32, i / 256);
}

/// As a controller's pods are: three times as much as scheduling looks at.
std::string pod_text(std::size_t i, std::string_view phase = "Running", std::size_t version = 1) {
    const std::size_t node = i / pods_per_node;
    return fmt::format(
        R"({{"metadata":{{"name":"train-{1}-worker-{0}","namespace":"team-a","uid":)"
        R"("b29bc1f8-0000-4000-8000-{0:012}","resourceVersion":"{4}",)"
        R"("creationTimestamp":"2026-01-01T00:00:00Z","labels":{{"app":"train-{1}","role":"worker",)"
        R"("volcano.sh/queue-name":"default"}},"annotations":)"
        R"({{"scheduling.k8s.io/group-name":"train-{1}"}},"managedFields":[{{"manager":"m","fieldsV1":)"
        R"({{"f:metadata":{{"f:labels":{{}}}},"f:spec":{{"f:containers":{{}}}}}}}}]}},)"
        R"("spec":{{"schedulerName":"muster","nodeName":"node-{2}","restartPolicy":"Never",)"
        R"("terminationGracePeriodSeconds":30,"containers":[{{"name":"worker","image":)"
        R"("registry/train:1","command":["python","train.py","--rank","{0}"],"env":[)"
        R"({{"name":"RANK","value":"{0}"}},{{"name":"MASTER_ADDR","value":"train-{1}-worker-0"}},)"
        R"({{"name":"NCCL_DEBUG","value":"INFO"}}],"volumeMounts":[{{"name":"data","mountPath":"/data"}}],)"
        R"("resources":{{"requests":{{"cpu":"1","memory":"4Gi"}},"limits":{{"cpu":"1","memory":"4Gi"}}}}}}],)"
        R"("tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
        R"("tolerationSeconds":300}}]}},"status":{{"phase":"{3}","conditions":[{{"type":"PodScheduled",)"
        R"("status":"True"}},{{"type":"Ready","status":"True"}}],"containerStatuses":[{{"name":"worker",)"
        R"("ready":true,"restartCount":0,"image":"registry/train:1"}}]}}}})",
        i, i / per_gang, node, phase, version);
}

std::string group_text(std::size_t i) {
    return fmt::format(R"({{"metadata":{{"name":"train-{0}","namespace":"team-a","uid":"g-{0}",)"
                       R"("resourceVersion":"1"}},"spec":{{"minMember":{1}}},)"
                       R"("status":{{"phase":"Running"}}}})",
                       i, per_gang);
}

/// Lists what the functions above say; changes come when the benchmark tells them.
class Server final : public Transport {
public:
    explicit Server(std::size_t nodes) : nodes_(nodes) {}

    std::size_t waiting = 0;  // pods without a node, behind all others
    std::size_t bound = 0;    // by whom it is asked

    void call(Call call, Done done) override {
        work_.emplace_back(
            [this, call = std::move(call), done = std::move(done)] { done(answer(call)); });
    }
    std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                   Done /*done*/) override {
        lines_[call.target.substr(0, call.target.find('?'))] = std::move(line);
        return std::make_unique<Stream>();
    }
    void after(std::int64_t /*milliseconds*/, std::function<void()> /*work*/) override {}

    void pump() {
        for (std::size_t left = work_.size(); left > 0; --left) {
            const auto next = std::move(work_.front());
            work_.pop_front();
            next();
        }
    }
    void tell(const std::string& collection, const std::string& object) {
        lines_.at(collection)(fmt::format(R"({{"type":"MODIFIED","object":{}}})", object));
    }

private:
    [[nodiscard]] Answer answer(const Call& call) {
        if (call.method != "GET") {
            bound += call.target.ends_with("/binding") ? 1 : 0;
            return {.status = 201, .body = "{}"};
        }
        const std::string path = call.target.substr(0, call.target.find('?'));
        if (path == "/apis") {
            return {.status = 200, .body = R"({"groups":[{"name":"scheduling.volcano.sh"}]})"};
        }
        if (path == "/apis/scheduling.volcano.sh/v1beta1") {
            return {.status = 200, .body = R"({"resources":[{"name":"podgroups"}]})"};
        }
        if (path == "/api/v1/nodes") { return page(call.target, nodes_, node_of); }
        if (path == "/api/v1/pods") {
            return page(call.target, nodes_ * pods_per_node + waiting,
                        [this](std::size_t i) { return pod_here(i); });
        }
        if (path.ends_with("/podgroups")) {
            return page(call.target, (nodes_ * pods_per_node + waiting) / per_gang, group_text);
        }
        if (path.starts_with("/api/v1/")) { return page(call.target, 0, group_text); }
        return {.status = 404, .body = "{}"};
    }
    static std::string node_of(std::size_t i) { return node_text(i); }
    [[nodiscard]] std::string pod_here(std::size_t i) const {
        std::string text = pod_text(i);
        if (i < nodes_ * pods_per_node) { return text; }
        const std::size_t at = text.find(R"("nodeName")");
        return text.erase(at, text.find(',', at) + 1 - at);
    }
    static Answer page(const std::string& target, std::size_t count,
                       const std::function<std::string(std::size_t)>& text) {
        constexpr std::size_t limit = 500;
        std::size_t from = 0;
        const std::size_t at = target.find("continue=");
        if (at != std::string::npos) {
            std::from_chars(target.data() + at + 9, target.data() + target.size(), from);
        }
        const std::size_t end = std::min(from + limit, count);
        std::string body = R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1")";
        if (end < count) { body += fmt::format(R"(,"continue":"{}")", end); }
        body += R"(},"items":[)";
        for (std::size_t i = from; i < end; ++i) { body += (i > from ? "," : "") + text(i); }
        return {.status = 200, .body = body + "]}"};
    }

    std::size_t nodes_;
    std::deque<std::function<void()>> work_;
    std::map<std::string, std::function<void(std::string_view)>> lines_;
};

double memory_mb(const char* what) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(what)) { return std::stod(line.substr(line.find(':') + 1)) / 1024; }
    }
    return 0;
}

struct View {
    explicit View(std::size_t nodes) : server(nodes) {}

    Server server;
    ClusterObjects objects{server, [this](std::int64_t) { server.pump(); }};
    ClusterSource source{objects, {.schedulers = {"muster"}}};
    std::size_t version = 1;
};

/// The cluster of that many nodes, read once; the benchmarks behind the first one change it. The
/// last one is kept, for what it holds is measured.
View& view(std::int64_t nodes) {
    static std::unique_ptr<View> last;
    static std::int64_t size = 0;
    if (std::exchange(size, nodes) != nodes) {
        last = std::make_unique<View>(static_cast<std::size_t>(nodes));
        if (!last->source.begin({}) || last->source.observe(0)->empty()) { std::abort(); }
    }
    return *last;
}

void first_reading(benchmark::State& state) {
    for (auto _ : state) { view(state.range(0)); }
    state.counters["resident_mb"] = memory_mb("VmRSS");
    state.counters["peak_mb"] = memory_mb("VmHWM");
}

void one_pod_ends(benchmark::State& state) {
    View& cluster = view(state.range(0));
    const auto pods = static_cast<std::size_t>(state.range(0)) * pods_per_node;
    std::size_t turn = 0;
    for (auto _ : state) {
        const std::size_t pod = turn++ * 7'919 % pods;
        cluster.server.tell("/api/v1/pods", pod_text(pod, "Succeeded", ++cluster.version));
        benchmark::DoNotOptimize(cluster.source.observe(0));
    }
}

void one_node_closes(benchmark::State& state) {
    View& cluster = view(state.range(0));
    std::size_t turn = 0;
    for (auto _ : state) {
        const std::size_t node = turn % static_cast<std::size_t>(state.range(0));
        cluster.server.tell("/api/v1/nodes", node_text(node, turn++ % 2 == 0, ++cluster.version));
        benchmark::DoNotOptimize(cluster.source.observe(0));
    }
}

void a_heartbeat(benchmark::State& state) {
    View& cluster = view(state.range(0));
    for (auto _ : state) {
        cluster.server.tell("/api/v1/nodes", node_text(1, false, ++cluster.version));
        benchmark::DoNotOptimize(cluster.source.observe(0));
    }
}

/// All of a scheduler that begins on such a cluster, where one gang waits: from its start to the
/// first bindings, and what it then holds. `is_again`: with the ledger of one that was there
/// before.
void restart(benchmark::State& state) {
    MemoryLog log;
    const bool is_again = state.range(1) != 0;
    const auto begin = [&](std::size_t waiting) {
        auto server = std::make_unique<Server>(static_cast<std::size_t>(state.range(0)));
        Server& at = *server;
        at.waiting = waiting;
        SchedulerOptions options{.names = {"muster"}};
        options.loop.patience_ms = 0;
        options.loop.snapshot_every = 1;
        auto made = Scheduler::start(
            {.pump = [&at](std::int64_t) { at.pump(); }, .transport = std::move(server)},
            open_memory_store(log), options);
        if (!made) { std::abort(); }
        for (int i = 0; i < 20 && at.bound < waiting; ++i) {
            if (!(*made)->turn()) { std::abort(); }
            at.pump();
        }
        if (at.bound != waiting) { std::abort(); }
        return std::move(*made);
    };
    if (is_again) { begin(0)->turn().value(); }
    std::unique_ptr<Scheduler> last;
    for (auto _ : state) { last = begin(per_gang); }
    state.counters["resident_mb"] = memory_mb("VmRSS");
    state.counters["peak_mb"] = memory_mb("VmHWM");
}

/// All of one size behind each other, since they share its cluster.
const bool is_registered = [] {
    for (const std::int64_t nodes : {500, 5'000}) {
        for (const std::int64_t is_again : {0, 1}) {
            benchmark::RegisterBenchmark("restart", restart)
                ->Args({nodes, is_again})
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
        }
        benchmark::RegisterBenchmark("first_reading", first_reading)
            ->Arg(nodes)
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark("one_pod_ends", one_pod_ends)
            ->Arg(nodes)
            ->Unit(benchmark::kMicrosecond);
        benchmark::RegisterBenchmark("one_node_closes", one_node_closes)
            ->Arg(nodes)
            ->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark("a_heartbeat", a_heartbeat)
            ->Arg(nodes)
            ->Unit(benchmark::kMicrosecond);
    }
    return true;
}();

}  // namespace
}  // namespace muster::kube
