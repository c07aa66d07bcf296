#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
namespace {

/// A text and what must come of it: a number, or a code.
struct Case {
    const char* name;
    const char* text;
    Result<std::int64_t> expected;
};

void PrintTo(const Case& row, std::ostream* out) { *out << "'" << row.text << "'"; }

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

const auto invalid = fail(Code::invalid, "");
const auto limit = fail(Code::limit, "");

void expect_same(const Result<std::int64_t>& actual, const Result<std::int64_t>& expected) {
    ASSERT_EQ(actual.has_value(), expected.has_value()) << (actual ? "" : actual.error().message);
    if (expected) {
        EXPECT_EQ(*actual, *expected);
    } else {
        EXPECT_EQ(actual.error().code, expected.error().code) << actual.error().message;
    }
}

// Whole numbers.

class WholeNumber : public testing::TestWithParam<Case> {};

TEST_P(WholeNumber, ReadsExactlyOrSaysWhy) {
    expect_same(parse_int(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Text, WholeNumber,
    testing::Values(Case{"Zero", "0", 0}, Case{"Negative", "-7", -7},
                    Case{"LeadingZeros", "007", 7},
                    Case{"Largest", "9223372036854775807", INT64_MAX},
                    Case{"Smallest", "-9223372036854775808", INT64_MIN},
                    Case{"OneOverTheLargest", "9223372036854775808", limit},
                    Case{"OneUnderTheSmallest", "-9223372036854775809", limit},
                    Case{"Empty", "", invalid}, Case{"SignAlone", "-", invalid},
                    Case{"Plus", "+1", invalid}, Case{"BlankBefore", " 1", invalid},
                    Case{"BlankAfter", "1 ", invalid}, Case{"Fraction", "1.5", invalid},
                    Case{"Hexadecimal", "0x10", invalid}, Case{"Word", "many", invalid}),
    name_of);

TEST(WholeNumberInRange, NamesWhatIsOutOfRange) {
    const auto at_edge = parse_int("tasks", "512", 1, 512);
    const auto over = parse_int("tasks", "513", 1, 512);
    const auto not_a_number = parse_int("tasks", "x", 1, 512);

    EXPECT_EQ(at_edge, 512);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().message, "tasks: 513 is out of range; expected 1 to 512");
    ASSERT_FALSE(not_a_number);
    EXPECT_EQ(not_a_number.error().message, "tasks: 'x' is not a whole number");
}

TEST(WholeNumberMessage, CutsALongText) {
    const auto result = parse_int(std::string(5000, 'x'));

    ASSERT_FALSE(result);
    EXPECT_LT(result.error().message.size(), 200U);
    EXPECT_NE(result.error().message.find("5000 bytes"), std::string::npos);
}

RC_GTEST_PROP(WholeNumberLaw, PrintThenReadIsTheSame, (std::int64_t value)) {
    RC_ASSERT(parse_int(std::to_string(value)).value() == value);
}

// Kubernetes quantities, in thousandths.

class Milli : public testing::TestWithParam<Case> {};

TEST_P(Milli, ReadsExactlyOrSaysWhy) {
    expect_same(parse_quantity_milli(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Text, Milli,
    testing::Values(
        Case{"Zero", "0", 0}, Case{"Whole", "2", 2000}, Case{"Milli", "500m", 500},
        Case{"Half", "0.5", 500}, Case{"PointFirst", ".5", 500}, Case{"PointLast", "2.", 2000},
        Case{"Plus", "+1", 1000}, Case{"Kilo", "1k", 1'000'000}, Case{"Exponent", "1e3", 1'000'000},
        Case{"CapitalExponent", "1E3", 1'000'000}, Case{"SignedExponent", "1e+3", 1'000'000},
        Case{"NegativeExponent", "5e-1", 500}, Case{"MicroRoundsUp", "1u", 1},
        Case{"NanoRoundsUp", "1n", 1}, Case{"JustOverHalf", "0.5001", 501},
        Case{"LargestWhole", "9223372036854775", 9'223'372'036'854'775'000},
        Case{"OverTheLargest", "9223372036854776", limit}, Case{"ExaOverflows", "10E", limit},
        Case{"Negative", "-1", invalid}, Case{"Empty", "", invalid},
        Case{"PointAlone", ".", invalid}, Case{"TwoPoints", "1.2.3", invalid},
        Case{"SuffixAlone", "Gi", invalid}, Case{"UnknownSuffix", "1X", invalid},
        Case{"SuffixTwice", "1mm", invalid}, Case{"BlankInside", "1 G", invalid},
        Case{"ExponentEmpty", "1e+", invalid}, Case{"ExponentTwoSigns", "1e+-3", invalid},
        Case{"ExponentTooLarge", "1e19", invalid}, Case{"ExponentThenSuffix", "1e3k", invalid},
        Case{"TooManyDigits", "1234567890123456789", invalid}),
    name_of);

// Kubernetes quantities, whole and rounded up.

class Whole : public testing::TestWithParam<Case> {};

TEST_P(Whole, ReadsRoundedUpOrSaysWhy) {
    expect_same(parse_quantity(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Text, Whole,
    testing::Values(Case{"Zero", "0", 0}, Case{"Bytes", "17", 17}, Case{"Kibi", "1Ki", 1024},
                    Case{"Mebi", "1Mi", 1 << 20}, Case{"OneAndAHalfGibi", "1.5Gi", 3LL << 29},
                    Case{"Tebi", "1Ti", 1LL << 40}, Case{"Pebi", "1Pi", 1LL << 50},
                    Case{"Exbi", "7Ei", 7LL << 60}, Case{"ExbiOverflows", "8Ei", limit},
                    Case{"ManyExbiOverflow", "999999999999999999Ei", limit},
                    Case{"Giga", "80G", 80'000'000'000}, Case{"MilliRoundsUp", "1m", 1},
                    Case{"FractionRoundsUp", "2.1", 3},
                    Case{"LargestByExponent", "9.22e18", 9'220'000'000'000'000'000},
                    Case{"ExponentOverflows", "9.23e18", limit},
                    Case{"LowercaseBinary", "1gi", invalid}),
    name_of);

RC_GTEST_PROP(QuantityLaw, MilliOfAWholeNumberIsAThousandTimesIt, (std::uint32_t value)) {
    RC_ASSERT(parse_quantity_milli(std::to_string(value)).value() == std::int64_t{value} * 1000);
}

RC_GTEST_PROP(QuantityLaw, MilliSuffixIsTheNumberItself, (std::uint32_t value)) {
    RC_ASSERT(parse_quantity_milli(std::to_string(value) + "m").value() == std::int64_t{value});
}

RC_GTEST_PROP(QuantityLaw, WholeIsMilliRoundedUp, (std::uint32_t value)) {
    const std::string text = std::to_string(value) + "m";

    const std::int64_t milli = parse_quantity_milli(text).value();

    RC_ASSERT(parse_quantity(text).value() == (milli + 999) / 1000);
}

// Cutting text.

TEST(Trim, TakesBlanksFromBothEndsOnly) {
    EXPECT_EQ(trim(" \t a b\r\n"), "a b");
    EXPECT_EQ(trim("a"), "a");
    EXPECT_EQ(trim(" \t"), "");
    EXPECT_EQ(trim(""), "");
}

TEST(Split, KeepsEmptyFields) {
    EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
    EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Words, DropsEmptyFields) {
    EXPECT_EQ(words("  gang\ttrain  tasks=2 "),
              (std::vector<std::string_view>{"gang", "train", "tasks=2"}));
    EXPECT_EQ(words(" \t"), std::vector<std::string_view>{});
}

RC_GTEST_PROP(SplitLaw, JoiningTheFieldsGivesTheTextBack, (const std::string& text)) {
    std::string joined;
    for (const std::string_view field : split(text, ',')) {
        joined.append(field);
        joined.push_back(',');
    }
    joined.pop_back();

    RC_ASSERT(joined == text);
}

RC_GTEST_PROP(WordsLaw, NoWordIsEmptyOrHasABlank, (const std::string& text)) {
    for (const std::string_view word : words(text)) {
        RC_ASSERT(!word.empty());
        RC_ASSERT(word.find_first_of(" \t") == std::string_view::npos);
    }
}

}  // namespace
}  // namespace muster
