#include "lab/quantity.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <ostream>

namespace muster::lab {
namespace {

struct Sum {
    std::string_view name;
    std::vector<std::string_view> parts;
    std::string_view text;
};
void PrintTo(const Sum& sum, std::ostream* out) { *out << sum.name; }

class QuantitySum : public testing::TestWithParam<Sum> {};

TEST_P(QuantitySum, IsWrittenAsKubernetesWould) {
    Quantity sum;
    for (const std::string_view part : GetParam().parts) {
        const auto read = read_quantity(boost::json::value(part));
        ASSERT_TRUE(read.has_value()) << part;
        add(sum, *read);
    }

    EXPECT_EQ(text_of(sum), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(All, QuantitySum,
                         testing::Values(Sum{"Nothing", {}, "0"}, Sum{"Whole", {"3"}, "3"},
                                         Sum{"Fraction", {"0.5"}, "500m"},
                                         Sum{"MilliBecomeWhole", {"1500m", "0.5"}, "2"},
                                         Sum{"Thousands", {"2000"}, "2k"},
                                         Sum{"BinaryStays", {"512Mi", "512Mi"}, "1Gi"},
                                         Sum{"BinaryOddity", {"1Gi", "1"}, "1073741825"},
                                         Sum{"TheFirstNotation", {"1G", "1Gi"}, "2073741824"},
                                         Sum{"BinaryFraction", {"1.5Gi"}, "1536Mi"},
                                         Sum{"Exponent", {"1e3"}, "1k"}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(Quantity, OfAPodIsItsContainersOrTheMostOfAnInitContainer) {
    const auto pod = boost::json::parse(R"({
        "initContainers":[{"resources":{"requests":{"cpu":"4","memory":"1Gi"}}},
                          {"restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}}],
        "containers":[{"resources":{"requests":{"cpu":"1","memory":"2Gi"},"limits":{"cpu":"2"}}},
                      {"resources":{"requests":{"cpu":"1"}}}],
        "overhead":{"memory":"64Mi"}})");

    EXPECT_EQ(text_of(pod_amounts(pod.as_object(), "requests")), "cpu=4,memory=2112Mi");
    EXPECT_EQ(text_of(pod_amounts(pod.as_object(), "limits")), "cpu=2");
}

}  // namespace
}  // namespace muster::lab
