#include "net/http_client.h"

#include "net/byte_stream.h"
#include "net/client_connection.h"
#include "net/http_text.h"
#include "net/timer.h"
#include "net/tls.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::net {

namespace {

// A request on its way: waiting for a connection, or on one.
struct Job {
    explicit Job(EventLoop& loop) : timer(loop) {}

    HttpCall call;
    HttpClient::Done done;
    Timer timer;
    std::shared_ptr<ClientConnection> connection;
    bool is_on_used_connection = false;
    bool is_ended = false;
};

// On a request that ended otherwise, its connection is of no use to others.
void end_job(Job& job) {
    job.is_ended = true;
    job.timer.stop();
    if (job.connection != nullptr) { job.connection->cut(); }
    job.connection.reset();
}

}  // namespace

struct HttpClient::Impl : std::enable_shared_from_this<HttpClient::Impl> {
    EventLoop& loop;
    HttpClientOptions options;
    std::string host_header;
    std::shared_ptr<TlsContext> tls;
    Result<> state;  // why nothing can be asked
    bool is_closed = false;
    std::deque<std::shared_ptr<Job>> waiting;
    std::unordered_map<Job*, std::shared_ptr<Job>> running;
    std::unordered_map<Job*, std::weak_ptr<Job>> streams;
    std::vector<std::shared_ptr<ClientConnection>> idle;

    Impl(EventLoop& its_loop, HttpClientOptions its_options)
        : loop(its_loop),
          options(std::move(its_options)) {
        const bool is_v6 = options.host.find(':') != std::string::npos;
        host_header = is_v6 ? fmt::format("[{}]:{}", options.host, options.port)
                            : fmt::format("{}:{}", options.host, options.port);
        if (options.is_tls) {
            auto made = make_client_tls(options);
            if (made) {
                tls = *made;
            } else {
                state = tl::unexpected(made.error());
            }
        }
    }

    std::shared_ptr<ClientConnection> connect() {
        return std::make_shared<ClientConnection>(make_client_stream(
            loop, {.host = options.host, .port = options.port, .tls_name = options.tls_name}, tls));
    }

    Result<std::shared_ptr<Job>> make_job(HttpRequest request, Done& done) {
        MUSTER_CHECK(state);
        MUSTER_TRY(head, request_head(request, host_header));
        auto job = std::make_shared<Job>(loop);
        job->call = HttpCall{.head = std::move(head),
                             .body = std::move(request.body),
                             .is_head = request.method == "HEAD",
                             .limits = {.header_bytes_max = header_bytes_max,
                                        .body_bytes_max = options.body_bytes_max},
                             .piece = nullptr};
        job->done = std::move(done);
        return job;
    }

    void fail_later(Done done, Error error) {
        loop.post([weak = weak_from_this(), call = std::move(done), cause = std::move(error)] {
            const auto self = weak.lock();
            if (self != nullptr && !self->is_closed) { call(tl::unexpected(cause)); }
        });
    }

    void submit(std::shared_ptr<Job> job) {
        job->timer.start(options.timeout_ms, [this, late = job.get()] { on_timeout(late); });
        if (running.size() < options.connections_max) { return run(std::move(job)); }
        waiting.push_back(std::move(job));
    }

    void run(std::shared_ptr<Job> job) {
        job->is_on_used_connection = !idle.empty();
        if (idle.empty()) {
            job->connection = connect();
        } else {
            job->connection = std::move(idle.back());
            idle.pop_back();
        }
        ask(*job);
        Job* const key = job.get();
        running.emplace(key, std::move(job));
    }

    void ask(Job& job) {
        job.connection->ask(job.call, [this, &job](ClientConnection::Outcome outcome) {
            on_outcome(job, std::move(outcome));
        });
    }

    void on_outcome(Job& job, ClientConnection::Outcome outcome) {
        const auto self = shared_from_this();
        const bool is_stale = !outcome.answer && !outcome.has_begun && job.is_on_used_connection;
        if (is_stale) {
            // The server hung up on us just as we asked; the other idle ones are as old.
            job.is_on_used_connection = false;
            job.connection = connect();
            return ask(job);
        }
        if (outcome.is_reusable) { keep(std::move(job.connection)); }
        finish(job, std::move(outcome.answer));
    }

    void keep(std::shared_ptr<ClientConnection> connection) {
        connection->on_lost([this, lost = connection.get()] {
            std::erase_if(idle, [&](const auto& other) { return other.get() == lost; });
        });
        idle.push_back(std::move(connection));
    }

    void on_timeout(Job* late) {
        const auto self = shared_from_this();
        std::shared_ptr<Job> held;
        for (const auto& job : waiting) {
            if (job.get() == late) { held = job; }
        }
        std::erase(waiting, held);
        // Others that waited with it are as old, and perhaps lead nowhere either.
        for (const auto& connection : std::exchange(idle, {})) { connection->cut(); }
        finish(held != nullptr ? *held : *late,
               fail(Code::timeout, fmt::format("no answer from {} within {} ms", host_header,
                                               options.timeout_ms)));
    }

