// Tests only: the whole lab in one thread and in virtual time: the API, fake kubelets, controllers,
// and Muster's scheduler as a client of that API. Nothing waits; time moves by `run_for`.
#pragma once

#include "codec/tree.h"
#include "kube/objects.h"
#include "kube/scheduler.h"
#include "lab/api.h"
#include "lab/cluster_controllers.h"
#include "lab/collector.h"
#include "lab/fake_kubelet.h"
#include "lab/fleet.h"
#include "lab/known_resources.h"
#include "lab/loopback.h"
#include "lab/queue_status.h"
#include "lab/schemas.h"
#include "lab/volcano_job.h"
#include "lab/workload_controllers.h"
#include "ledger/store_memory.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace muster::lab {

class WholeLab : public testing::Test {
protected:
    using Object = boost::json::object;

    ~WholeLab() override { queue.clear(); }

    /// `nodes` as `muster lab up --nodes` takes them; nothing schedules before `start_scheduler`.
    void start(std::string_view nodes) {
        auto store = ObjectStore::open(nullptr);
        ASSERT_TRUE(store.has_value());
        auto opened =
            Api::open(std::move(*store), built_in_schemas(),
                      {.kubernetes = "1.37.2",
                       .token = "",
                       .now = [this] { return now; },
                       .dice = [this] { return dice = dice * 1'664'525U + 1'013'904'223U; },
                       .after = later()});
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        api = std::move(*opened);
        collector = std::make_unique<Collector>(*api, [this] {
            if (std::exchange(is_collecting, true)) { return; }
            later()(0, [this] {
                is_collecting = false;
                collector->collect();
            });
        });
        const auto fleet = plain_fleet(nodes);
        ASSERT_TRUE(fleet.has_value()) << fleet.error().message;
        for (const Object& node : *fleet) { make(known::nodes, "", node); }
        const LabClock clock{.now = [this] { return now; }, .speed = 1};
        kubelet_link = connect_loopback(*api, later(), "fake-kubelet");
        manager_link = connect_loopback(*api, later(), "kube-controller-manager");
        volcano_link = connect_loopback(*api, later(), "vc-controller-manager");
        kubelet = std::make_unique<FakeKubelet>(*kubelet_link, clock);
        controllers = std::make_unique<WorkloadControllers>(*manager_link, clock);
        cluster = std::make_unique<ClusterControllers>(*manager_link, clock);
        volcano = std::make_unique<VolcanoJobs>(*volcano_link, clock.now);
        queues = std::make_unique<QueueStatus>(*volcano_link);
        kubelet->start();
        controllers->start();
        cluster->start();
        volcano->start();
        queues->start();
        run_for(1'000);
    }

    void start_scheduler() {
        kube::Link link;
        link.transport = connect_loopback(*api, later(), "muster");
        link.pump = [this](std::int64_t) { run_for(10); };
        kube::SchedulerOptions options;
        options.names = {"muster", "volcano", "default-scheduler"};
        options.loop.patience_ms = 0;
        options.windows.now = [this] { return now; };
        // All else goes by the wall's clock, which hardly moves here.
        options.look_ms = 0;
        options.loop.retry = {.first_ms = 1, .most_ms = 1};
        auto made =
            kube::Scheduler::start(std::move(link), open_memory_store(log), std::move(options));
        ASSERT_TRUE(made) << made.error().message;
        scheduler = std::move(*made);
    }

    Later later() {
        return [this](std::int64_t wait, std::function<void()> work) {
            queue.emplace(std::pair(now + wait, ++serial), std::move(work));
        };
    }
    void run_for(std::int64_t milliseconds) {
        const std::int64_t end = now + milliseconds;
        while (!queue.empty() && queue.begin()->first.first <= end) {
            auto next = queue.extract(queue.begin());
            now = std::max(now, next.key().first);
            next.mapped()();
        }
        now = std::max(now, end);
    }
    /// The lab and its scheduler, by turns.
    void live(std::int64_t milliseconds) {
        const std::int64_t end = now + milliseconds;
        while (now < end) {
            run_for(100);
            if (scheduler == nullptr) { continue; }
            const auto turned = scheduler->turn();
            ASSERT_TRUE(turned) << turned.error().message;
        }
    }

    net::HttpResponse send(std::string method, std::string target, std::string body = "",
                           std::string type = "application/json") {
        return api->handle({.method = std::move(method),
                            .target = std::move(target),
                            .content_type = std::move(type),
                            .body = std::move(body)},
                           "kubectl");
    }
    net::HttpResponse merge(std::string target, std::string body) {
        return send("PATCH", std::move(target), std::move(body), "application/merge-patch+json");
    }
    void make(const kube::Resource& resource, const std::string& space, const Object& object) {
        const auto made = api->handle(kube::create_call(resource, space, object), "kubectl");
        ASSERT_EQ(made.status, 201) << made.body;
    }
    /// All documents of a manifest, each to where its kind lives; in namespace `default` when they
    /// say none. Kinds of which no schema is known are made.
    void apply(const std::string& yaml) {
        const auto documents = parse_yaml("manifest", yaml);
        ASSERT_TRUE(documents.has_value()) << documents.error().message;
        for (const auto& document : *documents) {
            const boost::json::value value = value_of(*document);
            if (value.is_object()) { apply_one(value.get_object()); }
        }
    }
    void apply_example(const std::string& name) {
        std::ifstream in(std::string(MUSTER_EXAMPLES) + "/" + name);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        ASSERT_FALSE(text.empty()) << name;
        apply(text);
    }
    void apply_one(const Object& object) {
        const std::string_view version = kube::text_at(object, "apiVersion");
        for (const ResourceType& type : api->registry().served()) {
            if (type.api_version() != version || type.kind != kube::text_at(object, "kind")) {
                continue;
            }
            std::string_view space = kube::text_at(object, "metadata.namespace");
            if (space.empty()) { space = "default"; }
            if (!type.is_namespaced) { space = ""; }
            const kube::Resource resource{type.group, type.version, type.plural};
            const std::string name(kube::text_at(object, "metadata.name"));
            const auto done = send("PATCH",
                                   kube::path_of(resource, space, name) +
                                       "?fieldManager=test&force=true&fieldValidation=Strict",
                                   boost::json::serialize(object), "application/apply-patch+yaml");
            if (done.status == 415) { return make(resource, std::string(space), object); }
            ASSERT_TRUE(done.status == 200 || done.status == 201) << done.body;
            return;
        }
        FAIL() << "no such kind is served: " << version << " " << kube::text_at(object, "kind");
    }

    Object get(const std::string& path) {
        const auto found = send("GET", path);
        if (found.status != 200) { return {}; }
        return boost::json::parse(found.body).as_object();
    }
    std::vector<Object> list(const std::string& path) {
        std::vector<Object> out;
        const Object found = get(path);
        if (!found.contains("items")) { return out; }
        for (const auto& item : found.at("items").as_array()) { out.push_back(item.as_object()); }
        return out;
    }
    /// "bound/all" of the pods with that label ("" = all).
    std::string bound(const std::string& selector = "") {
        const auto all = list("/api/v1/pods?labelSelector=" + selector);
        const auto count = std::count_if(all.begin(), all.end(), [](const Object& pod) {
            return !kube::text_at(pod, "spec.nodeName").empty();
        });
        return fmt::format("{}/{}", count, all.size());
    }
    /// "reason: message" of what was said of objects of that kind.
    std::vector<std::string> events(std::string_view kind) {
        std::vector<std::string> out;
        for (const Object& event : list("/api/v1/events")) {
            if (kube::text_at(event, "involvedObject.kind") != kind) { continue; }
            out.push_back(fmt::format("{}: {}", kube::text_at(event, "reason"),
                                      kube::text_at(event, "message")));
        }
        return out;
    }

    std::int64_t now = 1'796'000'000'000;  // 2026-11-29
    std::uint32_t dice = 1;
    std::multimap<std::pair<std::int64_t, std::uint64_t>, std::function<void()>> queue;
    std::uint64_t serial = 0;
    bool is_collecting = false;
    std::unique_ptr<Api> api;
    std::unique_ptr<Collector> collector;
    std::unique_ptr<kube::Transport> kubelet_link;
    std::unique_ptr<kube::Transport> manager_link;
    std::unique_ptr<kube::Transport> volcano_link;
    std::unique_ptr<FakeKubelet> kubelet;
    std::unique_ptr<WorkloadControllers> controllers;
    std::unique_ptr<ClusterControllers> cluster;
    std::unique_ptr<VolcanoJobs> volcano;
    std::unique_ptr<QueueStatus> queues;
    MemoryLog log;
    std::unique_ptr<kube::Scheduler> scheduler;
};

}  // namespace muster::lab
