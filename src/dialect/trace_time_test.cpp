#include "dialect/trace_time.h"

#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

TEST(TraceTime, ReadsCivilTimes) {
    EXPECT_EQ(parse_civil_time("1970-01-02 00:00:01").value(), 86'401);
    EXPECT_EQ(parse_civil_time("2016-02-29T23:59:59Z").value(), 1'456'790'399);
    EXPECT_EQ(parse_civil_time("2016-02-29T23:59:59.250Z").value(), 1'456'790'399);
    for (const char* text : {"", "2015-02-29 00:00:00", "2016-02-29 24:00:00", "2016-02-29",
                             "2016/02/29 00:00:00", "2016-02-29T00:00:00+01:00", "x016-02-29 0"}) {
        EXPECT_FALSE(parse_civil_time(text)) << text;
    }
}

TEST(TraceTime, ReadsDecimalSeconds) {
    EXPECT_EQ(parse_decimal_seconds("66.9").value(), 66);
    EXPECT_EQ(parse_decimal_seconds("66").value(), 66);
    for (const char* text : {"", ".5", "6.", "-1", "1e3", "99999999999999999999"}) {
        EXPECT_FALSE(parse_decimal_seconds(text)) << text;
    }
}

}  // namespace
}  // namespace muster::dialect
