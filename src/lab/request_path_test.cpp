#include "lab/request_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

using testing::ElementsAre;

TEST(RequestPath, IsTakenApart) {
    const auto path = parse_target("/apis/apps/v1/a%2Fb//c?watch=1&x=a+b%3D&watch=2");

    ASSERT_TRUE(path.has_value());
    EXPECT_THAT(path->parts, ElementsAre("apis", "apps", "v1", "a/b", "c"));
    EXPECT_EQ(path->query.at("watch"), "1");
    EXPECT_EQ(path->query.at("x"), "a b=");
    EXPECT_FALSE(parse_target("/a%2").has_value());
    EXPECT_FALSE(parse_target("/a?b=%zz").has_value());
}

struct Case {
    const char* path;
    const char* expected;  // group version space plural name subresource
};

class ResourcePathTest : public testing::TestWithParam<Case> {};

TEST_P(ResourcePathTest, NamesWhatItIsAbout) {
    const auto at = resource_path(parse_target(GetParam().path)->parts);

    const std::string found = !at ? "nothing"
                                  : at->group + "|" + at->version + "|" + at->space + "|" +
                                        at->plural + "|" + at->name + "|" + at->subresource +
                                        (at->is_watch ? "|watch" : "");
    EXPECT_EQ(found, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ResourcePathTest,
    testing::Values(Case{"/api/v1/pods", "|v1||pods||"},
                    Case{"/api/v1/namespaces/team/pods/a/log", "|v1|team|pods|a|log"},
                    Case{"/api/v1/namespaces/team", "|v1||namespaces|team|"},
                    Case{"/api/v1/namespaces/team/status", "|v1||namespaces|team|status"},
                    Case{"/api/v1/namespaces/team/finalize", "|v1||namespaces|team|finalize"},
                    Case{"/apis/apps/v1/namespaces/team/deployments/d/scale",
                         "apps|v1|team|deployments|d|scale"},
                    Case{"/api/v1/watch/namespaces/team/pods", "|v1|team|pods|||watch"},
                    Case{"/api/v1", "nothing"}, Case{"/apis/apps/v1", "nothing"},
                    Case{"/version", "nothing"}, Case{"/api/v1/nodes/a/b/c", "nothing"}));

}  // namespace
}  // namespace muster::lab
