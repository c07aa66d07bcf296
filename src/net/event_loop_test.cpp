#include "net/event_loop.h"

#include "net/timer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace muster::net {
namespace {

TEST(EventLoop, RunsTimersInTheOrderOfTheirTimes) {
    EventLoop loop;
    std::string order;

    loop.after(20, [&] {
        order += 'c';
        loop.stop();
    });
    loop.after(1, [&] { order += 'b'; });
    loop.post([&] { order += 'a'; });
    loop.run();

    EXPECT_EQ(order, "abc");
}

TEST(EventLoop, TakesWorkFromOtherThreads) {
    EventLoop loop;
    bool has_run = false;

    std::thread other([&] {
        loop.post([&] {
            has_run = true;
            loop.stop();
        });
    });
    loop.run();
    other.join();

    EXPECT_TRUE(has_run);
}

TEST(EventLoop, ReturnsOnceSomeWorkWasDone) {
    EventLoop loop;
    int runs = 0;
    loop.post([&] { ++runs; });
    loop.post([&] { ++runs; });

    loop.run_some(86'400'000);
    loop.run_some(0);

    EXPECT_EQ(runs, 2);
}

TEST(EventLoop, RunsAgainAfterAStop) {
    EventLoop loop;
    int runs = 0;

    for (int i = 0; i < 2; ++i) {
        loop.post([&] {
            ++runs;
            loop.stop();
        });
        loop.run();
    }
    loop.run_for(1);

    EXPECT_EQ(runs, 2);
}

TEST(EventLoop, DropsWhatIsStillToComeWhenItGoes) {
    const auto held = std::make_shared<int>(0);

    {
        EventLoop loop;
        loop.after(3'600'000, [held] { ++*held; });
        loop.post([held] { ++*held; });
    }

    EXPECT_EQ(*held, 0);
    EXPECT_EQ(held.use_count(), 1);
}

TEST(Timer, WaitsAnewWhenItIsStartedAnew) {
    EventLoop loop;
    Timer timer(loop);
    std::string calls;

    timer.start(1, [&] { calls += 'a'; });
    timer.start(2, [&] {
        calls += 'b';
        loop.stop();
    });
    loop.run();

    EXPECT_EQ(calls, "b");
}

TEST(Timer, CallsNothingOnceItIsStoppedOrGone) {
    EventLoop loop;
    Timer stopped(loop);
    auto gone = std::make_unique<Timer>(loop);
    int calls = 0;

    stopped.start(0, [&] { ++calls; });
    gone->start(0, [&] { ++calls; });
    // Both have run out by now and their calls are on their way.
    loop.post([&] {
        stopped.stop();
        gone.reset();
    });
    loop.after(5, [&] { loop.stop(); });
    loop.run();

    EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace muster::net
