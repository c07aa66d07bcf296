#include "base/log.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Log, WritesAFieldAsOneWord) {
    EXPECT_EQ(log_line("T", "info", "gang bound", {{"gang", "team/train"}, {"tasks", 6}}),
              "time=T level=info msg=\"gang bound\" gang=team/train tasks=6\n");
    EXPECT_EQ(log_line("T", "warn", "odd", {{"text", "a\"b\n\x01=\\"}, {"none", ""}}),
              "time=T level=warn msg=odd text=\"a\\\"b\\n\\x01=\\\\\" none=\"\"\n");
}

TEST(Log, SaysNothingWithoutAPlaceForIt) {
    Log().error("nobody hears it");

    std::string heard;
    const Log log([&](const std::string& line) { heard += line; }, [] { return "now"; });
    log.info("one");
    EXPECT_EQ(heard, "time=now level=info msg=one\n");
}

}  // namespace
}  // namespace muster
