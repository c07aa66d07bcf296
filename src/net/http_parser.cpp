#include "net/http_parser.h"

#include "base/assert.h"
#include "net/http_text.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace muster::net {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using Failure = boost::system::error_code;

std::string to_string(beast::string_view text) { return {text.data(), text.size()}; }

// Beast's parser takes the syntax apart, this one keeps what is said.
template <bool is_request>
class MessageParser final : public http::basic_parser<is_request> {
public:
    explicit MessageParser(std::size_t header_bytes_max) {
        constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
        this->header_limit(static_cast<std::uint32_t>(std::min(header_bytes_max, most)));
        this->body_limit(boost::none);  // set when the header is known
    }

    std::string method;
    std::string target;
    int status = 0;
    int version = 11;
    std::vector<HttpHeader> headers;
    std::string body;

    /// Too little of a chunk's header: Beast asserts that the last one, which it has seen already
    /// when only the end of what trails it is missing, has these many bytes.
    [[nodiscard]] bool is_short(std::size_t size) const {
        return this->is_header_done() && this->chunked() && chunk_bytes_left_ == 0 &&
               size < std::string_view("0\r\n\r\n").size();
    }

private:
    void on_request_impl(http::verb, beast::string_view name, beast::string_view path, int number,
                         Failure&) override {
        method = to_string(name);
        target = to_string(path);
        version = number;
    }
    void on_response_impl(int code, beast::string_view, int number, Failure&) override {
        status = code;
        version = number;
    }
    void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                       Failure&) override {
        // What trails a chunked body comes here too, and nobody asked for it.
        if (!this->is_header_done()) { headers.push_back({to_string(name), to_string(value)}); }
    }
    void on_header_impl(Failure&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, Failure&) override {}
    std::size_t on_body_impl(beast::string_view piece, Failure&) override {
        body.append(piece.data(), piece.size());
        return piece.size();
    }
    void on_chunk_header_impl(std::uint64_t size, beast::string_view, Failure&) override {
        chunk_bytes_left_ = size;
    }
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece, Failure&) override {
        body.append(piece.data(), piece.size());
        chunk_bytes_left_ -= piece.size();
        return piece.size();
    }
    void on_finish_impl(Failure&) override {}

    std::uint64_t chunk_bytes_left_ = 0;
};

// Bytes that came and are not used up yet.
class Waiting {
public:
    void add(std::string_view bytes) {
        bytes_.erase(0, std::exchange(used_, 0));
        bytes_ += bytes;
    }
    [[nodiscard]] std::string_view rest() const { return std::string_view(bytes_).substr(used_); }
    void use(std::size_t size) {
        used_ += size;
        if (used_ == bytes_.size()) {
            used_ = 0;
            bytes_.clear();
        }
    }

private:
    std::string bytes_;
    std::size_t used_ = 0;
};

// Parses on until nothing moves; the header, if it is not done yet, and the body need calls of
// their own, since Beast stops between them.
template <bool is_request>
Failure put(MessageParser<is_request>& parser, Waiting& waiting) {
    Failure error;
    const std::string_view rest = waiting.rest();
    if (parser.is_short(rest.size())) { return http::error::need_more; }
    waiting.use(parser.put(boost::asio::buffer(rest.data(), rest.size()), error));
    return error;
}

}  // namespace

struct RequestParser::Impl {
    HttpLimits limits;
    Waiting waiting;
    std::optional<MessageParser<true>> parser;
    int refusal = 0;
    bool keeps_alive = true;
    bool knows_chunks = true;
    bool expects = false;

    [[nodiscard]] int status_of(const Failure& error) const {
        if (error == http::error::body_limit) { return 413; }
        if (error == http::error::header_limit) { return 431; }
        if (error == http::error::bad_version) { return 505; }
        return 400;
    }

    // 0, or the status to refuse the request with.
    int check_header() {
        const auto& headers = parser->headers;
        const auto hosts = std::count_if(headers.begin(), headers.end(), [](const auto& header) {
            return is_same_name(header.name, "Host");
        });
        if (hosts > 1 || (hosts == 0 && parser->version >= 11)) { return 400; }
        const auto coding = find_header(headers, "Transfer-Encoding");
        if (!coding.empty() && !is_same_name(coding, "chunked")) { return 501; }
        if (parser->content_length().value_or(0) > limits.body_bytes_max) { return 413; }
        const auto expectation = find_header(headers, "Expect");
        if (!expectation.empty() && !is_same_name(expectation, "100-continue")) { return 417; }
        expects = !expectation.empty() && parser->version >= 11 && !parser->is_done();
        parser->body_limit(limits.body_bytes_max);
        parser->eager(true);
        return 0;
    }

    // Robust clients of old send an empty line after a body; it belongs to no request.
    void skip_empty_lines() {
        while (waiting.rest().starts_with("\r\n")) { waiting.use(2); }
    }

    Step refuse(int status) {
        refusal = status;
        return Step::refused;
    }
};

RequestParser::RequestParser(HttpLimits limits) : impl_(std::make_unique<Impl>()) {
    impl_->limits = limits;
}
RequestParser::~RequestParser() = default;

void RequestParser::feed(std::string_view bytes) { impl_->waiting.add(bytes); }

