#include "net/pipe_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <unistd.h>

namespace muster::net {
namespace {

class PipeOfALoop : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(pipe(ends.data()), 0); }
    void put(const std::string& text) const {
        ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    std::optional<Result<std::string>> read(std::size_t bytes_max) {
        std::optional<Result<std::string>> out;
        const PipeReader reader(loop, ends[0], bytes_max,
                                [&](Result<std::string> text) { out = std::move(text); });
        while (!out) { loop.run_some(1'000); }
        return out;
    }

    EventLoop loop;
    std::array<int, 2> ends{};
};

TEST_F(PipeOfALoop, HasAllUntilItsEnd) {
    put("one ");
    put("two");
    close(ends[1]);

    const auto text = read(100);

    ASSERT_TRUE(text->has_value());
    EXPECT_EQ(**text, "one two");
}

TEST_F(PipeOfALoop, IsBounded) {
    put("more than that");

    const auto text = read(4);
    close(ends[1]);

    ASSERT_FALSE(text->has_value());
    EXPECT_EQ(text->error().code, Code::limit);
}

TEST_F(PipeOfALoop, IsSilentOnceItsReaderIsGone) {
    bool is_called = false;
    {
        const PipeReader reader(loop, ends[0], 100, [&](const auto&) { is_called = true; });
    }
    close(ends[1]);
    loop.run_some(10);

    EXPECT_FALSE(is_called);
}

}  // namespace
}  // namespace muster::net
