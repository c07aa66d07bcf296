#include "kube/figures.h"

#include "control/fake_seams_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

namespace muster::kube {
namespace {

using testing::HasSubstr;

class FiguresOfAScheduler : public testing::Test {
protected:
    void decide(std::vector<Fact> facts, std::int64_t at) {
        facts.emplace_back(TimeIs{at});
        const Decision made = decider.decide(std::move(facts));
        figures.take(made, decider.engine(), at);
    }
    static WorkloadSpec submitted(WorkloadSpec spec, std::int64_t at, std::int64_t priority) {
        spec.submitted = at;
        spec.priority = priority;
        return spec;
    }

    Decider decider{Engine{}, {}};
    Figures figures{{.critical_priority = 100, .on_time_ms = 60'000}};
};

TEST_F(FiguresOfAScheduler, CountWhatRunsWaitsAndIsIdle) {
    decide({node_fact("a", 8), WorkloadSet{submitted(gang("runs", 3, 1), 1'000, 0)},
            WorkloadSet{submitted(gang("waits", 6, 1), 1'000, 0)}},
           2'000);

    const std::string text = figures.text();

    EXPECT_THAT(text, HasSubstr("muster_gpus{state=\"held\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("muster_gpus{state=\"idle\"} 5\n"));
    EXPECT_THAT(text, HasSubstr("muster_idle_gpu_ratio 0.625\n"));
    EXPECT_THAT(text, HasSubstr("muster_gangs{state=\"running\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("muster_workloads{state=\"waiting\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("muster_refusals_total 1\n"));
}

TEST_F(FiguresOfAScheduler, LookAtAllWorkloadsNoMoreOftenThanTold) {
    figures = Figures{{.look_ms = 250}};
    decide({node_fact("a", 8), WorkloadSet{submitted(gang("one", 3, 1), 1'000, 0)}}, 2'000);
    decide({WorkloadSet{submitted(gang("two", 2, 1), 2'100, 0)}}, 2'100);
    EXPECT_THAT(figures.text(), HasSubstr("muster_gpus{state=\"held\"} 3\n"));

    figures.catch_up(decider.engine(), 2'249);
    EXPECT_THAT(figures.text(), HasSubstr("muster_gpus{state=\"held\"} 3\n"));
    figures.catch_up(decider.engine(), 2'250);

    EXPECT_THAT(figures.text(), HasSubstr("muster_gpus{state=\"held\"} 5\n"));
}

TEST_F(FiguresOfAScheduler, TimeWorkFromSubmissionToStartAndEnd) {
    decide({WorkloadSet{submitted(gang("late", 2, 1), 1'000, 100)}}, 1'000);
    decide({node_fact("a", 8)}, 121'000);
    decide({WorkloadSet{submitted(gang("soon", 1, 1), 121'000, 100)}}, 131'000);
    decide({WorkloadGone{"late"}}, 301'000);

    const std::string text = figures.text();

    EXPECT_THAT(text, HasSubstr("muster_wait_seconds_sum 130\n"));
    EXPECT_THAT(text, HasSubstr("muster_critical_starts_total{on_time=\"true\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("muster_critical_starts_total{on_time=\"false\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("muster_run_seconds_sum 180\n"));
    EXPECT_THAT(text, HasSubstr("muster_completion_seconds_sum 300\n"));
    EXPECT_THAT(text, HasSubstr("muster_completion_seconds_count 1\n"));
}

/// The format's rules, as its specification has them.
TEST_F(FiguresOfAScheduler, KeepTheRulesOfTheFormat) {
    figures.answers = {{0, 1}, {200, 5}};
    figures.version = "0.1";
    decide({node_fact("a", 8), WorkloadSet{gang("g", 3, 1)}}, 2'000);
    const std::regex sample(
        R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*"(,[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*")*\})? (-?[0-9.e+-]+|\+Inf|NaN))re");
    std::set<std::string> families;
    std::set<std::string> samples;
    std::string family;
    std::string type;
    std::istringstream lines(figures.text());

    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ")) {
            family = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(families.insert(family).second) << "twice: " << line;
            continue;
        }
        if (line.starts_with("# TYPE ")) {
            ASSERT_TRUE(line.starts_with("# TYPE " + family + " ")) << line;
            type = line.substr(8 + family.size());
            EXPECT_TRUE(type == "counter" || type == "gauge" || type == "histogram") << line;
            EXPECT_EQ(family.ends_with("_total"), type == "counter") << line;
            continue;
        }
        std::smatch parts;
        ASSERT_TRUE(std::regex_match(line, parts, sample)) << line;
        std::string name = parts[1];
        if (type == "histogram") { name.resize(name.rfind('_')); }
        EXPECT_EQ(name, family) << line;
        EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << "twice: " << line;
    }

    EXPECT_GE(families.size(), 15U);
    EXPECT_TRUE(samples.contains("muster_client_answers_total{code=\"none\"}"));
}

}  // namespace
}  // namespace muster::kube
