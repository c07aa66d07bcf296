// `muster sim queue` and `muster sim jobs`, words in, text out.
#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Answer {
    int code = 0;
    std::string out;
    std::string err;
};

Answer ask(const std::vector<std::string>& words, bool is_err_terminal = false) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{
        .out = out, .err = err, .data_folder = "", .is_err_terminal = is_err_terminal};
    const int code = run(words, terminal);
    return {code, out.str(), err.str()};
}

TEST(SimJobs, TellsAllMeasuresAsJson) {
    const Answer answer = ask({"sim", "jobs", "--generate", "jobs=200,high=50", "--nodes", "4x8",
                               "--target", "high=60", "-o", "json"});

    EXPECT_EQ(answer.code, 0) << answer.err;
    for (const char* key : {"mean_jct_s", "mean_wait_s", "p50_wait_s", "p95_wait_s", "p99_wait_s",
                            "max_wait_s", "max_stretch", "mean_bounded_slowdown", "utilization",
                            "idle_share", "fragmented_share", "started_in_target_share", "cpu_s"}) {
        EXPECT_THAT(answer.out, HasSubstr("\"" + std::string(key) + "\":"));
    }
    EXPECT_THAT(answer.out, AllOf(HasSubstr(R"("jobs":200,)"), HasSubstr(R"("capacity":32,)"),
                                  HasSubstr(R"("target_s":60,)")));
}

TEST(SimJobs, AQueueHasOnePoolOfProcessors) {
    const Answer answer = ask({"sim", "queue", "--generate", "jobs=100,mix=1:1/16:1",
                               "--processors", "16", "--policy", "conservative"});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, AllOf(HasSubstr("on 16 processors under conservative: 100 jobs"),
                                  HasSubstr("bounded slowdown")));
}

TEST(SimJobs, SaysWhatIsWrong) {
    const std::vector<std::string> made = {"sim", "jobs", "--generate", "jobs=9", "--nodes", "2x8"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), made.begin(), made.end());
        const Answer answer = ask(more);
        EXPECT_EQ(answer.code, 2);
        return answer.err;
    };
    EXPECT_THAT(with({"--policy", "lifo"}), HasSubstr("found policy 'lifo'; expected"));
    EXPECT_THAT(with({"--policy", "conservative"}), HasSubstr("expected one pool"));
    EXPECT_THAT(with({"--window", "3"}), HasSubstr("found '3'; expected START:COUNT"));
    EXPECT_THAT(with({"--window", "5:5"}), HasSubstr("9 jobs; expected a window"));
    EXPECT_THAT(with({"--from", "soon"}), HasSubstr("--from: found 'soon'; expected a time"));
    EXPECT_THAT(with({"--product", "abacus"}), HasSubstr("found 'abacus'; expected a GPU"));
    EXPECT_THAT(ask({"sim", "jobs", "--nodes", "8", "--trace", "x"}).err,
                HasSubstr("--nodes: found '8'; expected nodes and GPUs"));
    EXPECT_THAT(ask({"sim", "queue", "--generate", "jobs=9"}).err,
                HasSubstr("expected --processors"));
    EXPECT_THAT(ask({"sim", "queue"}).err, HasSubstr("expected --trace FILE or --generate"));
    EXPECT_THAT(ask({"sim", "queue", "--trace", "none.swf"}).err, HasSubstr("none.swf"));
}

TEST(SimJobs, DistanceMakesJobsLonger) {
    const std::vector<std::string> near = {"sim",     "jobs", "--generate", "jobs=300,mix=16:1",
                                           "--nodes", "8x8",  "-o",         "json"};
    std::vector<std::string> far = near;
    far.insert(far.end(), {"--sensitivity", "15", "--nodes-per-leaf", "1"});
    const auto jct = [](const Answer& answer) {
        const std::string key = "\"mean_jct_s\":";
        return std::stod(answer.out.substr(answer.out.find(key) + key.size()));
    };

    // A leaf of one node each: sixteen GPUs cannot be nearer than over spines.
    EXPECT_DOUBLE_EQ(jct(ask(near)), jct(ask(far)));
    far.back() = "3";
    EXPECT_GT(jct(ask(far)), jct(ask(near)));
}

TEST(SimJobs, WritesTheReportWhereItMay) {
    const std::filesystem::path page =
        std::filesystem::temp_directory_path() / "muster_sim_jobs_report.html";
    std::vector<std::string> words = {"sim",     "jobs", "--generate", "jobs=100",
                                      "--nodes", "2x8",  "--report",   page};

    EXPECT_EQ(ask(words).code, 0);
    EXPECT_GT(std::filesystem::file_size(page), 10'000U);
    std::filesystem::remove(page);
    words.back() = (page / "below").string();
    EXPECT_THAT(ask(words).err, HasSubstr("below: cannot be written"));
}

TEST(SimJobs, ShowsABarOnlyOnATerminal) {
    const std::vector<std::string> words = {"sim",       "jobs",    "--generate",
                                            "jobs=5000", "--nodes", "8x8"};

    EXPECT_EQ(ask(words).err, "");
    EXPECT_THAT(ask(words, true).err, AllOf(HasSubstr("fifo █"), HasSubstr("\r\x1b[K")));
}

}  // namespace
}  // namespace muster::cli
