#include "kube/discovery.h"

#include "kube/cluster_copy.h"
#include "kube/fake_api_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace muster::kube {
namespace {

using testing::HasSubstr;

class DiscoveryOfKinds : public testing::Test {
protected:
    Result<ServedKinds> look(std::set<ObjectKind> wanted = all_kinds()) {
        std::optional<Result<ServedKinds>> found;
        discover(transport, std::move(wanted),
                 [&](Result<ServedKinds> kinds) { found = std::move(kinds); });
        for (int i = 0; i < 10; ++i) { api.pump(); }
        return found ? *found : fail(Code::timeout, "not called");
    }

    FakeApi api;
    FakeTransport transport{api};
};

TEST_F(DiscoveryOfKinds, FindsNothingElseThanTheCoreOnABareServer) {
    const auto kinds = look();

    ASSERT_TRUE(kinds) << kinds.error().message;
    EXPECT_EQ(kinds->size(), 5U);
    for (const ObjectKind kind : {ObjectKind::node, ObjectKind::pod, ObjectKind::claim,
                                  ObjectKind::volume, ObjectKind::name_space}) {
        EXPECT_TRUE(kinds->contains(kind)) << name_of(kind).kind;
    }
}

TEST_F(DiscoveryOfKinds, TakesOfTheCoreWhatTheServerTellsOf) {
    api.served = {"/api/v1/namespaces"};

    const auto kinds = look({ObjectKind::node, ObjectKind::pod, ObjectKind::claim,
                             ObjectKind::volume, ObjectKind::name_space});

    ASSERT_TRUE(kinds) << kinds.error().message;
    EXPECT_EQ(kinds->size(), 3U);
    EXPECT_TRUE(kinds->contains(ObjectKind::name_space));
}

TEST_F(DiscoveryOfKinds, TakesTheVersionThatEachMinorServes) {
    struct Case {
        const char* minor;
        std::set<std::string> served;
        std::string groups;
        std::string composites;
    };
    const std::string prefix = "/apis/scheduling.k8s.io/";
    const Case cases[] = {
        {"1.34", {prefix + "v1/priorityclasses"}, "", ""},
        {"1.35", {prefix + "v1/priorityclasses", prefix + "v1alpha1/workloads"}, "", ""},
        {"1.36", {prefix + "v1alpha2/workloads", prefix + "v1alpha2/podgroups"}, "v1alpha2", ""},
        {"1.37",
         {prefix + "v1beta1/podgroups", prefix + "v1alpha3/podgroups",
          prefix + "v1alpha3/compositepodgroups"},
         "v1beta1",
         "v1alpha3"},
    };
    for (const Case& one : cases) {
        api.served = one.served;

        const auto kinds = look();

        ASSERT_TRUE(kinds) << kinds.error().message;
        const auto version = [&](ObjectKind kind) {
            const auto found = kinds->find(kind);
            return found == kinds->end() ? "" : found->second.version;
        };
        EXPECT_EQ(version(ObjectKind::upstream_group), one.groups) << one.minor;
        EXPECT_EQ(version(ObjectKind::composite_group), one.composites) << one.minor;
    }
}

TEST_F(DiscoveryOfKinds, FailsWhenTheServerDoes) {
    struct Refusing final : Transport {
        void call(Call, Done done) override {
            done(Answer{.status = 403, .body = R"({"message":"not you"})"});
        }
        std::unique_ptr<Stream> stream(Call, std::function<void(std::string_view)>, Done) override {
            return nullptr;
        }
        void after(std::int64_t, std::function<void()>) override {}
    } refusing;
    std::optional<Result<ServedKinds>> found;

    discover(refusing, all_kinds(), [&](Result<ServedKinds> kinds) { found = std::move(kinds); });

    ASSERT_TRUE(found);
    ASSERT_FALSE(*found);
    EXPECT_THAT(found->error().message, HasSubstr("/apis was answered with 403: not you"));
}

TEST_F(DiscoveryOfKinds, AsksAgainWhereABusyServerRefuses) {
    api.served = {"/apis/scheduling.k8s.io/v1beta1/podgroups"};
    std::map<std::string, int> asked;
    api.refuses = [&](const Call& call) -> std::optional<Answer> {
        if (++asked[call.target] > 3) { return std::nullopt; }
        return Answer{.status = asked[call.target] == 2 ? 500 : 429, .body = ""};
    };
    std::optional<Result<ServedKinds>> found;

    discover(transport, all_kinds(), [&](Result<ServedKinds> kinds) { found = std::move(kinds); });
    for (int i = 0; i < 20; ++i) {
        api.pump();
        for (auto& work : std::exchange(api.later, {})) { work(); }
    }

    ASSERT_TRUE(found && *found);
    EXPECT_TRUE((*found)->contains(ObjectKind::upstream_group));
}

TEST_F(DiscoveryOfKinds, WaitsNoLongerThanItIsTold) {
    bool is_over = false;
    int pumped = 0;
    ClusterObjects objects(
        transport,
        [&](std::int64_t) {
            api.pump();
            is_over = ++pumped == 10;
        },
        0, [&] { return is_over; });
    api.is_lost = [](const Call& call) { return call.target.starts_with("/api/v1/pods"); };

    const auto started = objects.start();

    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, Code::unavailable);
    EXPECT_EQ(pumped, 10);
}

