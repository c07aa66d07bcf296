#include "net/http_connection.h"

#include <fmt/core.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace muster::net {

namespace {

// While an answer is under way, this much of what a client sends ahead is kept. A read stays
// pending up to there, since it is what tells that the client is gone.
constexpr std::size_t bytes_ahead_max = std::size_t{64} << 10;

/// The words are those of the status line.
HttpResponse plain_refusal(int status) {
    return {.status = status,
            .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
            .body = fmt::format("{} {}\n", status, reason_of(status)),
            .stream = nullptr};
}

}  // namespace

HttpConnection::HttpConnection(EventLoop& loop, std::shared_ptr<const HttpService> service,
                               std::unique_ptr<ByteStream> stream,
                               std::function<void(HttpConnection*)> gone)
    : loop_(loop),
      service_(std::move(service)),
      stream_(std::move(stream)),
      gone_(std::move(gone)),
      parser_(service_->limits),
      timer_(loop),
      again_(loop) {}

// Callbacks of the stream and the timer hold `this` alone, since both belong to the connection;
// each takes a share of it first, for what it calls may end it.
void HttpConnection::start() {
    timer_.start(service_->header_ms, [this] { leave(); });
    stream_->open([this](Result<std::string> name) {
        const auto self = shared_from_this();
        if (!name) { return leave(); }
        client_name_ = std::move(*name);
        wait_for_request();
        read();
    });
}

void HttpConnection::cut() {
    timer_.stop();
    again_.stop();
    stream_.reset();
    later_.reset();
    body_.reset();
    upgrade_.reset();
}

void HttpConnection::read() {
    if (is_reading_ || has_peer_ended_ || stream_ == nullptr) { return; }
    if (is_answering_ && parser_.bytes_waiting() >= bytes_ahead_max) { return; }
    is_reading_ = true;
    stream_->read([this](Result<std::string_view> bytes) {
        const auto self = shared_from_this();
        is_reading_ = false;
        if (!bytes) { return leave(); }
        if (bytes->empty()) { return on_peer_end(); }
        on_bytes(*bytes);
    });
}

void HttpConnection::on_bytes(std::string_view bytes) {
    parser_.feed(bytes);
    if (upgrade_ != nullptr) {
        if (!is_writing_) { converse(); }
    } else if (!is_answering_ && !is_writing_) {
        go_on();
    }
    read();
}

void HttpConnection::on_peer_end() {
    has_peer_ended_ = true;
    // An answer of known length is still sent to who has only closed his own side; nobody waits
    // for the rest of a stream.
    if (body_ != nullptr || !is_answering_) { return leave(); }
    // Nor for more words; those that are on their way go out.
    if (upgrade_ != nullptr && !is_writing_) { return leave(); }
    has_last_words_ = true;
}

void HttpConnection::go_on() {
    switch (parser_.step()) {
        case RequestParser::Step::request: return answer(parser_.take());
        case RequestParser::Step::refused: return refuse(parser_.refusal());
        case RequestParser::Step::more: break;
    }
    if (has_peer_ended_) { return say_goodbye(); }
    if (parser_.has_begun() && !is_timing_request_) {
        is_timing_request_ = true;
        timer_.start(service_->header_ms, [this] {
            const auto self = shared_from_this();
            refuse(408);
        });
    }
    if (!is_writing_ && parser_.take_expectation()) { write("HTTP/1.1 100 Continue\r\n\r\n", {}); }
}

void HttpConnection::refuse(int status) {
    framing_ = Framing{.keeps_alive = false, .is_chunked = true};
    is_answering_ = true;
    if (is_writing_) { return leave(); }  // a word to go on is stuck; so would this be
    const auto service = service_;        // who words the answer may end the server
    HttpResponse response = service->refusal ? service->refusal(status) : plain_refusal(status);
    if (stream_ == nullptr) { return; }
    response.status = status;
    send(std::move(response), false);
}

void HttpConnection::answer(HttpRequest request) {
    is_answering_ = true;
    framing_ = Framing{.keeps_alive = parser_.keeps_alive(), .is_chunked = parser_.knows_chunks()};
    request.client_name = client_name_;
    const bool is_head = request.method == "HEAD";
    const auto service = service_;  // the handler may end the server
    HttpResponse response = service->handler(std::move(request));
    if (stream_ == nullptr) { return; }
    if (response.later != nullptr) { return wait_for_answer(std::move(response.later), is_head); }
    send(std::move(response), is_head);
}

// Whoever gives the answer is in the middle of something of his own, so the loop sends it.
void HttpConnection::wait_for_answer(std::unique_ptr<HttpLater> later, bool is_head) {
    timer_.stop();  // who makes it bounds its time
    later_ = std::move(later);
    later_->on_answer([weak = weak_from_this(), is_head](HttpResponse response) {
        const auto self = weak.lock();
        if (self == nullptr) { return; }
        const auto made = std::make_shared<HttpResponse>(std::move(response));
        self->loop_.post([weak, made, is_head] {
            const auto woken = weak.lock();
            if (woken == nullptr || woken->later_ == nullptr) { return; }
            woken->later_.reset();
            made->later.reset();
            woken->send(std::move(*made), is_head);
        });
    });
}

