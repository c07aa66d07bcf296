// The whole program, words in, text and code out, on real manifests.
#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Answer {
    int code = 0;
    std::string out;
    std::string err;
};

Answer ask(const std::vector<std::string>& words, bool has_colour = false) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{.out = out, .err = err, .has_colour = has_colour, .data_folder = ""};
    const int code = run(words, terminal);
    return {code, out.str(), err.str()};
}

/// Files of one test, gone with it.
class Program : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  (std::string("muster_") +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder_);
        write("two.muster", "node a,b gpu=4 model=H100\n");
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write_gang(const std::string& name, int tasks) const {
        write(name,
              "apiVersion: batch.volcano.sh/v1alpha1\n"
              "kind: Job\n"
              "metadata: {name: dist-train-demo}\n"
              "spec:\n"
              "  minAvailable: " +
                  std::to_string(tasks) +
                  "\n"
                  "  schedulerName: volcano\n"
                  "  queue: default\n"
                  "  tasks:\n"
                  "  - replicas: " +
                  std::to_string(tasks) +
                  "\n"
                  "    name: worker\n"
                  "    template:\n"
                  "      spec:\n"
                  "        restartPolicy: Never\n"
                  "        containers:\n"
                  "        - name: trainer\n"
                  "          image: busybox:1.36\n"
                  "          resources:\n"
                  "            requests: {nvidia.com/gpu: 1}\n"
                  "            limits: {nvidia.com/gpu: 1}\n");
    }

private:
    std::filesystem::path folder_;
};

TEST_F(Program, PlansAGangThatFits) {
    write_gang("job.yaml", 6);

    const Answer answer = ask({"plan", "--cluster", path("two.muster"), "-f", path("job.yaml")});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("starts now: all 6 tasks on 2 nodes"));
    EXPECT_THAT(answer.out, HasSubstr("worker-0"));
    EXPECT_THAT(answer.out, Not(HasSubstr("\x1b")));
}

