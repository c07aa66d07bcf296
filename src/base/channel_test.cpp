#include "base/channel.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace muster {
namespace {

TEST(Channel, KeepsTheOrder) {
    Channel<int> channel(3);
    for (int i = 0; i < 3; ++i) { EXPECT_TRUE(channel.send(i)); }

    for (int i = 0; i < 3; ++i) { EXPECT_EQ(channel.receive(), i); }
}

TEST(Channel, ClosedTakesNothingAndGivesWhatIsLeft) {
    Channel<int> channel(3);
    channel.send(1);
    channel.close();

    EXPECT_FALSE(channel.send(2));
    EXPECT_EQ(channel.receive(), 1);
    EXPECT_EQ(channel.receive(), std::nullopt);
    channel.close();
    EXPECT_EQ(channel.receive(), std::nullopt);
}

TEST(Channel, PassesWhatCanOnlyBeMoved) {
    Channel<std::unique_ptr<int>> channel(1);
    channel.send(std::make_unique<int>(7));

    EXPECT_EQ(**channel.receive(), 7);
}

TEST(Channel, PassesAllBetweenTwoThreadsWhateverItsCapacity) {
    for (const std::size_t capacity : {1U, 2U, 64U}) {
        Channel<int> channel(capacity);
        std::vector<int> received;
        std::thread reader([&] {
            while (const auto value = channel.receive()) { received.push_back(*value); }
        });
        for (int i = 0; i < 1'000; ++i) { ASSERT_TRUE(channel.send(i)); }
        channel.close();
        reader.join();

        ASSERT_EQ(received.size(), 1'000u);
        for (int i = 0; i < 1'000; ++i) { EXPECT_EQ(received[static_cast<std::size_t>(i)], i); }
    }
}

TEST(Channel, AQuestionAndItsAnswerGoRound) {
    Channel<int> questions(1);
    Channel<int> answers(1);
    std::thread other([&] {
        while (const auto question = questions.receive()) { answers.send(2 * *question); }
    });
    for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(questions.send(i));
        ASSERT_EQ(answers.receive(), 2 * i);
    }
    questions.close();
    other.join();
}

TEST(Channel, ClosingWakesWhoWaits) {
    Channel<int> empty(1);
    Channel<int> full(1);
    full.send(1);
    std::thread reader([&] { EXPECT_EQ(empty.receive(), std::nullopt); });
    std::thread writer([&] { full.send(2); });

    empty.close();
    full.close();
    reader.join();
    writer.join();
    EXPECT_EQ(full.receive(), 1);
}

}  // namespace
}  // namespace muster
