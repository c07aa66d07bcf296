#include "control/order_book.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

TaskOrder order(OrderKind kind, std::string workload, std::uint32_t task = 0,
                std::uint64_t cycle = 1) {
    return {.kind = kind, .workload = std::move(workload), .task = task, .cycle = cycle};
}

std::vector<std::string> names(const std::vector<TaskOrder>& orders) {
    std::vector<std::string> out;
    for (const TaskOrder& one : orders) {
        out.push_back(one.workload + "/" + std::to_string(one.task));
    }
    return out;
}

TEST(OrderBook, PausesLongerEachTimeUpToTheMost) {
    OrderBook book({.first_ms = 100, .most_ms = 350});
    book.open({order(OrderKind::bind, "a")});

    std::vector<std::int64_t> given;
    for (std::int64_t now = 0; now <= 1'500; now += 10) {
        if (!book.due(now).empty()) { given.push_back(now); }
    }

    EXPECT_EQ(given, (std::vector<std::int64_t>{0, 100, 300, 650, 1'000, 1'350}));
}

TEST(OrderBook, AClockThatJumpsBackMakesNobodyWaitLonger) {
    OrderBook book({.first_ms = 100, .most_ms = 1'000});
    book.open({order(OrderKind::bind, "a")});
    ASSERT_EQ(book.due(1'000'000).size(), 1u);

    EXPECT_EQ(book.due(5'000).size(), 1u) << "what was given in the future is given again";
    EXPECT_EQ(book.due(5'199).size(), 0u);
    EXPECT_EQ(book.due(5'200).size(), 1u);
}

TEST(OrderBook, AClockThatJumpsForwardGivesEachOnce) {
    OrderBook book({.first_ms = 100, .most_ms = 1'000});
    book.open({order(OrderKind::bind, "a")});
    ASSERT_EQ(book.due(0).size(), 1u);

    EXPECT_EQ(book.due(1'000'000'000).size(), 1u);
    EXPECT_EQ(book.due(1'000'000'000).size(), 0u);
}

TEST(OrderBook, ClosedIsNotGivenAgain) {
    OrderBook book({.first_ms = 100, .most_ms = 1'000});
    book.open({order(OrderKind::bind, "a")});
    book.open({order(OrderKind::bind, "b")});
    ASSERT_EQ(book.due(0).size(), 2u);

    book.close({{"a", 0}});
    book.close({{"nobody", 7}});

    EXPECT_EQ(names(book.due(10'000)), std::vector<std::string>{"b/0"});
    EXPECT_EQ(book.size(), 1u);
}

TEST(OrderBook, WhatIsHastenedIsGivenNowAndAsSoonAgainAsTheFirstTime) {
    OrderBook book({.first_ms = 100, .most_ms = 1'000});
    book.open({order(OrderKind::bind, "a", 0), order(OrderKind::bind, "a", 1)});
    for (const std::int64_t now : {0, 100, 300}) { ASSERT_EQ(book.due(now).size(), 2u); }

    book.hasten({{"a", 1}, {"a", 7}, {"nobody", 0}});

    EXPECT_EQ(names(book.due(310)), std::vector<std::string>{"a/1"});
    EXPECT_EQ(names(book.due(410)), std::vector<std::string>{"a/1"});
    EXPECT_EQ(names(book.due(700)), (std::vector<std::string>{"a/0", "a/1"}));
    book.close({{"a", 1}});
    book.hasten({{"a", 1}});
    EXPECT_EQ(book.due(701).size(), 0u);
}

TEST(OrderBook, EvictsFirstThenPlanByPlan) {
    OrderBook book;
    book.open({order(OrderKind::bind, "a", 1, 7)});
    book.open({order(OrderKind::bind, "b", 0, 3)});
    book.open({order(OrderKind::bind, "a", 0, 7)});
    book.open({order(OrderKind::evict, "z", 0, 9)});

    EXPECT_EQ(names(book.due(0)), (std::vector<std::string>{"z/0", "b/0", "a/0", "a/1"}));
}

TEST(OrderBook, OpenedAnewIsGivenAtOnce) {
    OrderBook book({.first_ms = 100, .most_ms = 1'000});
    book.open({order(OrderKind::bind, "a", 0, 1)});
    ASSERT_EQ(book.due(0).size(), 1u);

    book.open({order(OrderKind::evict, "a", 0, 2)});

    const auto due = book.due(1);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due[0].kind, OrderKind::evict);
}

}  // namespace
}  // namespace muster
