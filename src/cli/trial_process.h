// A question that is worked out in a process of its own: a copy of this one, which may change what
// it likes, take its time and run out of it, and nothing here notices. For an HTTP server whose
// loop has other work. Only for processes of one thread.
#pragma once

#include "net/event_loop.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::cli {

struct TrialLimits {
    std::int64_t time_ms = 20'000;  // then it is ended
    int at_once_max = 2;            // more are told to come again
    std::size_t bytes_max = std::size_t{64} << 20;
};

class TrialProcesses {
public:
    struct Answer {
        int status = 200;
        std::string body;
    };
    /// How an answer leaves the server, whoever made it.
    using Wrap = std::function<net::HttpResponse(Answer)>;

    /// The loop outlives it.
    TrialProcesses(net::EventLoop& loop, TrialLimits limits, Wrap wrap);

    /// `work` runs in the copy. The answer comes when it is done.
    net::HttpResponse answer(const std::function<Answer()>& work);

private:
    class Run;

    net::EventLoop& loop_;
    TrialLimits limits_;
    Wrap wrap_;
    std::shared_ptr<int> running_ = std::make_shared<int>(0);
};

}  // namespace muster::cli
