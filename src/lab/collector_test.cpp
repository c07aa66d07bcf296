#include "lab/api_fixture_test.h"

namespace muster::lab {
namespace {

class CollectorTest : public ApiTest {
protected:
    std::string owned_by(const net::HttpResponse& owner) {
        return fmt::format(R"(,"ownerReferences":[{{"apiVersion":"v1","kind":"Pod","name":"{}",)"
                           R"("uid":"{}"}}])",
                           at_path(owner, "/metadata/name"), at_path(owner, "/metadata/uid"));
    }
    bool is_there(const std::string& name) { return ask("GET", pods + "/" + name).status == 200; }
};

TEST_F(CollectorTest, DependentsGoWithTheLastOfTheirOwners) {
    const auto owner = make_pod("owner");
    const auto child = make_pod("child", owned_by(owner));
    ASSERT_EQ(make_pod("grandchild", owned_by(child)).status, 201);
    ASSERT_EQ(make_pod("stranger").status, 201);

    ask("DELETE", pods + "/owner");
    collector->collect();

    EXPECT_FALSE(is_there("child"));
    EXPECT_FALSE(is_there("grandchild"));
    EXPECT_TRUE(is_there("stranger"));
}

TEST_F(CollectorTest, AnOwnerWaitsForItsDependentsInTheForeground) {
    const auto owner = make_pod("owner");
    ASSERT_EQ(make_pod("child", owned_by(owner) + R"(,"finalizers":["example.com/hold"])").status,
              201);

    ask("DELETE", pods + "/owner?propagationPolicy=Foreground");
    collector->collect();
    EXPECT_TRUE(is_there("owner"));
    EXPECT_TRUE(is_there("child"));

    ask("PATCH", pods + "/child", R"({"metadata":{"finalizers":null}})",
        {{"Content-Type", "application/merge-patch+json"}});
    collector->collect();
    EXPECT_FALSE(is_there("child"));
    EXPECT_FALSE(is_there("owner"));
}

TEST_F(CollectorTest, OrphansStay) {
    const auto owner = make_pod("owner");
    ASSERT_EQ(make_pod("child", owned_by(owner)).status, 201);

    ask("DELETE", pods + "/owner?propagationPolicy=Orphan");
    collector->collect();

    EXPECT_FALSE(is_there("owner"));
    EXPECT_TRUE(is_there("child"));
    EXPECT_EQ(at_path(ask("GET", pods + "/child"), "/metadata/ownerReferences"), "");
}

TEST_F(CollectorTest, ANamespaceGoesWhenAllInItHasGone) {
    ASSERT_EQ(ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
    ASSERT_EQ(
        ask("POST", "/api/v1/namespaces/team/configmaps", R"({"metadata":{"name":"c"}})").status,
        201);
    ASSERT_EQ(ask("POST", "/api/v1/namespaces/team/configmaps",
                  R"({"metadata":{"name":"held","finalizers":["example.com/hold"]}})")
                  .status,
              201);

    EXPECT_EQ(at_path(ask("DELETE", "/api/v1/namespaces/team"), "/status/phase"), "Terminating");
    collector->collect();
    EXPECT_EQ(ask("GET", "/api/v1/namespaces/team/configmaps/c").status, 404);
    EXPECT_EQ(
        ask("POST", "/api/v1/namespaces/team/configmaps", R"({"metadata":{"name":"d"}})").status,
        403);

    ask("PATCH", "/api/v1/namespaces/team/configmaps/held", R"({"metadata":{"finalizers":[]}})",
        {{"Content-Type", "application/merge-patch+json"}});
    collector->collect();
    EXPECT_EQ(ask("GET", "/api/v1/namespaces/team").status, 404);
}

}  // namespace
}  // namespace muster::lab
