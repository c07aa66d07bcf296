// The load and the ceiling of bench/kube.py, in a program so that neither costs much of the machine
// that it is measured on. Its words are KUBECONFIG, one of these, and a count:
//
// nodes COUNT: makes GPU nodes, of 8 GPUs each.
//
// pods COUNT GANG SCHEDULER KIND: makes pods of one GPU; KIND of their groups: none, upstream,
// kueue (as Kueue's webhooks would leave them, for none are registered).
//
// follow COUNT: says "ready", then when the first and the last pod was bound, as JSON.
//
// bind COUNT IN-FLIGHT HOW: a scheduler that decides nothing; binds what has no node. HOW it finds
// that: list, watch; events: watch, and an event for each pod.
#include "base/text.h"
#include "kube/access.h"
#include "kube/http_transport.h"
#include "kube/objects.h"
#include "net/event_loop.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <set>
#include <span>

namespace muster::kube {
namespace {

namespace json = boost::json;

constexpr std::size_t gpus_per_node = 8;
constexpr std::size_t creations_in_flight = 32;
constexpr std::string_view space = "load";
const Resource pods{.group = "", .version = "v1", .plural = "pods"};
const Resource nodes{.group = "", .version = "v1", .plural = "nodes"};
const Resource events{.group = "", .version = "v1", .plural = "events"};

[[noreturn]] void stop(const std::string& why) {
    fmt::print(stderr, "kube_load: {}\n", why);
    std::exit(1);
}

double now_s() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// Calls, so many under way at a time.
class Calls {
public:
    Calls(Transport& transport, std::size_t most) : transport_(transport), most_(most) {}

    void ask(Call call, std::function<void()> done = {}) {
        waiting_.emplace_back(std::move(call), std::move(done));
        send();
    }
    [[nodiscard]] bool is_idle() const { return waiting_.empty() && under_way_ == 0; }

private:
    void send() {
        while (under_way_ < most_ && !waiting_.empty()) {
            auto [call, done] = std::move(waiting_.front());
            waiting_.pop_front();
            ++under_way_;
            transport_.call(call,
                            [this, asked = call, after = std::move(done)](Result<Answer> answer) {
                                --under_way_;
                                if (!answer) { stop(answer.error().message); }
                                if (answer->status == 429) {  // given again
                                    waiting_.emplace_back(asked, after);
                                } else if (!answer->is_ok()) {
                                    stop(refusal_of(asked.target, *answer));
                                } else if (after) {
                                    after();
                                }
                                send();
                            });
        }
    }

