#include "codec/binary.h"

#include "codec/any_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

template <class T>
void check_round_trip(std::uint64_t seed) {
    const T value = any_value<T>(seed);

    const std::string bytes = encode(value);
    const auto again = decode<T>(bytes);

    if (!again) { RC_FAIL(again.error().message); }
    RC_ASSERT(*again == value);
    RC_ASSERT(encode(*again) == bytes);
}

RC_GTEST_PROP(Binary, EncodedThenDecodedIsTheSame, (std::uint64_t seed)) {
    check_round_trip<Fact>(seed);
    check_round_trip<Plan>(seed);
    check_round_trip<Snapshot>(seed);
    check_round_trip<Policy>(seed);
    check_round_trip<std::vector<Ordered>>(seed);
    check_round_trip<std::vector<Conflict>>(seed);
}

RC_GTEST_PROP(Binary, IsCanonicalSoThatWhateverDecodesEncodesToTheSameBytes, (std::uint64_t seed)) {
    std::string bytes = encode(any_value<Fact>(seed));
    AnyValue dice(seed);
    for (std::uint64_t i = dice.below(4) + 1; i > 0 && !bytes.empty(); --i) {
        bytes[dice.below(bytes.size())] = static_cast<char>(dice.next());
    }

    const auto fact = decode<Fact>(bytes);

    if (fact) { RC_ASSERT(encode(*fact) == bytes); }
}

RC_GTEST_PROP(Binary, RefusesEveryBeginningOfAValue, (std::uint64_t seed)) {
    const std::string bytes = encode(any_value<Fact>(seed));

    for (std::size_t size = 0; size < bytes.size(); ++size) {
        RC_ASSERT(!decode<Fact>(std::string_view(bytes).substr(0, size)));
    }
}

struct Bad {
    const char* name;
    std::string bytes;
    const char* message;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class BadBytes : public testing::TestWithParam<Bad> {};

TEST_P(BadBytes, AreRefusedWithTheirPlace) {
    const auto fact = decode<Fact>(GetParam().bytes);

    ASSERT_FALSE(fact.has_value());
    EXPECT_EQ(fact.error().code, Code::corrupt);
    EXPECT_THAT(fact.error().message, testing::HasSubstr(GetParam().message));
}

// 11 is time_is, 8 task_gone, 2 node_gone, 0 topology_set.
INSTANTIATE_TEST_SUITE_P(
    Codec, BadBytes,
    testing::Values(Bad{"Nothing", "", "byte 0: it ends too early"},
                    Bad{"UnknownVariant", "\x0c", "byte 1: a variant is unknown"},
                    Bad{"Trailing", std::string("\x0b\x00\x00", 3), "byte 2: 1 bytes behind"},
                    Bad{"LongerThanNeeded", std::string("\x0b\x80\x00", 3), "longer than it needs"},
                    Bad{"Over64Bits", "\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "over 64"},
                    Bad{"EndlessNumber", "\x0b" + std::string(20, '\xff'), "over 64 bits"},
                    Bad{"TextOverTheEnd",
                        "\x02\x05"
                        "abc",
                        "byte 2: a number is out of range"},
                    Bad{"ListOverTheEnd", std::string("\x00\xff\xff\xff\x7f", 5), "out of range"},
                    Bad{"TaskOver32Bits", std::string("\x08\x00\xff\xff\xff\xff\x1f\x00", 8),
                        "a number is out of range"},
                    Bad{"NoFlag", std::string("\x08\x00\x00\x02", 4), "neither 0 nor 1"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster
