#include "cli/trial_process.h"

#include "cli/api_status.h"
#include "net/pipe_reader.h"
#include "net/timer.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace muster::cli {

namespace {

constexpr int niceness = 10;  // who schedules goes first

void write_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = write(to, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) { continue; }
        if (count <= 0) { return; }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

/// Nothing of the parent's is touched: not its sockets, its ledger, or its loop.
[[noreturn]] void work_in_copy(int to, pid_t parent,
                               const std::function<TrialProcesses::Answer()>& work) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { _exit(1); }  // it has ended already
    for (const int signal : {SIGTERM, SIGINT, SIGPIPE}) { std::signal(signal, SIG_DFL); }
    if (to > 3) { close_range(3, static_cast<unsigned>(to - 1), 0); }
    close_range(static_cast<unsigned>(to + 1), ~0U, 0);
    if (nice(niceness) == -1) { errno = 0; }
    const TrialProcesses::Answer answer = work();
    write_all(to, fmt::format("{:03}", answer.status));
    write_all(to, answer.body);
    _exit(0);
}

}  // namespace

class TrialProcesses::Run final : public net::HttpLater {
public:
    Run(net::EventLoop& loop, const TrialLimits& limits, Wrap wrap, std::shared_ptr<int> running,
        pid_t child, int from)
        : loop_(loop),
          limits_(limits),
          wrap_(std::move(wrap)),
          running_(std::move(running)),
          child_(child),
          from_(from),
          timer_(loop) {
        ++*running_;
    }
    ~Run() override {
        kill(child_, SIGKILL);
        while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {}
        --*running_;
        if (from_ >= 0) { close(from_); }
    }

    void on_answer(std::function<void(net::HttpResponse)> give) override {
        give_ = std::move(give);
        timer_.start(limits_.time_ms, [this] {
            end(504, fmt::format("was not worked out within {} ms", limits_.time_ms));
        });
        reader_.emplace(loop_, std::exchange(from_, -1), limits_.bytes_max,
                        [this](Result<std::string> text) { take(std::move(text)); });
    }

private:
    void take(Result<std::string> text) {
        if (!text) { return end(500, "the answer was lost: " + text.error().message); }
        constexpr std::size_t head_bytes = 3;
        if (text->size() < head_bytes) { return end(500, "it could not be worked out"); }
        const int status = ((*text)[0] - '0') * 100 + ((*text)[1] - '0') * 10 + ((*text)[2] - '0');
        text->erase(0, head_bytes);
        give({.status = status, .body = std::move(*text)});
    }
    void end(int status, std::string_view text) {
        give({.status = status, .body = status_json(status, text)});
    }
    void give(Answer answer) {
        timer_.stop();
        if (const auto call = std::exchange(give_, nullptr)) { call(wrap_(std::move(answer))); }
    }

    net::EventLoop& loop_;
    TrialLimits limits_;
    Wrap wrap_;
    std::shared_ptr<int> running_;
    pid_t child_;
    int from_;
    net::Timer timer_;
    std::function<void(net::HttpResponse)> give_;
    std::optional<net::PipeReader> reader_;
};

TrialProcesses::TrialProcesses(net::EventLoop& loop, TrialLimits limits, Wrap wrap)
    : loop_(loop),
      limits_(limits),
      wrap_(std::move(wrap)) {}

net::HttpResponse TrialProcesses::answer(const std::function<Answer()>& work) {
    const auto refuse = [&](int status, std::string_view text) {
        return wrap_({.status = status, .body = status_json(status, text)});
    };
    if (*running_ >= limits_.at_once_max) {
        return refuse(429, "others are being answered; ask again in a moment");
    }
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) { return refuse(503, "no pipe is to be had"); }
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) { work_in_copy(ends[1], parent, work); }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return refuse(503, fmt::format("no process is to be had: {}", std::strerror(errno)));
    }
    net::HttpResponse response;
    response.later = std::make_unique<Run>(loop_, limits_, wrap_, running_, child, ends[0]);
    return response;
}

}  // namespace muster::cli
