// How HTTP/1.1 messages are written.
#pragma once

#include "base/result.h"
#include "net/http.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::net {

/// Header names have no case.
bool is_same_name(std::string_view left, std::string_view right);
/// The first value; empty when there is none.
std::string_view find_header(const std::vector<HttpHeader>& headers, std::string_view name);

std::string_view reason_of(int status);
/// Some have none, whatever was asked for.
bool has_body(int status);

struct Framing {
    bool keeps_alive = true;
    bool is_chunked = true;  // a stream is; HTTP/1.0 knows no chunks and reads to the end
};

/// Status line and headers with the empty line. Headers that would break out of their line are
/// left out, and so are those that say where a message ends: that is decided here.
std::string answer_head(const HttpResponse& answer, Framing framing);
/// A piece of a chunked body, not empty; `last_chunk` ends it.
std::string chunk(std::string_view piece);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Request line and headers with the empty line; the body follows as it is.
Result<std::string> request_head(const HttpRequest& request, std::string_view host);

}  // namespace muster::net