    // The caller holds the client.
    void finish(Job& job, Result<HttpResponse> answer) {
        const auto found = running.find(&job);
        const auto held = found == running.end() ? nullptr : found->second;
        if (held != nullptr) { running.erase(found); }
        end_job(job);
        if (!waiting.empty() && running.size() < options.connections_max) {
            auto next = std::move(waiting.front());
            waiting.pop_front();
            run(std::move(next));
        }
        if (!answer) { answer = tl::unexpected(std::move(answer).error().wrap(host_header)); }
        const auto done = std::move(job.done);
        done(std::move(answer));
    }

    void follow(const std::shared_ptr<Job>& job, std::function<void(std::string_view)> piece) {
        // The job may be ended by what it calls, and this with it: both are held meanwhile.
        const auto held = [weak = weak_from_this(), at = std::weak_ptr(job)] {
            auto owner = weak.lock();
            auto followed = owner == nullptr || owner->is_closed ? nullptr : at.lock();
            if (followed != nullptr && followed->is_ended) { followed.reset(); }
            return followed;
        };
        const auto end = [held](Result<HttpResponse> answer) {
            const auto followed = held();
            if (followed == nullptr) { return; }
            end_job(*followed);
            followed->done(std::move(answer));
        };
        const auto wait_on = [end, silence = options.silence_ms](Timer& timer) {
            timer.stop();  // the head came, and a stream may be quiet
            if (silence == 0) { return; }
            timer.start(silence, [end] {
                HttpResponse ended;
                ended.status = 200;
                end(std::move(ended));
            });
        };
        job->call.piece = [held, wait_on, has_begun = false,
                           hand_on = std::move(piece)](std::string_view bytes) mutable {
            const auto followed = held();
            if (followed == nullptr) { return; }
            wait_on(followed->timer);
            const bool is_first = !std::exchange(has_begun, true);
            if (is_first || !bytes.empty()) { hand_on(bytes); }
        };
        job->timer.start(options.timeout_ms, [end, where = host_header] {
            end(fail(Code::timeout, fmt::format("{}: no answer to a stream's request", where)));
        });
        job->connection = connect();
        job->connection->ask(
            job->call, [end, where = host_header](ClientConnection::Outcome outcome) {
                if (!outcome.answer) {
                    return end(tl::unexpected(std::move(outcome.answer).error().wrap(where)));
                }
                end(std::move(outcome.answer));
            });
        streams.emplace(job.get(), job);
    }

    void close() {
        is_closed = true;
        for (const auto& [key, stream] : std::exchange(streams, {})) {
            if (const auto job = stream.lock()) { end_job(*job); }
        }
        for (const auto& job : std::exchange(waiting, {})) { end_job(*job); }
        for (const auto& [key, job] : std::exchange(running, {})) { end_job(*job); }
        for (const auto& connection : std::exchange(idle, {})) { connection->cut(); }
    }

    static constexpr std::size_t header_bytes_max = std::size_t{64} << 10;
};

namespace {

class JobStream final : public HttpClient::Stream {
public:
    JobStream(std::shared_ptr<Job> job, std::function<void(Job*)> gone)
        : job_(std::move(job)),
          gone_(std::move(gone)) {}
    ~JobStream() override {
        if (job_ == nullptr) { return; }
        end_job(*job_);
        gone_(job_.get());
    }
    JobStream(const JobStream&) = delete;
    JobStream& operator=(const JobStream&) = delete;

private:
    std::shared_ptr<Job> job_;
    std::function<void(Job*)> gone_;
};

}  // namespace

HttpClient::HttpClient(EventLoop& loop, HttpClientOptions options)
    : impl_(std::make_shared<Impl>(loop, std::move(options))) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
}
HttpClient::~HttpClient() {
    if (impl_ != nullptr) { impl_->close(); }
}

void HttpClient::request(HttpRequest request, Done done) {
    auto job = impl_->make_job(std::move(request), done);
    if (!job) { return impl_->fail_later(std::move(done), std::move(job).error()); }
    impl_->submit(std::move(*job));
}

std::unique_ptr<HttpClient::Stream> HttpClient::stream(HttpRequest request,
                                                       std::function<void(std::string_view)> piece,
                                                       Done done) {
    auto made = impl_->make_job(std::move(request), done);
    const auto job = made ? *made : std::make_shared<Job>(impl_->loop);
    if (made) {
        impl_->follow(job, std::move(piece));
    } else {
        impl_->fail_later(
            [call = std::move(done), at = std::weak_ptr(job)](Result<HttpResponse> answer) {
                if (const auto followed = at.lock()) { call(std::move(answer)); }
            },
            std::move(made).error());
    }
    return std::make_unique<JobStream>(job, [weak = std::weak_ptr(impl_)](Job* gone) {
        if (const auto impl = weak.lock()) { impl->streams.erase(gone); }
    });
}

}  // namespace muster::net
