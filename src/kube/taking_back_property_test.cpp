// The laws of taking back under faults: crashes between any two requests, requests and answers that
// are lost, refusals of all kinds, foreign binds and deletions at any time.
#include "engine/world.h"
#include "kube/scheduler_fixture_test.h"

#include <rapidcheck/gtest.h>

#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::kube {
namespace {

class Storm : public SchedulerOfKubernetes {
public:
    Storm(std::uint32_t seed, bool has_foreign) : random_(seed + 1), has_foreign_(has_foreign) {
        SetUp();
        put_node("n3", 4);
        retry = {.first_ms = 1, .most_ms = 1};
        api.is_lost = [this](const Call& call) { return is_crashed(call); };
        api.is_answer_lost = [this](const Call& call) { return is_fault(call) && chance(10); };
        api.refuses = [this](const Call& call) { return refuse(call); };
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            put_gang(gang_of(i), sizes[i], has_controller(i));
        }
        restart();
    }
    void TestBody() override {}

    void step() {
        switch (pick(13)) {
            case 0: return restart();
            case 1: return delete_one();
            case 2: return finish_leaving();
            case 3: return make_again();
            case 4: return foreign_bind();
            case 5: return put_budget(pick(7));
            case 6: return pass_time(1'000 * pick(20));
            case 7: return run_bound();
            case 8: return regroup();
            default: return turn_once();
        }
    }
    /// A crash at any request of the turn: all that follow are never sent.
    void restart() {
        if (scheduler != nullptr && chance(50)) {
            requests_left_ = pick(6);
            turn_once();
            requests_left_ = -1;
        }
        api.work.clear();
        api.later.clear();
        start();
        check(scheduler != nullptr, "it starts");
    }
    void turn_once() {
        if (scheduler == nullptr) { return; }
        const auto turned = scheduler->turn();
        check(turned.has_value(), turned ? "" : turned.error().message);
        look();
    }

    /// No faults any more, and all that was lost is made again.
    void calm() {
        is_calm_ = true;
        put_budget(100);
        for (std::size_t i = 0; i < sizes.size(); ++i) { put_group(gang_of(i), sizes[i]); }
        restart();
        for (int i = 0; i < 24; ++i) {
            pass_time(15'000);
            run_bound();
            finish_leaving();
            make_again();
            for (int k = 0; k < 4; ++k) { turn_once(); }
        }
    }
    void check_rest() {
        const World& world = scheduler->loop().engine().world();
        std::map<std::string, std::string> held;  // by pod
        for (const Workload& workload : world.workloads) {
            if (!workload.is_present) { continue; }
            const TaskPods* there = scheduler->source().pods_of(workload.name);
            for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
                if (!workload.tasks[i].holds()) { continue; }
                check(there != nullptr && there->contains(i), workload.name + " holds for nobody");
                if (!problem.empty()) { return; }
                held[there->at(i).name.second] =
                    world.machines[workload.tasks[i].node.value].spec.name;
            }
        }
        check(held == bound(), "what the ledger holds is what runs");
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const int running = running_of(gang_of(i));
            check(running == 0 || running >= sizes[i],
                  fmt::format("{}: {} run at rest", gang_of(i), running));
        }
        check(scheduler->loop().orders().size() == 0, "no order is open");
    }

    std::uint32_t pick(std::uint32_t count) {
        return static_cast<std::uint32_t>(random_()) % count;
    }
    std::string problem;

private:
    static constexpr std::array<int, 3> sizes = {5, 4, 2};
    static std::string gang_of(std::size_t i) { return fmt::format("g{}", i); }
    /// The last one's pods are bare.
    static bool has_controller(std::size_t i) { return i + 1 < sizes.size(); }

    bool chance(std::uint32_t percent) { return pick(100) < percent; }
    void check(bool is_so, const std::string& what) {
        if (!is_so && problem.empty()) { problem = what; }
    }
    bool is_fault(const Call& call) const {
        return !is_calm_ && call.method != "GET" &&
               call.target.find("/events") == std::string::npos;
    }
    bool is_crashed(const Call& call) {
        if (call.method == "GET" || requests_left_ < 0) { return false; }
        if (requests_left_ == 0) { return true; }
        --requests_left_;
        return false;
    }