RequestParser::Step RequestParser::step() {
    Impl& self = *impl_;
    if (self.refusal != 0) { return Step::refused; }
    if (!self.parser) {
        self.skip_empty_lines();
        if (self.waiting.rest().empty() || self.waiting.rest() == "\r") { return Step::more; }
        self.parser.emplace(self.limits.header_bytes_max);
    }
    while (!self.parser->is_done()) {
        const bool was_header_done = self.parser->is_header_done();
        const Failure error = put(*self.parser, self.waiting);
        if (error == http::error::need_more) {
            // A chunk's extensions or what trails the last one: Beast waits for their end forever.
            const bool is_endless = self.waiting.rest().size() > self.limits.header_bytes_max;
            return is_endless ? self.refuse(431) : Step::more;
        }
        if (error) { return self.refuse(self.status_of(error)); }
        if (!was_header_done && self.parser->is_header_done()) {
            if (const int status = self.check_header(); status != 0) { return self.refuse(status); }
        }
        if (!self.parser->is_done() && self.waiting.rest().empty()) { return Step::more; }
    }
    return Step::request;
}

HttpRequest RequestParser::take() {
    MUSTER_ASSERT(impl_->parser.has_value());
    MessageParser<true>& parser = *impl_->parser;
    impl_->knows_chunks = parser.version >= 11;
    impl_->keeps_alive = impl_->knows_chunks && parser.keep_alive();
    impl_->expects = false;
    HttpRequest request{.method = std::move(parser.method),
                        .target = std::move(parser.target),
                        .headers = std::move(parser.headers),
                        .body = std::move(parser.body),
                        .client_name = {}};
    impl_->parser.reset();
    return request;
}

bool RequestParser::keeps_alive() const { return impl_->keeps_alive; }
bool RequestParser::knows_chunks() const { return impl_->knows_chunks; }
int RequestParser::refusal() const { return impl_->refusal; }
bool RequestParser::has_begun() const { return impl_->parser.has_value(); }
bool RequestParser::take_expectation() { return std::exchange(impl_->expects, false); }
std::size_t RequestParser::bytes_waiting() const { return impl_->waiting.rest().size(); }
std::string RequestParser::take_rest() {
    std::string rest(impl_->waiting.rest());
    impl_->waiting.use(rest.size());
    return rest;
}

struct ResponseParser::Impl {
    HttpLimits limits;
    bool is_head = false;
    bool is_followed = false;
    bool has_begun = false;
    bool has_ended = false;
    Waiting waiting;
    std::optional<MessageParser<false>> parser;
    Error error;

    Step fail_with(Code code, std::string message) {
        error = Error{code, std::move(message)};
        return Step::failed;
    }

    void begin() {
        parser.emplace(limits.header_bytes_max);
        parser->skip(is_head);
    }

    [[nodiscard]] bool is_piecewise() const {
        return is_followed && parser->is_header_done() && parser->status == 200;
    }

    bool check_header() {
        parser->eager(true);
        if (is_piecewise()) { return true; }
        parser->body_limit(limits.body_bytes_max);
        return is_head || parser->content_length().value_or(0) <= limits.body_bytes_max;
    }

    Step fail_at(const Failure& cause) {
        if (cause == http::error::body_limit) { return fail_long(); }
        if (cause == http::error::header_limit) {
            return fail_with(Code::limit, "the answer's header is too long");
        }
        return fail_with(Code::corrupt, "the answer is no HTTP: " + cause.message());
    }
    Step fail_long() { return fail_with(Code::limit, "the answer's body is too long"); }
    Step fail_short() {
        return fail_with(Code::unavailable, "the server hung up before the answer's end");
    }

    Step finish() {
        if (!parser->got_some()) { return fail_short(); }
        Failure cause;
        parser->put_eof(cause);
        return cause || !parser->is_done() ? fail_short() : Step::done;
    }
};

ResponseParser::ResponseParser(HttpLimits limits, bool is_head) : impl_(std::make_unique<Impl>()) {
    impl_->limits = limits;
    impl_->is_head = is_head;
    impl_->begin();
}
ResponseParser::~ResponseParser() = default;

void ResponseParser::follow() { impl_->is_followed = true; }
void ResponseParser::feed(std::string_view bytes) {
    impl_->has_begun = impl_->has_begun || !bytes.empty();
    impl_->waiting.add(bytes);
}
void ResponseParser::end() { impl_->has_ended = true; }

ResponseParser::Step ResponseParser::step() {
    Impl& self = *impl_;
    while (true) {
        if (self.parser->is_done()) {
            if (self.parser->status / 100 != 1) { return Step::done; }
            self.begin();  // "go on" and the like come ahead of the answer
        }
        if (self.waiting.rest().empty()) { return self.has_ended ? self.finish() : Step::more; }
        const bool was_header_done = self.parser->is_header_done();
        const Failure error = put(*self.parser, self.waiting);
        if (error == http::error::need_more) {
            if (self.has_ended) { return self.fail_short(); }
            const bool is_endless = self.waiting.rest().size() > self.limits.header_bytes_max;
            return is_endless ? self.fail_at(http::error::header_limit) : Step::more;
        }
        if (error) { return self.fail_at(error); }
        if (!was_header_done && self.parser->is_header_done() && !self.check_header()) {
            return self.fail_long();
        }
    }
}

bool ResponseParser::has_begun() const { return impl_->has_begun; }

bool ResponseParser::is_piecewise() const { return impl_->is_piecewise(); }

std::string ResponseParser::take_piece() { return std::exchange(impl_->parser->body, {}); }

HttpResponse ResponseParser::take() {
    MessageParser<false>& parser = *impl_->parser;
    return {.status = parser.status,
            .headers = std::move(parser.headers),
            .body = std::move(parser.body),
            .stream = nullptr};
}

bool ResponseParser::keeps_alive() const {
    return impl_->parser->keep_alive() && !impl_->parser->need_eof() && !impl_->has_ended &&
           impl_->waiting.rest().empty();
}

Error ResponseParser::error() const { return impl_->error; }

}  // namespace muster::net