TEST_F(Program, PlansInTheNamespaceThatIsSaidWhereTheJobSaysNone) {
    const std::string plan =
        "apiVersion: v1\nkind: Pod\nmetadata: {NAME}\n"
        "spec: {containers: [{name: c, image: i}]}\n";
    const auto starts = [&](const std::string& metadata) {
        std::string text = plan;
        text.replace(text.find("NAME"), 4, metadata);
        write("pod.yaml", text);
        const Answer answer =
            ask({"plan", "--cluster", path("two.muster"), "-f", path("pod.yaml"), "-n", "team"});
        return answer.out.substr(0, answer.out.find(' '));
    };

    EXPECT_EQ(starts("name: p"), "team/p");
    EXPECT_EQ(starts("name: p, namespace: own"), "own/p");
    const Answer bad =
        ask({"plan", "--cluster", path("two.muster"), "-f", path("pod.yaml"), "-n", "a/b"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_THAT(bad.err, HasSubstr("the namespace: expected"));
}

TEST_F(Program, PlansAGangThatDoesNotFit) {
    write_gang("job.yaml", 10);

    const Answer answer = ask({"plan", "--cluster", path("two.muster"), "-f", path("job.yaml")});

    EXPECT_EQ(answer.code, 1) << answer.err;
    EXPECT_THAT(answer.out,
                AllOf(HasSubstr("waits and holds nothing: 10 tasks of 1 gpu; room for 8"),
                      HasSubstr("8 tasks instead of 10"), HasSubstr("is looked at again when")));
}

TEST_F(Program, AnswersInJson) {
    write_gang("job.yaml", 10);

    const Answer answer =
        ask({"plan", "--cluster", path("two.muster"), "-f", path("job.yaml"), "-o", "json"});

    EXPECT_EQ(answer.code, 1);
    EXPECT_THAT(answer.out, StartsWith(R"({"starts":false,"workloads":[{"workload":)"));
    EXPECT_THAT(answer.out, AllOf(HasSubstr(R"("why":"no_room")"), HasSubstr(R"("have":8)"),
                                  HasSubstr(R"({"kind":"fewer_tasks")")));
}

TEST_F(Program, PaintsOnlyATerminal) {
    write_gang("job.yaml", 6);

    const Answer answer =
        ask({"plan", "--cluster", path("two.muster"), "-f", path("job.yaml")}, true);

    EXPECT_THAT(answer.out, HasSubstr("\x1b[32mstarts now:\x1b[0m"));
}

TEST_F(Program, RefusesBadInputWithItsPlace) {
    write("bad.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: [1\n");
    write("bad.muster", "node a gpus=4\n");
    write("empty.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n");
    write_gang("job.yaml", 6);
    const std::pair<std::vector<std::string>, std::string> cases[] = {
        {{"plan", "--cluster", path("two.muster"), "-f", path("bad.yaml")}, "bad.yaml"},
        {{"plan", "--cluster", path("bad.muster"), "-f", path("job.yaml")},
         "bad.muster:1: unknown key"},
        {{"plan", "--cluster", path("two.muster"), "-f", path("empty.yaml")}, "no job"},
        {{"plan", "--cluster", path("empty.yaml"), "-f", path("job.yaml")}, "no nodes"},
        {{"plan", "--cluster", path("nowhere.yaml"), "-f", path("job.yaml")}, "nowhere.yaml"},
        {{"plan", "--cluster", path("two.muster")}, "is required"},
        {{"plan", "--cluster", path("two.muster"), "-f", path("job.yaml"), "-o", "xml"}, "xml"},
        {{"scenario", path("bad.muster")}, "bad.muster:1: unknown key 'gpus'"},
        {{"why", "ghost", "--cluster", path("two.muster")}, "no job 'ghost'"},
        {{"why", "x", "--cluster", path("two.muster"), "--context", "c"}, "expected one cluster"},
        {{"why", "x", "--kubeconfig", path("nowhere")}, "nowhere: No such file"},
        {{"why", "x", "--kubeconfig", path("bad.yaml")}, "bad.yaml"},
        {{"scheduler", "--ledger", path("l"), "--kubeconfig", path("nowhere")}, "nowhere"},
        {{"scheduler", "--kubeconfig", path("nowhere")}, "is required"},
        {{"scheduler", "--ledger", path("l"), "--lease", "x"}, "leader-elect"},
        {{"explode"}, ""},
        {{}, ""},
    };
    for (const auto& [words, message] : cases) {
        const Answer answer = ask(words);

        EXPECT_EQ(answer.code, 2) << testing::PrintToString(words);
        EXPECT_THAT(answer.err, HasSubstr(message));
        EXPECT_EQ(answer.out, "") << testing::PrintToString(words);
    }
}

TEST_F(Program, ReadsNoClusterThatNobodyNamed) {
    const char* const known = std::getenv("KUBECONFIG");
    const std::string before = known == nullptr ? "" : known;
    unsetenv("KUBECONFIG");

    const Answer none = ask({"why", "train"});
    setenv("KUBECONFIG", path("nowhere").c_str(), 1);
    const Answer listed = ask({"why", "train"});
    known == nullptr ? unsetenv("KUBECONFIG") : setenv("KUBECONFIG", before.c_str(), 1);

    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("no cluster; expected --cluster FILE"));
    EXPECT_EQ(listed.code, 2);
    EXPECT_THAT(listed.err, HasSubstr("nothing in " + path("nowhere")));
}

TEST_F(Program, ExplainsTheChainOfAWaitingJob) {
    write("c.muster",
          "node a rack=r1 gpu=4\nqueue q cap=8\ngang team/train queue=q tasks=3 gpu=2\n");

    const Answer answer = ask({"why", "train", "--cluster", path("c.muster")});

    EXPECT_EQ(answer.code, 1) << answer.err;
    EXPECT_THAT(answer.out, AllOf(HasSubstr("team/train waits"), HasSubstr("ok   submit"),
                                  HasSubstr("ok   admit"), HasSubstr("0 of 8 GPU used in q"),
                                  HasSubstr("3 of 3 together"), HasSubstr("stop place"),
                                  HasSubstr("room for 2"), HasSubstr("2 tasks instead of 3")));
}

TEST_F(Program, AJobAtTheHeadOfAStrictQueueIsNotInItsOwnWay) {
    write("c.muster", "node a gpu=4\nqueue q head=strict\ngang train queue=q tasks=3 gpu=2\n");

    const Answer answer = ask({"why", "train", "--cluster", path("c.muster")});

    EXPECT_THAT(answer.out, HasSubstr("would start now with  2 tasks instead of 3"));
}

TEST_F(Program, WritesAClusterAsAScenarioThatRuns) {
    write_gang("job.yaml", 6);
    write("node.yaml",
          "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
          "status: {allocatable: {cpu: 64, nvidia.com/gpu: 4, pods: 110}}\n");

    const Answer answer =
        ask({"scenario", "--cluster", path("node.yaml"), "--cluster", path("job.yaml")});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("| default/dist-train-demo waits: 6 tasks of 1 gpu"));
    write("again.muster", answer.out);
    EXPECT_EQ(ask({"scenario", path("again.muster")}).code, 0);
}

