#include "lab/canonical.h"

#include "lab/schemas.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

struct AmountCase {
    const char* text;
    const char* canonical;  // null: it is none
};
class Amounts : public testing::TestWithParam<AmountCase> {};

TEST_P(Amounts, HaveOneForm) {
    const auto found = canonical_quantity(GetParam().text);

    if (GetParam().canonical == nullptr) {
        EXPECT_FALSE(found) << *found;
    } else {
        ASSERT_TRUE(found) << GetParam().text;
        EXPECT_EQ(*found, GetParam().canonical);
    }
}

// As a kube-apiserver 1.37.2 writes them.
INSTANTIATE_TEST_SUITE_P(Of, Amounts,
                         testing::Values(AmountCase{"0.5", "500m"}, AmountCase{"1", "1"},
                                         AmountCase{"1000m", "1"}, AmountCase{"1500m", "1500m"},
                                         AmountCase{"2000", "2k"}, AmountCase{"1.5Gi", "1536Mi"},
                                         AmountCase{"1024Mi", "1Gi"}, AmountCase{"0.5Gi", "512Mi"},
                                         AmountCase{"0", "0"}, AmountCase{"0Mi", "0"},
                                         AmountCase{"512", "512"}, AmountCase{"1Ki", "1Ki"},
                                         AmountCase{"-1Gi", "-1Gi"}, AmountCase{"+3", "3"},
                                         AmountCase{"1e3", "1e3"}, AmountCase{"12E2", "1200"},
                                         AmountCase{"0.1m", "100u"},
                                         AmountCase{"100000000", "100M"}, AmountCase{"", nullptr},
                                         AmountCase{"much", nullptr}, AmountCase{"1 Gi", nullptr},
                                         AmountCase{"1.2.3", nullptr}, AmountCase{"1gi", nullptr},
                                         AmountCase{".", nullptr}, AmountCase{"1e", nullptr}));

TEST(Canonical, WhatIsNothingIsLeftOut) {
    json::value pod = json::parse(R"({"metadata":{"labels":{},"annotations":null,"name":"a"},
        "spec":{"nodeName":"","hostNetwork":false,"tolerations":[],"volumes":[{"name":"v","emptyDir":{}}],
        "containers":[{"name":"c","image":"","env":[{"name":"","value":""}],
        "resources":{"limits":{"cpu":0.5,"memory":"1.5Gi"}}}]}})");

    canonicalise(pod, *built_in_schemas().find("", "v1", "Pod"));

    EXPECT_EQ(pod, json::parse(R"({"metadata":{"name":"a"},
        "spec":{"volumes":[{"name":"v","emptyDir":{}}],
        "containers":[{"name":"c","env":[{"name":""}],
        "resources":{"limits":{"cpu":"500m","memory":"1536Mi"}}}]}})"));
}

TEST(Canonical, TimesLoseWhatTheirTypeHasNoRoomFor) {
    json::value lease = json::parse(R"({"metadata":{"creationTimestamp":"2026-01-01T00:00:00.5Z"},
        "spec":{"renewTime":"2026-01-01T00:00:00Z"}})");

    canonicalise(lease, *built_in_schemas().find("coordination.k8s.io", "v1", "Lease"));

    EXPECT_EQ(lease, json::parse(R"({"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},
        "spec":{"renewTime":"2026-01-01T00:00:00.000000Z"}})"));
}

}  // namespace
}  // namespace muster::lab
