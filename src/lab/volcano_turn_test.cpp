#include "lab/volcano_turn.h"

#include "lab/volcano_api_test.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::lab {
namespace {

const std::string jobs_path = "/apis/batch.volcano.sh/v1alpha1/namespaces/team/jobs";
const std::string leases_path = "/apis/coordination.k8s.io/v1/namespaces/volcano/leases";
const std::string pods_path = "/api/v1/pods";
constexpr std::int64_t look_ms = 5'000;
constexpr std::int64_t quiet_ms = 30'000;

class VolcanoTurns : public testing::Test {
protected:
    void start() {
        turn.start();
        api.run_for(100);
    }
    void put_job(const std::string& name) {
        const std::string text =
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")" +
            name +
            R"("},"spec":{"tasks":[{"name":"w","replicas":2,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})";
        ASSERT_EQ(api.send("POST", jobs_path, text).status, 201);
        api.run_for(500);
    }
    void write_as(const std::string& manager, const std::string& job, const std::string& time) {
        const std::string patch = R"({"metadata":{"managedFields":[{"manager":")" + manager +
                                  R"(","time":")" + time + R"("}]}})";
        ASSERT_EQ(api.send("PATCH", jobs_path + "/" + job, patch).status, 200);
        api.run_for(10);
    }
    void renew(const std::string& time) {
        const std::string spec = R"({"spec":{"holderIdentity":"h","renewTime":")" + time + R"("}})";
        if (api.find(leases_path + "/vc-controller-manager") == nullptr) {
            ASSERT_EQ(api.send("POST", leases_path,
                               R"({"metadata":{"name":"vc-controller-manager"},)" + spec.substr(1))
                          .status,
                      201);
        } else {
            ASSERT_EQ(api.send("PATCH", leases_path + "/vc-controller-manager", spec).status, 200);
        }
    }

    volcano::StrictApi api;
    VolcanoTurn turn{api,
                     {.now_ms = [this] { return api.now; },
                      .log = {},
                      .look_ms = look_ms,
                      .quiet_ms = quiet_ms}};
};

TEST_F(VolcanoTurns, ActsAtOnceWhereVolcanoIsNot) {
    start();
    put_job("train");

    EXPECT_TRUE(turn.is_acting());
    EXPECT_EQ(api.texts(pods_path, "metadata.name").size(), 2U);
}

TEST_F(VolcanoTurns, StandsBackWhileAPodOfVolcanoRuns) {
    const std::string pod =
        R"({"metadata":{"name":"volcano-controllers-1","labels":{"app":"volcano-controller"}}})";
    ASSERT_EQ(api.send("POST", "/api/v1/namespaces/volcano-system/pods", pod).status, 201);
    start();
    put_job("train");

    EXPECT_FALSE(turn.is_acting());
    EXPECT_EQ(api.texts(pods_path, "metadata.name").size(), 1U);

    const std::string path = "/api/v1/namespaces/volcano-system/pods/volcano-controllers-1";
    ASSERT_EQ(api.send("DELETE", path, "").status, 200);
    api.end_pods();
    api.run_for(quiet_ms - look_ms);
    EXPECT_FALSE(turn.is_acting());
    api.run_for(3 * look_ms);
    EXPECT_TRUE(turn.is_acting());
    EXPECT_EQ(api.texts(pods_path, "metadata.name").size(), 2U);
}

TEST_F(VolcanoTurns, StandsBackWhileItsLeaseIsRenewedAndNoLonger) {
    renew("2026-11-29T10:00:00Z");
    start();
    EXPECT_FALSE(turn.is_acting());
    for (int i = 1; i < 10; ++i) {
        renew("2026-11-29T10:00:0" + std::to_string(i) + "Z");
        api.run_for(look_ms);
        EXPECT_FALSE(turn.is_acting());
    }

    api.run_for(quiet_ms + 2 * look_ms);

    EXPECT_TRUE(turn.is_acting());
}

TEST_F(VolcanoTurns, StopsAsSoonAsVolcanoWritesAJob) {
    start();
    put_job("train");
    ASSERT_TRUE(turn.is_acting());

    write_as("muster", "train", "2026-11-29T10:00:01Z");
    EXPECT_TRUE(turn.is_acting());
    write_as("vc-controller-manager", "train", "2026-11-29T10:00:02Z");

    EXPECT_FALSE(turn.is_acting());
    put_job("later");
    EXPECT_EQ(api.texts(pods_path, "metadata.name").size(), 2U);
}

TEST_F(VolcanoTurns, WhatVolcanoWroteLongAgoIsNoSign) {
    const std::string text =
        R"({"metadata":{"name":"old","managedFields":[{"manager":"vc-controller-manager",)"
        R"("time":"2025-01-01T00:00:00Z"}]},"spec":{"tasks":[]}})";
    ASSERT_EQ(api.send("POST", jobs_path, text).status, 201);

    start();

    EXPECT_TRUE(turn.is_acting());
}

TEST_F(VolcanoTurns, NothingIsLeftWhenItGoes) {
    {
        VolcanoTurn other(api, {.now_ms = [this] { return api.now; }, .log = {}});
        other.start();
        api.run_for(100);
    }
    put_job("train");

    EXPECT_EQ(api.texts(pods_path, "metadata.name").size(), 0U);
}

}  // namespace
}  // namespace muster::lab
