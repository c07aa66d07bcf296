// The API over an engine in this process: routes, refusals, and that what it answers is what the
// verbs print.
#include "cli/api.h"

#include "cli/cluster.h"
#include "cli/run.h"
#include "engine/world.h"
#include "kube/objects.h"
#include "ledger/ledger.h"
#include "ledger/store_memory.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace muster::cli {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* cluster_text =
    "queue team cap=6\n"
    "queue low parent=team\n"
    "node a,b gpu=4 model=H100\n"
    "gang ml/six tasks=6 gpu=1\n"
    "gang ml/ten tasks=10 gpu=1\n"
    "gang web/two tasks=2 gpu=1\n";

class ApiOfAScheduler : public testing::Test {
protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() /
                 (std::string("muster_api_") +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder);
        write("cluster.muster", cluster_text);
        auto loaded = load_cluster({.files = {folder / "cluster.muster"}});
        ASSERT_TRUE(loaded) << loaded.error().message;
        cluster.emplace(std::move(*loaded));
        const Snapshot snapshot = cluster->engine.snapshot();
        for (const WorkloadStatus& status : snapshot.workloads) {
            specs[status.spec.name] = status.spec;
        }
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name) << text;
    }

    ApiState state() {
        ApiState out;
        out.holder = holder;
        if (!holder.empty()) { return out; }
        out.engine = &cluster->engine;
        out.context = &cluster->context;
        out.find_workload = [this](const std::string& name) {
            const auto found = specs.find(name);
            return found == specs.end() ? nullptr : &found->second;
        };
        return out;
    }
    /// Also of what is worked out elsewhere.
    net::HttpResponse ask(const std::string& target, const std::string& body = "",
                          TrialLimits limits = {}) {
        Api api(loop, [this] { return state(); }, limits);
        return answer_of(api.handle(
            {.method = body.empty() ? "GET" : "POST", .target = "/api/v1" + target, .body = body}));
    }
    net::HttpResponse answer_of(net::HttpResponse response) {
        if (response.later == nullptr) { return response; }
        std::optional<net::HttpResponse> given;
        response.later->on_answer([&](net::HttpResponse made) { given = std::move(made); });
        while (!given) { loop.run_some(1'000); }
        return std::move(*given);
    }
    json::object json_of(const std::string& target, const std::string& body = "") {
        return kube::object_of(ask(target, body).body);
    }
    std::string local(std::vector<std::string> words, int* code = nullptr) {
        words.insert(words.end(), {"--cluster", folder / "cluster.muster"});
        std::ostringstream out;
        Terminal terminal{.out = out, .err = out, .data_folder = ""};
        const int ended = run(words, terminal);
        if (code != nullptr) { *code = ended; }
        return out.str();
    }

    std::filesystem::path folder;
    std::optional<Cluster> cluster;
    std::map<std::string, WorkloadSpec> specs;
    std::string holder;
    net::EventLoop loop;
};

const std::string pod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: more, namespace: ml}\n"
    "spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: GPUS}}}]}\n";
std::string pod_of(const std::string& gpus) {
    std::string out = pod;
    return out.replace(out.find("GPUS"), 4, gpus);
}

TEST_F(ApiOfAScheduler, SaysWhatTheVerbsPrint) {
    write("job.yaml", pod_of("2"));
    struct Case {
        std::vector<std::string> words;
        std::string target;
        std::string body = {};
    };
    const std::vector<Case> cases = {
        {{"why", "ml/six"}, "/why/ml/six"},
        {{"why", "ten"}, "/why/ten"},
        {{"shapes"}, "/shapes"},
        {{"queue"}, "/queues"},
        {{"plan", "-f", folder / "job.yaml"},
         "/plan?name=" + kube::escape_query((folder / "job.yaml").string()),
         pod_of("2")},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.target);
        const std::string more = one.target.find('?') == std::string::npos ? "?" : "&";
        int code = -1;

        const std::string table = local(one.words, &code);
        std::vector<std::string> json_words = one.words;
        json_words.insert(json_words.end(), {"-o", "json"});

        EXPECT_EQ(ask(one.target, one.body).body, local(json_words));
        const json::object said =
            json_of(one.target + more + "output=terminal&format=table", one.body);
        EXPECT_EQ(kube::text_at(said, "out"), table);
        EXPECT_EQ(kube::int_at(said, "code"), code);
    }
}

