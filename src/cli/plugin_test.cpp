#include "cli/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using testing::ElementsAre;

TEST(Plugin, AsksTheServiceWhenItIsCalledByKubectl) {
    EXPECT_THAT(words_of_plugin("/usr/bin/kubectl-muster", {"why", "train"}),
                ElementsAre("why", "--service", "muster-system/muster:http", "train"));
    EXPECT_THAT(words_of_plugin("kubectl-muster", {"queue"}),
                ElementsAre("queue", "--service", "muster-system/muster:http"));
}

TEST(Plugin, LeavesOtherWordsAlone) {
    EXPECT_THAT(words_of_plugin("/usr/bin/muster", {"why", "train"}), ElementsAre("why", "train"));
    EXPECT_THAT(words_of_plugin("kubectl-muster", {"version"}), ElementsAre("version"));
    EXPECT_THAT(words_of_plugin("kubectl-muster", {"why", "a", "--service=x/y:z"}),
                ElementsAre("why", "a", "--service=x/y:z"));
    EXPECT_THAT(words_of_plugin("kubectl-muster", {"why", "a", "--cluster", "c.yaml"}),
                ElementsAre("why", "a", "--cluster", "c.yaml"));
    EXPECT_THAT(words_of_plugin("", {}), ElementsAre());
}

}  // namespace
}  // namespace muster::cli
