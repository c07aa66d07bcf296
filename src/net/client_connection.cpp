#include "net/client_connection.h"

#include <utility>

namespace muster::net {

ClientConnection::ClientConnection(std::unique_ptr<ByteStream> stream)
    : stream_(std::move(stream)) {}

// As in a server's connection: callbacks of the stream hold `this` alone and take a share first.
void ClientConnection::ask(const HttpCall& call, std::function<void(Outcome)> done) {
    parser_.emplace(call.limits, call.is_head);
    if (call.piece) { parser_->follow(); }
    head_ = call.head;
    body_ = call.body;
    piece_ = call.piece;
    done_ = std::move(done);
    if (is_open_) { return send(); }
    stream_->open([this](Result<std::string> opened) {
        const auto self = shared_from_this();
        if (!opened) { return end(tl::unexpected(std::move(opened).error()), false); }
        is_open_ = true;
        send();
    });
}

void ClientConnection::on_lost(std::function<void()> lost) { lost_ = std::move(lost); }

void ClientConnection::cut() { stream_.reset(); }

void ClientConnection::send() {
    is_writing_ = true;
    stream_->write(std::move(head_), std::move(body_), [this](const Result<>&) {
        // When it failed, what there is to read says why, or that there is nothing.
        is_writing_ = false;
    });
    read();
}

void ClientConnection::read() {
    if (is_reading_ || stream_ == nullptr) { return; }
    is_reading_ = true;
    stream_->read([this](Result<std::string_view> bytes) {
        const auto self = shared_from_this();
        is_reading_ = false;
        if (!parser_) {  // nothing was asked
            stream_.reset();
            if (const auto lost = std::exchange(lost_, nullptr)) { lost(); }
            return;
        }
        if (!bytes) { return end(tl::unexpected(std::move(bytes).error()), false); }
        on_bytes(*bytes);
    });
}

void ClientConnection::on_bytes(std::string_view bytes) {
    if (bytes.empty()) {
        parser_->end();
    } else {
        parser_->feed(bytes);
    }
    const ResponseParser::Step step = parser_->step();
    if (parser_->is_piecewise()) {
        piece_(parser_->take_piece());
        if (stream_ == nullptr) { return; }
    }
    switch (step) {
        case ResponseParser::Step::more: return read();
        case ResponseParser::Step::failed: return end(tl::unexpected(parser_->error()), false);
        case ResponseParser::Step::done: break;
    }
    const bool is_reusable = parser_->keeps_alive() && !is_writing_;
    end(parser_->take(), is_reusable);
}

void ClientConnection::end(Result<HttpResponse> answer, bool is_reusable) {
    const bool has_begun = parser_->has_begun();
    parser_.reset();
    piece_ = nullptr;
    if (is_reusable) {
        read();  // tells when the server hangs up
    } else {
        stream_.reset();
    }
    const auto done = std::exchange(done_, nullptr);
    done({.answer = std::move(answer), .has_begun = has_begun, .is_reusable = is_reusable});
}

}  // namespace muster::net
