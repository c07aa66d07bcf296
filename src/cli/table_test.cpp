#include "cli/table.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Table, AlignsByCharactersAndEndsWithoutBlanks) {
    Table table({{"name"}, {"µs", Align::right}, {"note"}});
    table.add({"größer", "7", ""});
    table.add({"b", "1,000", "x"});

    EXPECT_EQ(table.text(Paint(false)),
              "name       µs  note\n"
              "größer      7\n"
              "b       1,000  x\n");
}

TEST(Table, NumbersHaveCommas) {
    EXPECT_EQ(with_commas(0), "0");
    EXPECT_EQ(with_commas(999), "999");
    EXPECT_EQ(with_commas(1'000), "1,000");
    EXPECT_EQ(with_commas(-1'234'567), "-1,234,567");
    EXPECT_EQ(plural(1, "task"), "1 task");
    EXPECT_EQ(plural(2'000, "task"), "2,000 tasks");
}

}  // namespace
}  // namespace muster::cli