TEST_F(DiscoveryOfKinds, FollowsKindsThatComeLater) {
    const std::string groups = "/apis/scheduling.volcano.sh/v1beta1/podgroups";
    ClusterObjects objects(transport, [this](std::int64_t) { api.pump(); }, 0);
    ASSERT_TRUE(objects.start());
    EXPECT_FALSE(objects.served().contains(ObjectKind::volcano_group));

    api.served = {groups};
    api.put(groups, {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                     {"kind", "PodGroup"},
                     {"metadata", {{"namespace", "team"}, {"name", "g"}, {"uid", "g"}}}});
    bool has_changed = false;
    for (int i = 0; i < 20; ++i) { has_changed = objects.wait_for_change(0) || has_changed; }

    EXPECT_TRUE(has_changed);
    EXPECT_TRUE(objects.served().contains(ObjectKind::volcano_group));
    EXPECT_TRUE(objects.has({ObjectKind::volcano_group, {"team", "g"}}));
}

TEST_F(DiscoveryOfKinds, CopiesAllOfThemAsOfOneMoment) {
    api.served = {"/apis/scheduling.volcano.sh/v1beta1/podgroups"};
    api.put("/api/v1/nodes", {{"metadata", {{"name", "n"}, {"uid", "n"}}}});
    api.put("/api/v1/pods", {{"metadata", {{"namespace", "team"}, {"name", "p"}, {"uid", "p"}}}});
    const Link link{.pump = [this](std::int64_t) { api.pump(); },
                    .transport = std::make_unique<FakeTransport>(api)};
    std::vector<std::string> asked;
    api.is_lost = [&](const Call& call) {
        asked.push_back(call.target);
        return false;
    };

    const auto copy = copy_cluster(link);

    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(copy->texts.size(), 2U);
    EXPECT_TRUE(copy->is_of_one_moment);
    EXPECT_THAT(asked, testing::Contains("/api/v1/nodes?limit=500"));
    EXPECT_THAT(asked, testing::Contains("/api/v1/pods?limit=500&resourceVersion=102&"
                                         "resourceVersionMatch=Exact"));
}

TEST_F(DiscoveryOfKinds, SaysWhenItCouldNotCopyInTime) {
    const Link link{.pump = [](std::int64_t) {}, .transport = std::make_unique<FakeTransport>(api)};

    const auto copy = copy_cluster(link, {.timeout_ms = 0});

    ASSERT_FALSE(copy);
    EXPECT_EQ(copy.error().code, Code::timeout);
}

}  // namespace
}  // namespace muster::kube
