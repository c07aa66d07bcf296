#include "dialect/hostlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::ElementsAre;

TEST(Hostlist, Expands) {
    EXPECT_THAT(*expand_hostlist("a"), ElementsAre("a"));
    EXPECT_THAT(*expand_hostlist("n[1-3]"), ElementsAre("n1", "n2", "n3"));
    EXPECT_THAT(*expand_hostlist("n[008-010,020],m1"),
                ElementsAre("n008", "n009", "n010", "n020", "m1"));
    EXPECT_THAT(*expand_hostlist("n[9-11]"), ElementsAre("n9", "n10", "n11"));
    EXPECT_THAT(*expand_hostlist("r[1-2]n[1-2]-ib"),
                ElementsAre("r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"));
    EXPECT_EQ(expand_hostlist("n[000001-200000]")->size(), hostlist_names_max);
}

TEST(Hostlist, RefusesByWhatItFound) {
    const auto message = [](std::string_view text) {
        return expand_hostlist(text).error().message;
    };

    EXPECT_EQ(message(""), "found \"\", expected a name");
    EXPECT_EQ(message("a,,b"), "found \"\", expected a name");
    EXPECT_EQ(message("n[1-"), "found \"n[1-\", expected a ] for each [");
    EXPECT_EQ(message("n1]"), "found \"n1]\", expected a name without blanks or stray brackets");
    EXPECT_EQ(message("n[3-1]"), "found \"3-1\", expected a number or a range like 001-018");
    EXPECT_EQ(message("n[x]"), "found \"x\", expected a number or a range like 001-018");
    EXPECT_EQ(message("n[-1]"), "found \"-1\", expected a number or a range like 001-018");
    EXPECT_EQ(message("n[]"), "found \"\", expected a number or a range like 001-018");
    EXPECT_EQ(message("n[0-200000]"), "found more than 200000 names, expected at most that");
    EXPECT_EQ(message("n[0-999]x[0-999]"), "found more than 200000 names, expected at most that");
}

}  // namespace
}  // namespace muster::dialect
