#include "net/http.h"

#include "net/http_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

namespace muster::net {

namespace {

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_token_letter(char letter) {
    return (letter >= '0' && letter <= '9') || (lower(letter) >= 'a' && lower(letter) <= 'z') ||
           (letter != '\0' &&
            std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string::npos);
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_letter);
}

bool is_value(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

bool is_target(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
        return static_cast<unsigned char>(letter) > 0x20 && letter != 0x7f;
    });
}

// What says where a message ends is written here and by nobody else.
bool is_framing(std::string_view name) {
    return is_same_name(name, "Content-Length") || is_same_name(name, "Transfer-Encoding") ||
           is_same_name(name, "Connection");
}

void write_headers(std::string& out, const std::vector<HttpHeader>& headers) {
    for (const HttpHeader& header : headers) {
        if (is_framing(header.name) || !is_token(header.name) || !is_value(header.value)) {
            continue;
        }
        out += fmt::format("{}: {}\r\n", header.name, header.value);
    }
}

}  // namespace

bool is_same_name(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view find_header(const std::vector<HttpHeader>& headers, std::string_view name) {
    for (const HttpHeader& header : headers) {
        if (is_same_name(header.name, name)) { return header.value; }
    }
    return {};
}

std::string_view HttpRequest::header(std::string_view name) const {
    return find_header(headers, name);
}

std::string_view reason_of(int status) {
    switch (status) {
        case 100: return "Continue";
        case 101: return "Switching Protocols";
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 304: return "Not Modified";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 415: return "Unsupported Media Type";
        case 417: return "Expectation Failed";
        case 422: return "Unprocessable Entity";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        default: return "Status";
    }
}

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string answer_head(const HttpResponse& answer, Framing framing) {
    std::string out = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, reason_of(answer.status));
    write_headers(out, answer.headers);
    const bool has_length = has_body(answer.status);
    if (has_length && answer.stream == nullptr) {
        out += fmt::format("Content-Length: {}\r\n", answer.body.size());
    }
    if (has_length && answer.stream != nullptr && framing.is_chunked) {
        out += "Transfer-Encoding: chunked\r\n";
    }
    if (answer.status == 101) {
        out += "Connection: Upgrade\r\n";
    } else if (!framing.keeps_alive) {
        out += "Connection: close\r\n";
    }
    out += "\r\n";
    return out;
}

std::string chunk(std::string_view piece) {
    return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

Result<std::string> request_head(const HttpRequest& request, std::string_view host) {
    if (!is_token(request.method)) {
        return fail(Code::invalid, fmt::format("'{}' is no HTTP method", request.method));
    }
    if (!is_target(request.target)) {
        return fail(Code::invalid, fmt::format("'{}' is no path", request.target));
    }
    std::string out = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
    if (request.header("Host").empty()) { out += fmt::format("Host: {}\r\n", host); }
    for (const HttpHeader& header : request.headers) {
        if (!is_token(header.name) || !is_value(header.value)) {
            return fail(Code::invalid, fmt::format("'{}' is no header", header.name));
        }
    }
    write_headers(out, request.headers);
    if (!request.body.empty() || (request.method != "GET" && request.method != "HEAD")) {
        out += fmt::format("Content-Length: {}\r\n", request.body.size());
    }
    out += "\r\n";
    return out;
}

}  // namespace muster::net