void HttpConnection::send(HttpResponse response, bool is_head) {
    if (is_same_name(find_header(response.headers, "Connection"), "close")) {
        framing_.keeps_alive = false;
    }
    const bool is_stream = response.stream != nullptr;
    if (is_stream && !framing_.is_chunked) { framing_.keeps_alive = false; }
    std::string head = answer_head(response, framing_);
    if (response.upgrade != nullptr) {
        if (!framing_.is_chunked) { return refuse(400); }  // HTTP/1.0 has no upgrades
        return begin_upgrade(std::move(head), std::move(response.upgrade));
    }
    if (is_head || !has_body(response.status)) {
        response.stream.reset();
        response.body.clear();
    }
    body_ = std::move(response.stream);
    if (body_ != nullptr) {
        if (has_peer_ended_) { return leave(); }
        watch_body();
    }
    write(std::move(head), std::move(response.body));
}

void HttpConnection::write(std::string head, std::string body) {
    is_writing_ = true;
    // What was sent is not taken: a client may be slow, but not forever.
    if (is_answering_) {
        is_timing_request_ = false;
        timer_.start(service_->idle_ms, [this] {
            const auto self = shared_from_this();
            leave();
        });
    }
    stream_->write(std::move(head), std::move(body), [this](Result<> outcome) {
        const auto self = shared_from_this();
        is_writing_ = false;
        if (!outcome) { return leave(); }
        on_written();
    });
}

void HttpConnection::on_written() {
    if (body_ != nullptr) {
        timer_.stop();
        return draw();
    }
    if (upgrade_ != nullptr) { return has_last_words_ ? say_goodbye() : converse(); }
    if (!is_answering_) {  // that was the word to go on
        return go_on();
    }
    if (!framing_.keeps_alive) { return say_goodbye(); }
    is_answering_ = false;
    wait_for_request();
    go_on();
    read();
}

// Whoever wakes is in the middle of something of his own, so the loop draws, and what comes at one
// time goes out as one piece.
void HttpConnection::watch_body() {
    body_->on_more([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self == nullptr || self->is_woken_ || self->body_ == nullptr) { return; }
        self->is_woken_ = true;
        self->loop_.post([weak] {
            const auto woken = weak.lock();
            if (woken == nullptr) { return; }
            woken->is_woken_ = false;
            woken->draw();
        });
    });
}

void HttpConnection::draw() {
    if (is_writing_ || body_ == nullptr) { return; }
    auto body = std::move(body_);  // next() may end the server, and with it this
    std::optional<std::string> piece = body->next();
    if (stream_ == nullptr) { return; }
    if (!piece) {
        if (framing_.is_chunked) { return write(std::string(last_chunk), {}); }
        return say_goodbye();
    }
    body_ = std::move(body);
    if (piece->empty()) { return; }
    write(framing_.is_chunked ? chunk(*piece) : std::move(*piece), {});
}

void HttpConnection::begin_upgrade(std::string head, std::unique_ptr<HttpUpgrade> upgrade) {
    HttpUpgrade::Words words = upgrade->begin();
    if (stream_ == nullptr) { return; }
    take_words(std::move(upgrade), words);
    write(std::move(head), std::move(words.bytes));
}

void HttpConnection::take_words(std::unique_ptr<HttpUpgrade> upgrade,
                                const HttpUpgrade::Words& words) {
    upgrade_ = std::move(upgrade);
    has_last_words_ = has_last_words_ || words.is_last;
    if (words.again_ms <= 0 || has_last_words_) { return; }
    again_.start(words.again_ms, [this] {
        const auto self = shared_from_this();
        is_due_ = true;
        if (!is_writing_) { converse(); }
    });
}

/// With all that has come; whoever is silent for long is left.
void HttpConnection::converse() {
    const std::string heard = parser_.take_rest();
    const bool is_due = std::exchange(is_due_, false);
    if (is_due || !heard.empty()) {
        auto upgrade = std::move(upgrade_);  // hear() may end the server, and with it this
        HttpUpgrade::Words words;
        if (!heard.empty()) { words = upgrade->hear(heard); }
        if (is_due && !words.is_last && stream_ != nullptr) {
            HttpUpgrade::Words more = upgrade->hear({});
            more.bytes.insert(0, words.bytes);
            words = std::move(more);
        }
        if (stream_ == nullptr) { return; }
        take_words(std::move(upgrade), words);
        if (!words.bytes.empty()) { return write(std::move(words.bytes), {}); }
        if (has_last_words_) { return say_goodbye(); }
    }
    timer_.start(service_->idle_ms, [this] {
        const auto self = shared_from_this();
        say_goodbye();
    });
    read();
}

void HttpConnection::wait_for_request() {
    is_timing_request_ = false;
    timer_.start(service_->idle_ms, [this] {
        const auto self = shared_from_this();
        say_goodbye();
    });
}

void HttpConnection::say_goodbye() {
    if (stream_ != nullptr) { stream_->finish(); }
    leave();
}

void HttpConnection::leave() {
    const auto self = shared_from_this();
    cut();
    if (const auto gone = std::exchange(gone_, nullptr)) { gone(this); }
}

}  // namespace muster::net
