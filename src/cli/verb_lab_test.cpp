// What `muster lab` answers without a lab; with one, tools/lab_demo asks it.
#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

using testing::HasSubstr;

class LabVerbs : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    /// The words after `muster lab`, of a lab that is not there; exit code 2 is expected.
    std::string refusal(std::vector<std::string> words, bool has_folder = true) {
        words.insert(words.begin(), "lab");
        if (has_folder) { words.insert(words.end(), {"--folder", lab_}); }
        std::ostringstream out;
        std::ostringstream err;
        Terminal terminal{.out = out, .err = err, .data_folder = {}};
        EXPECT_EQ(run(words, terminal), exit_bad_input);
        EXPECT_FALSE(std::filesystem::exists(lab_));
        return err.str();
    }
    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return folder_ / name;
    }

    std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                    (std::string("muster_lab_") +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    std::string lab_ = folder_ / "lab";
};

TEST_F(LabVerbs, OrdersNeedALab) {
    EXPECT_THAT(refusal({"fail", "node", "a"}), HasSubstr("no lab runs in"));
    EXPECT_THAT(refusal({"heal", "gpu", "a:1"}), HasSubstr("no lab runs in"));
    EXPECT_THAT(refusal({"spot", "a"}), HasSubstr("no lab runs in"));
    EXPECT_THAT(refusal({"pool", "grow", "node", "2"}), HasSubstr("no lab runs in"));
}

TEST_F(LabVerbs, WordsThatMakeNoSenseAreRefused) {
    EXPECT_THAT(refusal({"fail", "rack", "a"}), HasSubstr("rack"));
    EXPECT_THAT(refusal({"fail", "node", "a", "--flap", "1s", "--slow", "3"}), HasSubstr("--flap"));
    EXPECT_THAT(refusal({"pool", "double", "node", "2"}), HasSubstr("double"));
    EXPECT_THAT(refusal({"demo", "everything"}, false), HasSubstr("everything"));
    EXPECT_THAT(refusal({"up", "--like", "a100-mixed:1", "--cluster", "x"}), HasSubstr("excludes"));
}

TEST_F(LabVerbs, ABadClusterLeavesNothingBehind) {
    EXPECT_THAT(refusal({"up", "--cluster", folder_ / "none.yaml"}), HasSubstr("none.yaml"));
    EXPECT_THAT(refusal({"up", "--cluster", file("a.yaml", "kind: [")}), HasSubstr("a.yaml:1"));
    EXPECT_THAT(refusal({"up", "--cluster",
                         file("b.yaml",
                              "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                              "metadata: {name: p}\nvalue: 1\n")}),
                HasSubstr("no nodes"));
    EXPECT_THAT(refusal({"up", "--like", "h100:1"}), HasSubstr("h100-superpod:N"));
}

}  // namespace
}  // namespace muster::cli
