// Tests only: a cluster of a few nodes in memory, and schedulers that come and go on one ledger.
#pragma once

#include "kube/fake_api_test.h"
#include "kube/scheduler.h"
#include "ledger/store_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace muster::kube {

/// Two nodes of four GPUs.
class SchedulerOfKubernetes : public testing::Test {
protected:
    static constexpr const char* nodes = "/api/v1/nodes";
    static constexpr const char* pods = "/api/v1/pods";
    static constexpr const char* events = "/api/v1/events";
    static constexpr const char* groups = "/apis/scheduling.volcano.sh/v1beta1/podgroups";
    static constexpr const char* new_groups = "/apis/scheduling.k8s.io/v1beta1/podgroups";
    static constexpr const char* budgets = "/apis/policy/v1/poddisruptionbudgets";

    void SetUp() override {
        api.served = {groups, new_groups};
        put_node("n1", 4);
        put_node("n2", 4);
    }

    void start() {
        scheduler.reset();
        Link link;
        link.transport = std::make_unique<FakeTransport>(api);
        link.pump = [this](std::int64_t) { api.pump(); };
        SchedulerOptions options;
        options.loop.patience_ms = 0;
        options.leader = leader;
        options.windows = {
            .length_ms = 60'000, .after_start_ms = 10'000, .now = [this] { return clock_ms; }};
        options.loop.retry = retry;
        auto made = Scheduler::start(std::move(link), open_memory_store(log), options);
        ASSERT_TRUE(made) << made.error().message;
        scheduler = std::move(*made);
    }
    /// Enough turns for what one change leads to.
    void turn() {
        for (int i = 0; i < 6; ++i) {
            const auto turned = scheduler->turn();
            ASSERT_TRUE(turned) << turned.error().message;
        }
    }

    void put_node(const std::string& name, int gpus, const std::string& uid = "") {
        const json::object amounts{{"nvidia.com/gpu", std::to_string(gpus)},
                                   {"cpu", "64"},
                                   {"memory", "256Gi"},
                                   {"pods", "110"}};
        api.put(nodes, {{"apiVersion", "v1"},
                        {"kind", "Node"},
                        {"metadata", {{"name", name}, {"uid", uid.empty() ? name : uid}}},
                        {"spec", json::object{}},
                        {"status",
                         {{"capacity", amounts},
                          {"allocatable", amounts},
                          {"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    struct NewPod {
        std::string name;
        std::string group;
        std::string uid;
        std::string node;
        int gpus = 1;
        std::string scheduler = "muster";
        bool has_controller = false;
    };
    void put_pod(const NewPod& pod) {
        json::object metadata{{"namespace", "team"},
                              {"name", pod.name},
                              {"uid", pod.uid.empty() ? pod.name : pod.uid}};
        if (!pod.group.empty()) {
            metadata["annotations"] = {{"scheduling.k8s.io/group-name", pod.group}};
        }
        if (pod.has_controller) {
            metadata["ownerReferences"] = json::array{json::object{{"apiVersion", "batch/v1"},
                                                                   {"kind", "Job"},
                                                                   {"name", "job"},
                                                                   {"uid", "job"},
                                                                   {"controller", true}}};
        }
        json::object spec{
            {"schedulerName", pod.scheduler},
            {"containers",
             json::array{
                 {{"name", "c"},
                  {"resources", {{"limits", {{"nvidia.com/gpu", std::to_string(pod.gpus)}}}}}}}}};
        if (!pod.node.empty()) { spec["nodeName"] = pod.node; }
        api.put(pods, {{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)},
                       {"status", {{"phase", pod.node.empty() ? "Pending" : "Running"}}}});
    }
    void put_group(const std::string& name, int count, std::string uid = "") {
        if (uid.empty()) { uid = name; }
        api.put(groups, {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                         {"kind", "PodGroup"},
                         {"metadata", {{"namespace", "team"}, {"name", name}, {"uid", uid}}},
                         {"spec", {{"minMember", count}}},
                         {"status", {{"phase", "Pending"}}}});
    }
    void put_gang(const std::string& name, int count, bool has_controller = false) {
        put_group(name, count);
        for (int i = 0; i < count; ++i) {
            put_pod({.name = fmt::format("{}-{}", name, i),
                     .group = name,
                     .uid = "",
                     .node = "",
                     .has_controller = has_controller});
        }
    }

    /// A PodGroup of Kubernetes, "up", of two pods that fill a node each.
    void put_new_gang(const std::string& collection) {
        api.put(collection, {{"kind", "PodGroup"},
                             {"metadata", {{"namespace", "team"}, {"name", "up"}, {"uid", "up"}}},
                             {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", 2}}}}}}}});
        for (const char* name : {"up-a", "up-b"}) {
            put_pod({.name = name, .group = "", .uid = "", .node = "", .gpus = 4});
            json::object pod = api.at(pods, {"team", name});
            pod["spec"].as_object()["schedulingGroup"] = {{"podGroupName", "up"}};
            api.put(pods, pod);
        }
    }

    /// Until `api.refuses` is another one.
    void answer_binds_with(const Answer& answer) {
        api.refuses = [answer](const Call& call) -> std::optional<Answer> {
            if (!call.target.ends_with("/binding")) { return std::nullopt; }
            return answer;
        };
    }

    std::map<std::string, std::string> bound() {
        std::map<std::string, std::string> out;
        for (const auto& [name, pod] : api.collections[pods]) {
            const std::string_view node = text_at(pod, "spec.nodeName");
            if (!node.empty()) { out.emplace(name.second, node); }
        }
        return out;
    }
    std::size_t bindings() const {
        return static_cast<std::size_t>(
            std::count_if(api.changes.begin(), api.changes.end(),
                          [](const Call& call) { return call.target.ends_with("/binding"); }));
    }
    /// "reason of object: message"
    std::vector<std::string> told() {
        std::vector<std::string> out;
        for (const auto& [name, event] : api.collections[events]) {
            out.push_back(
                fmt::format("{} {} of {}: {}", text_at(event, "type"), text_at(event, "reason"),
                            text_at(event, "involvedObject.name"), text_at(event, "message")));
        }
        return out;
    }
    static std::string condition(const json::object& object, std::string_view type) {
        const json::array* list = array_at(object, "status.conditions");
        for (const json::value& one : list != nullptr ? *list : json::array{}) {
            const json::object& condition = one.as_object();
            if (text_at(condition, "type") != type) { continue; }
            return fmt::format("{} {}: {}", text_at(condition, "status"),
                               text_at(condition, "reason"), text_at(condition, "message"));
        }
        return "none";
    }

    void pass(std::int64_t milliseconds) {
        clock_ms += milliseconds;
        turn();
    }
    std::size_t evictions() const {
        return static_cast<std::size_t>(
            std::count_if(api.changes.begin(), api.changes.end(),
                          [](const Call& call) { return call.target.ends_with("/eviction"); }));
    }

    FakeApi api;
    RetryRule retry = {.first_ms = 600'000, .most_ms = 600'000};  // no order comes twice
    std::int64_t clock_ms = 1'000'000;
    MemoryLog log;
    Leader* leader = nullptr;
    std::unique_ptr<Scheduler> scheduler;
};

}  // namespace muster::kube