TEST_F(ApiOfAScheduler, ChangesNothingByAQuestion) {
    const Snapshot before = cluster->engine.snapshot();

    for (const char* target : {"/why/ml/ten", "/why/ml/six", "/shapes", "/queues", "/nodes"}) {
        EXPECT_EQ(ask(target).status, 200) << target;
    }
    EXPECT_EQ(ask("/plan", pod_of("1")).status, 200);
    std::string nowhere = pod_of("1");
    nowhere.erase(nowhere.find(", namespace: ml"), 15);
    EXPECT_THAT(ask("/plan?namespace=team", nowhere).body, HasSubstr(R"("workload":"team/more")"));

    EXPECT_EQ(cluster->engine.snapshot(), before);
}

TEST_F(ApiOfAScheduler, ListsByPagesAndFilters) {
    const auto names = [&](const std::string& target) {
        std::vector<std::string> out;
        const json::object found = json_of(target);
        for (const json::value& one : *kube::array_at(found, "workloads")) {
            out.emplace_back(kube::text_at(one.as_object(), "workload"));
        }
        return out;
    };

    EXPECT_THAT(names("/workloads"), ElementsAre("ml/six", "ml/ten", "web/two"));
    EXPECT_THAT(names("/workloads?namespace=ml"), ElementsAre("ml/six", "ml/ten"));
    EXPECT_THAT(names("/workloads?state=waits"), ElementsAre("ml/ten"));
    EXPECT_THAT(names("/workloads?queue=team"), ElementsAre());
    EXPECT_THAT(names("/workloads?limit=2"), ElementsAre("ml/six", "ml/ten"));
    EXPECT_EQ(kube::text_at(json_of("/workloads?limit=2"), "next"), "ml/ten");
    EXPECT_THAT(names("/workloads?limit=2&after=ml/ten"), ElementsAre("web/two"));
    EXPECT_TRUE(json_of("/workloads?after=ml/ten").at("next").is_null());
    EXPECT_THAT(ask("/nodes?limit=1").body,
                AllOf(HasSubstr(R"("node":"a")"), HasSubstr(R"("next":"a")"),
                      HasSubstr(R"("held_gpu_milli":4000)"), Not(HasSubstr(R"("node":"b")"))));
}

TEST_F(ApiOfAScheduler, TellsOneWorkloadByItsChainAndPlaces) {
    const std::string runs = ask("/workloads/ml/six").body;
    const std::string waits = ask("/workloads/ml/ten").body;

    EXPECT_THAT(runs, AllOf(HasSubstr(R"("state":"runs")"), HasSubstr(R"("places":{"tasks":[)"),
                            HasSubstr(R"("node":"a")"), HasSubstr(R"("reason":null)")));
    EXPECT_THAT(waits, AllOf(HasSubstr(R"("state":"waits")"), HasSubstr(R"("verdict":"stopped")"),
                             HasSubstr("10 tasks of 1 gpu")));
}