    std::optional<Answer> refuse(const Call& call) {
        if (is_fault(call) && chance(10)) { return Answer{.status = 502, .body = "{}"}; }
        const bool is_eviction = call.target.ends_with("/eviction");
        if (!is_calm_ && call.method == "POST" && chance(15)) {
            constexpr std::array statuses = {409, 429, 404, 500, 403};
            const int status = statuses[pick(statuses.size())];
            const bool is_put_off = status == 429 && chance(50);
            return Answer{.status = status, .body = "{}", .retry_after_ms = is_put_off ? 1'000 : 0};
        }
        if (!is_eviction) { return std::nullopt; }
        const json::value body = json::parse(call.body);
        const std::string name(text_at(body.as_object(), "metadata.name"));
        const auto pod = api.collections[pods].find({"team", name});
        if (pod == api.collections[pods].end()) { return std::nullopt; }
        const std::string_view uid = text_at(body.as_object(), "deleteOptions.preconditions.uid");
        check(!uid.empty(), "an eviction names the uid");
        if (uid != uid_of(pod->second)) { return std::nullopt; }  // which the server refuses
        const std::string group(annotation_of(pod->second, "scheduling.k8s.io/group-name"));
        // Of one whose group was deleted the order may be from before.
        check(has_foreign_ || is_released(group) || lost_groups_.contains(group),
              name + " is evicted, and its gang was not released");
        if (chance(50)) { return std::nullopt; }
        leaving_.insert(name);  // it takes its grace
        return Answer{.status = 201, .body = "{}"};
    }
    bool is_released(const std::string& group) {
        const World& world = scheduler->loop().engine().world();
        const WorkloadId id = world.find_workload("team/" + group);
        return id.is_valid() && world.workloads[id.value].leaving > 0;
    }

    void pass_time(std::int64_t milliseconds) {
        clock_ms += milliseconds;
        for (const auto& work : std::exchange(api.later, {})) { work(); }
    }
    /// As kubelets do.
    void run_bound() {
        std::vector<json::object> changed;
        for (const auto& [name, pod] : api.collections[pods]) {
            if (text_at(pod, "spec.nodeName").empty() ||
                text_at(pod, "status.phase") == "Running") {
                continue;
            }
            changed.push_back(pod);
            changed.back()["status"].as_object()["phase"] = "Running";
        }
        for (json::object& pod : changed) { api.put(pods, std::move(pod)); }
    }
    void delete_one() {
        if (api.collections[pods].empty()) { return; }
        auto at = api.collections[pods].begin();
        std::advance(at, pick(static_cast<std::uint32_t>(api.collections[pods].size())));
        const ObjectName name = at->first;
        leaving_.erase(name.second);
        api.erase(pods, name);
    }
    void finish_leaving() {
        for (const std::string& name : std::exchange(leaving_, {})) {
            api.erase(pods, {"team", name});
        }
    }
    /// As controllers do; at rest also who made the bare ones.
    void make_again() {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (!has_controller(i) && !is_calm_) { continue; }
            for (int k = count_of(gang_of(i)); k < sizes[i]; ++k) {
                const std::string name = fmt::format("{}-again-{}", gang_of(i), ++made_);
                put_pod({.name = name, .group = gang_of(i), .has_controller = has_controller(i)});
            }
        }
    }
    void foreign_bind() {
        if (!has_foreign_ || is_calm_) { return; }
        for (const auto& [name, pod] : api.collections[pods]) {
            if (!text_at(pod, "spec.nodeName").empty() || !chance(30)) { continue; }
            json::object bound_one = pod;
            bound_one["spec"].as_object()["nodeName"] = fmt::format("n{}", 1 + pick(3));
            return api.put(pods, std::move(bound_one));
        }
    }
    /// A group is deleted while its pods are there, or made again.
    void regroup() {
        const std::size_t i = pick(sizes.size());
        const ObjectName name{"team", gang_of(i)};
        if (api.collections[groups].contains(name)) {
            lost_groups_.insert(gang_of(i));
            return api.erase(groups, name);
        }
        put_group(gang_of(i), sizes[i], fmt::format("{}-{}", gang_of(i), ++made_));
    }
    void put_budget(std::uint32_t allowed) {
        api.put(
            budgets,
            {{"apiVersion", "policy/v1"},
             {"kind", "PodDisruptionBudget"},
             {"metadata", {{"namespace", "team"}, {"name", "b"}, {"uid", "b"}, {"generation", 1}}},
             {"spec", {{"selector", json::object{}}}},
             {"status", {{"observedGeneration", 1}, {"disruptionsAllowed", allowed}}}});
    }

    int count_of(const std::string& group) { return count(group, false); }
    int running_of(const std::string& group) { return count(group, true); }
    int count(const std::string& group, bool only_bound) {
        int out = 0;
        for (const auto& [name, pod] : api.collections[pods]) {
            if (annotation_of(pod, "scheduling.k8s.io/group-name") != group) { continue; }
            if (!only_bound || !text_at(pod, "spec.nodeName").empty()) { ++out; }
        }
        return out;
    }

    /// Behind each turn.
    void look() {
        std::map<std::string, int> used;
        for (const auto& [name, pod] : api.collections[pods]) {
            const std::string node(text_at(pod, "spec.nodeName"));
            if (node.empty()) { continue; }
            ++used[node];
            const auto [known, is_new] = places_.emplace(std::string(uid_of(pod)), node);
            check(is_new || known->second == node, name.second + " was bound twice");
        }
        for (const auto& [node, gpus] : used) {
            check(has_foreign_ || gpus <= 4, fmt::format("law 1: {} pods on {}", gpus, node));
        }
        if (!api.work.empty()) { return; }  // it has not heard all yet
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const int running = running_of(gang_of(i));
            // Pods without their group are no gang.
            if (running == 0 || running >= sizes[i] || lost_groups_.contains(gang_of(i))) {
                continue;
            }
            check(is_in_window("team/" + gang_of(i)),
                  fmt::format("law 2: {} of {}, and no window is open", running, gang_of(i)));
        }
    }
    bool is_in_window(const std::string& name) {
        if (scheduler->source().windows().is_open(name)) { return true; }
        const World& world = scheduler->loop().engine().world();
        const WorkloadId id = world.find_workload(name);
        return id.is_valid() && world.workloads[id.value].leaving > 0;
    }

    std::minstd_rand random_;
    bool has_foreign_ = false;
    bool is_calm_ = false;
    std::int64_t requests_left_ = -1;  // until the crash; −1: none is near
    std::set<std::string> leaving_;
    std::set<std::string> lost_groups_;          // at some time
    std::map<std::string, std::string> places_;  // by uid
    int made_ = 0;
};

RC_GTEST_PROP(TakingBackLaws, HoldUnderFaults, (std::uint32_t seed, bool has_foreign)) {
    Storm storm(seed, has_foreign);
    for (int i = 0; i < 80 && storm.problem.empty(); ++i) { storm.step(); }
    if (storm.problem.empty()) { storm.calm(); }
    if (storm.problem.empty()) { storm.check_rest(); }
    RC_ASSERT(storm.problem == "");
}

}  // namespace
}  // namespace muster::kube
