#include "kube/behind_orders.h"

#include "kube/fake_api_test.h"

#include <gtest/gtest.h>

namespace muster::kube {
namespace {

class WritesBehindOrders : public testing::Test {
protected:
    void write(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            transport.call({.method = "POST",
                            .target = "/api/v1/events",
                            .body = R"({"metadata":{"name":"e"}})"},
                           [this](const Result<Answer>&) { ++answered; });
        }
    }
    [[nodiscard]] std::size_t in_flight() const { return api.work.size(); }

    FakeApi api;
    FakeTransport inner{api};
    bool are_orders_under_way = false;
    std::int64_t clock_ms = 0;
    std::size_t answered = 0;
    BehindOrders transport{inner, [this] { return are_orders_under_way; },
                           [this] { return clock_ms; }};
};

TEST_F(WritesBehindOrders, GoAtOnceWhileThereAreNone) {
    write(10);

    EXPECT_EQ(in_flight(), 10U);
}

TEST_F(WritesBehindOrders, GoWhenTheLastOrderIsAnswered) {
    are_orders_under_way = true;
    write(10);
    EXPECT_EQ(in_flight(), 0U);
    are_orders_under_way = false;
    transport.send();

    EXPECT_EQ(in_flight(), 10U);
}

TEST_F(WritesBehindOrders, DoNotWaitForLongerThanThreeSeconds) {
    are_orders_under_way = true;
    write(1);
    clock_ms = 2'000;
    write(9);
    ASSERT_EQ(api.later.size(), 1U);

    clock_ms = 3'000;
    std::exchange(api.later, {}).front()();

    EXPECT_EQ(in_flight(), 1U);
    ASSERT_EQ(api.later.size(), 1U);
    clock_ms = 5'000;
    std::exchange(api.later, {}).front()();
    EXPECT_EQ(in_flight(), 10U);
    api.pump();
    EXPECT_EQ(answered, 10U);
}

TEST_F(WritesBehindOrders, AreSoManyAtATime) {
    write(100);

    EXPECT_EQ(in_flight(), 64U);
    api.pump();
    EXPECT_EQ(in_flight(), 36U);
}

TEST(BehindOrders, ThatIsGoneAnswersNobody) {
    FakeApi api;
    FakeTransport inner(api);
    bool is_answered = false;
    auto transport =
        std::make_unique<BehindOrders>(inner, [] { return false; }, [] { return std::int64_t{0}; });
    transport->call(
        {.method = "POST", .target = "/api/v1/events", .body = R"({"metadata":{"name":"e"}})"},
        [&](const Result<Answer>&) { is_answered = true; });
    transport.reset();
    api.pump();

    EXPECT_FALSE(is_answered);
}

}  // namespace
}  // namespace muster::kube