TEST_F(ApiOfAScheduler, RefusesWithAStatusThatSaysWhy) {
    struct Case {
        std::string target;
        int status;
        std::string text;
        std::string body = {};
    };
    const std::vector<Case> cases = {
        {"/nothing", 404, "no such path"},
        {"/nodes/a", 404, "no such path"},
        {"/why", 404, "no such path"},
        {"/why/a/b/c", 404, "no such path"},
        {"/why/ml/none", 404, "no job"},
        {"/workloads/ml/none", 404, "no workload"},
        {"/workloads?limit=0", 400, "limit"},
        {"/workloads?limit=99999999999999999999", 400, "limit"},
        {"/workloads?state=odd", 400, "waits, runs or finished"},
        {"/workloads?colour=true", 400, "unknown 'colour'"},
        {"/why/ml/six?output=odd", 400, "output=odd"},
        {"/workloads?after=%zz", 400, "broken"},
        {"/" + std::string(5'000, 'x'), 400, "over 4096 bytes"},
        {"/plan", 405, "POST"},
        {"/nodes", 405, "GET", "x"},
        {"/plan", 400, "no job", "kind: List"},
        {"/plan", 400, "manifest", "{"},
        {"/plan?sensitivity=101", 400, "sensitivity", "x: y"},
        {"/plan", 413, "over", std::string(2 << 20, ' ')},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.target.substr(0, 60));
        const net::HttpResponse answer = ask(one.target, one.body);
        const json::object status = kube::object_of(answer.body);
        EXPECT_EQ(answer.status, one.status);
        EXPECT_EQ(kube::text_at(status, "kind"), "Status");
        EXPECT_EQ(kube::int_at(status, "code"), one.status);
        EXPECT_THAT(std::string(kube::text_at(status, "message")), HasSubstr(one.text));
    }
}

TEST_F(ApiOfAScheduler, SendsAwayToTheLeaderWhileItStandsBy) {
    holder = "other";

    const net::HttpResponse answer = ask("/queues");

    EXPECT_EQ(answer.status, 503);
    EXPECT_THAT(answer.body, AllOf(HasSubstr("other leads"), HasSubstr(R"("reason":"StandBy")")));
    EXPECT_EQ(ask("/version").status, 200);
    EXPECT_THAT(ask("").body, HasSubstr(R"("leads":false,"holder":"other")"));
}

TEST_F(ApiOfAScheduler, KeepsTheLastCycles) {
    Api api(loop, [this] { return state(); });
    for (std::uint64_t i = 1; i <= RecentDecisions::count_max + 10; ++i) {
        Decision decision;
        decision.cycle.plan.cycle = i;
        decision.cycle.plan.refusals = {{.workload = "ml/ten", .reason = {.text = "no room"}}};
        api.take(decision, {.sequence = i + 1, .epoch = 1, .kind = RecordKind::cycle});
    }

    const auto answer = api.handle({.method = "GET", .target = "/api/v1/decisions?limit=2"});

    const json::object told = kube::object_of(answer.body);
    const json::array& decisions = *kube::array_at(told, "decisions");
    ASSERT_EQ(decisions.size(), 2);
    EXPECT_EQ(kube::int_at(decisions[0].as_object(), "cycle"), RecentDecisions::count_max + 10);
    EXPECT_EQ(kube::int_at(decisions[1].as_object(), "sequence"), RecentDecisions::count_max + 10);
    EXPECT_THAT(answer.body, HasSubstr(R"("workload":"ml/ten")"));
}

TEST_F(ApiOfAScheduler, ShowsTheCyclesThatAreOnRecord) {
    MemoryLog log;
    const auto store = open_memory_store(log);
    auto ledger = Ledger::open(open_memory_store(log), {.leader = "before"});
    ASSERT_TRUE(ledger) << ledger.error().message;
    for (std::uint64_t i = 1; i <= 3; ++i) {
        Cycle cycle;
        cycle.plan.cycle = i;
        ASSERT_TRUE(ledger->append(cycle));
    }
    Api api(loop, [this] { return state(); });

    ASSERT_TRUE(api.recall(*store));
    ASSERT_TRUE(api.recall(*store));  // a leader again

    const auto answer = api.handle({.method = "GET", .target = "/api/v1/decisions"});
    const json::object told = kube::object_of(answer.body);
    const json::array& decisions = *kube::array_at(told, "decisions");
    ASSERT_EQ(decisions.size(), 3);
    EXPECT_EQ(kube::int_at(decisions[0].as_object(), "cycle"), 3);
    EXPECT_EQ(kube::int_at(decisions[2].as_object(), "cycle"), 1);
}

TEST(TrialProcess, EndsWhatTakesTooLongOrDies) {
    net::EventLoop loop;
    const auto wrap = [](TrialProcesses::Answer made) {
        return net::HttpResponse{.status = made.status, .body = std::move(made.body)};
    };
    TrialProcesses hasty(loop, {.time_ms = 50}, wrap);
    TrialProcesses trials(loop, {.at_once_max = 1}, wrap);
    const auto status_after = [&](net::HttpResponse response) {
        std::optional<int> status;
        response.later->on_answer([&](const net::HttpResponse& made) { status = made.status; });
        while (!status) { loop.run_some(1'000); }
        return *status;
    };

    EXPECT_EQ(status_after(hasty.answer([]() -> TrialProcesses::Answer {
                  for (;;) { pause(); }
              })),
              504);
    EXPECT_EQ(status_after(trials.answer([]() -> TrialProcesses::Answer { _exit(3); })), 500);
    auto first = trials.answer([] { return TrialProcesses::Answer{}; });
    EXPECT_EQ(trials.answer([] { return TrialProcesses::Answer{}; }).status, 429);
    EXPECT_EQ(status_after(std::move(first)), 200);
    EXPECT_NE(trials.answer([] { return TrialProcesses::Answer{}; }).later, nullptr);
}

}  // namespace
}  // namespace muster::cli