TEST_F(Program, ExplainsWhereAJobRuns) {
    write("c.muster", "node a gpu=4\ngang train tasks=2 gpu=2\n");

    const Answer answer = ask({"why", "train", "--cluster", path("c.muster")});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, AllOf(HasSubstr("train runs"), HasSubstr("2 tasks on 1 node: a")));
}

TEST_F(Program, ShowsFreeShapes) {
    write("c.muster", "levels rack\nnode a[1-4] rack=r[1-2] gpu=8 model=H100\npod p gpu=1\n");

    const Answer answer = ask({"shapes", "--cluster", path("c.muster")});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("whole 8-GPU node"));
    EXPECT_THAT(
        ask({"shapes", "--cluster", path("c.muster"), "-o", "json"}).out,
        AllOf(HasSubstr(R"({"model":"H100","gpus":8,"free":3,"total":4,"free_gpus":31})"),
              HasSubstr(R"({"level":"rack","free":1,"total":2})"),
              HasSubstr(R"({"level":"rack","model":"H100","gpus":8,"tasks":2,"domain":"r2"})")));
}

TEST_F(Program, TellsWhatAScenarioExpectedAndWhatCame) {
    write("s.muster",
          "node a gpu=4\npod p gpu=8\ncycle\nexpect p runs\nshow topology\n| a  8 free\n");

    const Answer answer = ask({"scenario", path("s.muster")});

    EXPECT_EQ(answer.code, 1);
    EXPECT_THAT(answer.out, AllOf(HasSubstr("s.muster:4: expect p runs\n    found: p waits"),
                                  HasSubstr("s.muster:5: show topology"),
                                  HasSubstr("    - | a  8 free\n    + | a  4 free"),
                                  HasSubstr("2 expectations, 1 failed")));
}

TEST_F(Program, RewritesGoldenBlocksAndNothingElse) {
    write("s.muster",
          "# kept\nnode a gpu=4\n\nshow topology\n| stale\n| lines\n\nshow queues\npod p\n");

    const Answer answer = ask({"scenario", "--update", path("s.muster")});

    EXPECT_EQ(answer.code, 0) << answer.out;
    EXPECT_EQ(read("s.muster"),
              "# kept\nnode a gpu=4\n\nshow topology\n| a  4 free\n\nshow queues\n"
              "| default  0 gpu, 0 run, 0 wait\npod p\n");
}

TEST_F(Program, TellsFactsThatTheEngineRefuses) {
    write("s.muster", "queue q\nqueue c parent=q\ndelete queue q\ncycle\n");

    const Answer answer = ask({"scenario", path("s.muster")});

    EXPECT_EQ(answer.code, 1);
    EXPECT_THAT(answer.out,
                HasSubstr("s.muster:3: delete queue q\n    found: the engine refuses this"));
    write("s.muster", "queue q\nqueue c parent=q\ndelete queue q\nexpect refused\n");
    EXPECT_EQ(ask({"scenario", path("s.muster")}).code, 0);
}

TEST_F(Program, HelpTeaches) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                  {"plan", "--help"},
                                                  {"why", "-h"},
                                                  {"shapes", "-h"},
                                                  {"lint", "-h"},
                                                  {"scenario", "-h"},
                                                  {"sim", "placement", "-h"},
                                                  {"sim", "random", "-h"},
                                                  {"sim", "queue", "-h"},
                                                  {"sim", "jobs", "-h"},
                                                  {"ledger", "verify", "-h"}}) {
        const Answer answer = ask(words);

        EXPECT_EQ(answer.code, 0);
        EXPECT_THAT(answer.out, HasSubstr("  muster " + (words.size() > 1 ? words[0] : "")))
            << answer.out;
    }
}

TEST_F(Program, CompletesInThreeShells) {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const Answer answer = ask({"completion", shell});

        EXPECT_EQ(answer.code, 0);
        EXPECT_THAT(answer.out,
                    AllOf(HasSubstr("plan"), HasSubstr("placement"), HasSubstr("verify")));
    }
    EXPECT_EQ(ask({"completion", "tcsh"}).code, 2);
}

TEST_F(Program, DemoKeepsItsPromises) {
    const Answer answer = ask({"demo"});

    EXPECT_EQ(answer.code, 0) << answer.out;
    EXPECT_THAT(answer.out, Not(HasSubstr("[no]")));
    EXPECT_THAT(answer.out, HasSubstr("17 of 17 checks hold"));
}

}  // namespace
}  // namespace muster::cli