    Transport& transport_;
    std::size_t most_;
    std::size_t under_way_ = 0;
    std::deque<std::pair<Call, std::function<void()>>> waiting_;
};

struct Server {
    explicit Server(const std::string& kubeconfig) {
        auto access = find_access(
            {.file = kubeconfig, .user_agent = "kube_load", .variable = variable_of_process});
        if (!access) { stop(access.error().message); }
        access->address.http.connections_max = 256;
        transport = connect_http(loop, access->address);
    }
    void until(const std::function<bool()>& is_done) {
        while (!is_done()) { loop.run_some(1'000); }
    }
    json::object get(const std::string& target) {
        std::optional<Result<Answer>> got;
        transport->call({.target = target},
                        [&](Result<Answer> answer) { got = std::move(answer); });
        until([&] { return got.has_value(); });
        if (!*got) { stop(got->error().message); }
        if (!(*got)->is_ok()) { stop(refusal_of(target, **got)); }
        return object_of((*got)->body);
    }

    net::EventLoop loop;
    std::unique_ptr<Transport> transport;
};

json::object node(std::size_t i) {
    const json::object amounts{{"cpu", "192"},
                               {"memory", "2048Gi"},
                               {"pods", "250"},
                               {"ephemeral-storage", "1Ti"},
                               {"nvidia.com/gpu", std::to_string(gpus_per_node)}};
    const std::string name = fmt::format("node-{:05}", i);
    json::array conditions;
    conditions.push_back(json::object{
        {"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}, {"message", "ready"}});
    return {
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata",
         {{"name", name},
          {"labels",
           {{"kubernetes.io/hostname", name},
            {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
            {"fabric.topograph.run/tier-0", fmt::format("leaf-{}", i / 32)},
            {"fabric.topograph.run/tier-1", fmt::format("spine-{}", i / 256)}}}}},
        {"status", {{"capacity", amounts}, {"allocatable", amounts}, {"conditions", conditions}}}};
}

struct PodPlan {
    std::size_t count = 0;
    std::size_t per_gang = 1;
    std::string scheduler;
    std::string kind;
};

/// What a pod belongs to; the last one can be smaller.
struct Gang {
    Gang(std::size_t pod, const PodPlan& plan)
        : name(fmt::format("gang-{:05}", pod / plan.per_gang)),
          size(std::min(plan.per_gang, plan.count - pod / plan.per_gang * plan.per_gang)) {}

    std::string name;
    std::size_t size;
};

/// What Kueue's webhook makes of a pod with a queue, a group and its size: held by two gates, and
/// with what all pods of one shape have in common, where it would put a hash.
void queue(const Gang& gang, json::object& metadata, json::object& spec) {
    metadata["labels"] = json::object{{"kueue.x-k8s.io/queue-name", space},
                                      {"kueue.x-k8s.io/pod-group-name", gang.name},
                                      {"kueue.x-k8s.io/managed", "true"}};
    metadata["annotations"] =
        json::object{{"kueue.x-k8s.io/pod-group-total-count", std::to_string(gang.size)},
                     {"kueue.x-k8s.io/role-hash", "worker"}};
    metadata["finalizers"] = json::array{"kueue.x-k8s.io/managed"};
    json::array gates;
    for (const auto* name : {"kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"}) {
        gates.push_back(json::object{{"name", name}});
    }
    spec["schedulingGates"] = std::move(gates);
}

json::object pod(std::size_t i, const PodPlan& plan) {
    const Gang gang(i, plan);
    json::object metadata{{"name", fmt::format("pod-{:06}", i)}, {"namespace", space}};
    json::array containers;
    containers.push_back(json::object{{"name", "worker"},
                                      {"image", "busybox"},
                                      {"resources",
                                       {{"requests", {{"cpu", "1"}, {"memory", "1Gi"}}},
                                        {"limits", json::object{{"nvidia.com/gpu", "1"}}}}}});
    json::object spec{{"schedulerName", plan.scheduler},
                      {"restartPolicy", "Never"},
                      {"terminationGracePeriodSeconds", 0},
                      {"containers", std::move(containers)}};
    if (plan.kind == "upstream") {
        spec["schedulingGroup"] = json::object{{"podGroupName", gang.name}};
    } else if (plan.kind == "kueue") {
        queue(gang, metadata, spec);
    }
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
}

void make_nodes(Server& server, std::size_t count) {
    Calls calls(*server.transport, creations_in_flight);
    for (std::size_t i = 0; i < count; ++i) { calls.ask(create_call(nodes, "", node(i))); }
    server.until([&] { return calls.is_idle(); });
}

/// Says when the first call went out and when the last one was answered.
void make_pods(Server& server, const PodPlan& plan) {
    const double began = now_s();
    Calls calls(*server.transport, creations_in_flight);
    const Resource groups{
        .group = "scheduling.k8s.io", .version = "v1beta1", .plural = "podgroups"};
    for (std::size_t i = 0; i < plan.count; ++i) {
        if (plan.kind == "upstream" && i % plan.per_gang == 0) {
            const Gang gang(i, plan);
            const json::object policy{{"gang", json::object{{"minCount", gang.size}}}};
            calls.ask(create_call(groups, space,
                                  {{"apiVersion", "scheduling.k8s.io/v1beta1"},
                                   {"kind", "PodGroup"},
                                   {"metadata", json::object{{"name", gang.name}}},
                                   {"spec", json::object{{"schedulingPolicy", policy}}}}));
        }
        calls.ask(create_call(pods, space, pod(i, plan)));
    }
    server.until([&] { return calls.is_idle(); });
    fmt::print("{}\n", json::serialize(json::object{{"first", began}, {"last", now_s()}}));
}

/// Of a watch event as an API server writes it, without parsing all of it.
std::string_view text_behind(std::string_view line, std::string_view key) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) { return {}; }
    line.remove_prefix(at + key.size());
    return line.substr(0, line.find('"'));
}

/// Goes on behind the last event when the server ends it, which it does to those who are slow to
/// read.
class PodWatch {
public:
    PodWatch(Server& server, std::string version, std::function<void(std::string_view)> line)
        : server_(server),
          version_(std::move(version)),
          line_(std::move(line)) {
        begin();
    }

private:
    void begin() {
        stream_ = server_.transport->stream(
            {.target =
                 fmt::format("{}?watch=1&resourceVersion={}", path_of(pods, space), version_)},
            [this](std::string_view line) {
                if (line.starts_with(R"({"type":"ERROR")")) { stop(std::string(line)); }
                version_ = text_behind(line, R"("resourceVersion":")");
                line_(line);
            },
            [this](const Result<Answer>& answer) {
                if (!answer) { stop(answer.error().message); }
                if (!answer->is_ok()) { stop(refusal_of("a watch", *answer)); }
                server_.loop.after(0, [this] { begin(); });
            });
    }

    Server& server_;
    std::string version_;
    std::function<void(std::string_view)> line_;
    std::unique_ptr<Transport::Stream> stream_;
};

std::string version_now(Server& server) {
    const json::object page = server.get(path_of(pods, space) + "?limit=1");
    return std::string(text_at(page, "metadata.resourceVersion"));
}

void follow(Server& server, std::size_t count) {
    std::set<std::string, std::less<>> bound;
    double first = 0;
    double last = 0;
    const PodWatch watch(server, version_now(server), [&](std::string_view line) {
        if (line.find(R"("nodeName":")") == std::string_view::npos) { return; }
        const std::string_view name = text_behind(line, R"("name":")");
        if (bound.contains(name)) { return; }
        bound.emplace(name);
        last = now_s();
        if (bound.size() == 1) { first = last; }
    });
    fmt::print("ready\n");
    std::fflush(stdout);
    server.until([&] { return bound.size() >= count; });
    fmt::print("{}\n", json::serialize(json::object{{"first", first}, {"last", last}}));
}

class Bare {
public:
    Bare(Server& server, std::size_t in_flight, bool with_events)
        : server_(server),
          calls_(*server.transport, in_flight),
          with_events_(with_events) {
        for (const json::value& one : array_of(server.get(path_of(nodes, "")))) {
            nodes_.emplace_back(text_at(one.as_object(), "metadata.name"));
        }
    }

    void run(std::size_t count, bool with_watch) {
        std::string token;
        std::string version;
        do {
            json::object page = server_.get(
                fmt::format("{}?limit=500{}", path_of(pods, space),
                            token.empty() ? token : "&continue=" + escape_query(token)));
            version = text_at(page, "metadata.resourceVersion");
            token = text_at(page, "metadata.continue");
            for (const json::value& one : array_of(page)) {
                const json::object& object = one.as_object();
                if (text_at(object, "spec.nodeName").empty()) {
                    bind(text_at(object, "metadata.name"), uid_of(object));
                }
            }
        } while (!token.empty());
        std::optional<PodWatch> watch;
        if (with_watch) {
            watch.emplace(server_, version, [this](std::string_view line) {
                if (line.find(R"("nodeName":")") != std::string_view::npos) { return; }
                if (line.starts_with(R"({"type":"ADDED")")) {
                    bind(text_behind(line, R"("name":")"), text_behind(line, R"("uid":")"));
                }
            });
        }
        server_.until([&] { return done_ >= count && calls_.is_idle(); });
    }

private:
    static json::array array_of(const json::object& page) {
        const json::array* items = array_at(page, "items");
        return items != nullptr ? *items : json::array{};
    }

    void bind(std::string_view name, std::string_view uid) {
        const std::string& to = nodes_[next_++ / gpus_per_node % nodes_.size()];
        const json::object binding{{"apiVersion", "v1"},
                                   {"kind", "Binding"},
                                   {"metadata", {{"name", name}, {"uid", uid}}},
                                   {"target", {{"kind", "Node"}, {"name", to}}}};
        calls_.ask({.method = "POST",
                    .target = path_of(pods, space, name, "binding"),
                    .body = json::serialize(binding)},
                   [this, of = std::string(name), id = std::string(uid), node = to] {
                       ++done_;
                       if (with_events_) { tell(of, id, node); }
                   });
    }

    void tell(const std::string& name, const std::string& uid, const std::string& to) {
        const std::string now = time_text(static_cast<std::int64_t>(now_s() * 1'000));
        calls_.ask(create_call(
            events, space,
            {{"apiVersion", "v1"},
             {"kind", "Event"},
             {"metadata", json::object{{"name", fmt::format("{}.{}", name, uid)}}},
             {"involvedObject",
              {{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"namespace", space},
               {"name", name},
               {"uid", uid}}},
             {"type", "Normal"},
             {"reason", "Scheduled"},
             {"message", fmt::format("Successfully assigned {}/{} to {}", space, name, to)},
             {"source", json::object{{"component", "bare"}}},
             {"firstTimestamp", now},
             {"lastTimestamp", now},
             {"count", 1}}));
    }

    Server& server_;
    Calls calls_;
    bool with_events_;
    std::vector<std::string> nodes_;
    std::size_t next_ = 0;
    std::size_t done_ = 0;
};

std::size_t count_of(const char* text) {
    const auto count = parse_int("a number", text, 1, 10'000'000);
    if (!count) { stop(count.error().message); }
    return static_cast<std::size_t>(*count);
}

void run(std::span<char*> words) {
    if (words.size() < 4) { stop("KUBECONFIG nodes|pods|follow|bind COUNT ..."); }
    Server server(words[1]);
    const std::string_view what = words[2];
    const std::size_t count = count_of(words[3]);
    if (what == "nodes") {
        make_nodes(server, count);
    } else if (what == "follow") {
        follow(server, count);
    } else if (what == "pods" && words.size() == 7) {
        make_pods(server, {.count = count,
                           .per_gang = count_of(words[4]),
                           .scheduler = words[5],
                           .kind = words[6]});
    } else if (what == "bind" && words.size() == 6) {
        const std::string_view how = words[5];
        Bare(server, count_of(words[4]), how == "events").run(count, how != "list");
    } else {
        stop("no such words");
    }
}

}  // namespace
}  // namespace muster::kube

int main(int count, char** words) {
    muster::kube::run(std::span(words, static_cast<std::size_t>(count)));
    return 0;
}
