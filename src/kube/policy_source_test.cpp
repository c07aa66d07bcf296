#include "kube/policy_source.h"

#include "kube/fake_api_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace muster::kube {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* maps = "/api/v1/configmaps";

class PolicyOfACluster : public testing::Test {
protected:
    PolicySource source_of(PolicySource::Options options) {
        options.log = Log([this](const std::string& line) { told.push_back(line); },
                          [] { return std::string("now"); });
        options.now_ms = [this] { return time; };
        return PolicySource(std::move(options));
    }
    void put(const std::string& text) {
        api.put(maps, {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", "policy"}, {"namespace", "ops"}, {"uid", "1"}}},
                       {"data", {{"policy.yaml", text}}}});
    }
    void pump() {
        for (int i = 0; i < 8; ++i) { api.pump(); }
    }
    [[nodiscard]] std::vector<std::string> events() const {
        std::vector<std::string> out;
        for (const Call& call : api.changes) { out.push_back(call.body); }
        return out;
    }

    FakeApi api;
    FakeTransport transport{api};
    std::vector<std::string> told;
    std::int64_t time = 1'000'000;
};

TEST_F(PolicyOfACluster, TakesEachGoodOneOnce) {
    PolicySource source = source_of({.map = ConfigMapKey{.name = {"ops", "policy"}}});
    put("mix: [{gpu: 8}]");
    source.follow(transport);
    EXPECT_FALSE(source.is_heard());
    pump();

    ASSERT_TRUE(source.is_heard());
    const auto first = source.take();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->mix.at(0).gpu_count, 8);
    EXPECT_FALSE(source.take().has_value());
    put("mix: [{gpu: 8}]  # the same");
    pump();
    EXPECT_FALSE(source.take().has_value());
    put("mix: [{gpu: 2}]");
    pump();
    EXPECT_TRUE(source.take().has_value());
    EXPECT_EQ(source.counts().taken, 2);
}

TEST_F(PolicyOfACluster, RefusesABadOneWithAnEventAndKeepsTheOld) {
    PolicySource source = source_of({.map = ConfigMapKey{.name = {"ops", "policy"}}});
    put("mix: [{gpu: 8}]");
    source.follow(transport);
    pump();
    source.take();

    put("mix: [{gpus: 8}]");
    pump();
    EXPECT_FALSE(source.take().has_value());
    EXPECT_FALSE(source.take().has_value());
    pump();  // the event is on its way

    EXPECT_EQ(source.counts().refused, 1);
    EXPECT_FALSE(source.counts().is_valid);
    EXPECT_EQ(source.policy().mix.at(0).gpu_count, 8);
    EXPECT_THAT(told, Contains(AllOf(HasSubstr("level=error"), HasSubstr("policy refused"),
                                     HasSubstr("gpus"))));
    EXPECT_THAT(events(), Contains(AllOf(HasSubstr("PolicyRefused"), HasSubstr("gpus"))));

    put("mix: [{gpu: 8}]");  // mended, and no other than the one that decides
    pump();
    EXPECT_FALSE(source.take().has_value());
    EXPECT_TRUE(source.counts().is_valid);
}

TEST_F(PolicyOfACluster, StaysWithTheLastOneWhenItIsTakenAway) {
    PolicySource source = source_of({.map = ConfigMapKey{.name = {"ops", "policy"}}});
    put("mix: [{gpu: 8}]");
    source.follow(transport);
    pump();
    source.take();

    api.erase(maps, {"ops", "policy"});
    pump();

    EXPECT_FALSE(source.take().has_value());
    EXPECT_EQ(source.policy().mix.size(), 1);
    EXPECT_THAT(told, Contains(HasSubstr("no policy there")));
}

TEST_F(PolicyOfACluster, ReadsAFileAgain) {
    const auto file = std::filesystem::temp_directory_path() / "muster_policy_source_test.yaml";
    const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
    write("mix: [{gpu: 8}]");
    PolicySource source = source_of({.file = file});
    EXPECT_TRUE(source.take().has_value());

    write("mix: [{gpu: 4}]");
    EXPECT_FALSE(source.take().has_value()) << "it was looked at right now";
    time += 5'000;
    const auto next = source.take();
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->mix.at(0).gpu_count, 4);
    std::filesystem::remove(file);
    time += 5'000;
    EXPECT_FALSE(source.take().has_value());
    EXPECT_THAT(told, Contains(HasSubstr("no policy there")));
    EXPECT_THAT(api.changes, IsEmpty());
}

TEST(ConfigMapName, IsReadWithItsKey) {
    const auto plain = read_config_map_key("ops/policy");
    const auto keyed = read_config_map_key("ops/policy:other.yaml");

    ASSERT_TRUE(plain && keyed);
    EXPECT_EQ(plain->text(), "ops/policy:policy.yaml");
    EXPECT_EQ(keyed->text(), "ops/policy:other.yaml");
    for (const char* wrong :
         {"", "policy", "/policy", "ops/", "ops/a/b", "ops/policy:", ":", "a/:b"}) {
        EXPECT_FALSE(read_config_map_key(wrong).has_value()) << wrong;
    }
}

}  // namespace
}  // namespace muster::kube
