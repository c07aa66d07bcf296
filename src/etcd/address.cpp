#include "etcd/address.h"

#include "base/text.h"
#include "etcd/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::etcd {

namespace {

constexpr std::string_view secure_scheme = "etcd://";
constexpr std::string_view plain_scheme = "etcd+http://";
constexpr std::size_t prefix_bytes_max = 200;

/// "host:port" or "[v6]:port".
Result<Endpoint> read_endpoint(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    Endpoint out;
    if (colon != std::string_view::npos) {
        std::string_view host = text.substr(0, colon);
        if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
            host = host.substr(1, host.size() - 2);
        } else if (host.find(':') != std::string_view::npos) {
            host = {};
        }
        const auto port = parse_int("port", text.substr(colon + 1), 1, 65'535);
        const bool is_host = !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
            return c > ' ' && c < 127 && c != '[' && c != ']' && c != '@';
        });
        if (port && is_host) {
            out = {.host = std::string(host), .port = static_cast<std::uint16_t>(*port)};
        }
    }
    if (out.port == 0) {
        return fail(Code::invalid, fmt::format("found '{}'; expected HOST:PORT", text));
    }
    return out;
}

bool is_prefix(std::string_view text) {
    return !text.empty() && text.size() <= prefix_bytes_max && text.front() != '/' &&
           text.back() != '/' && text.find("//") == std::string_view::npos &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return c > ' ' && c < 127 && c != '"' && c != '\\'; });
}

}  // namespace

bool is_address(std::string_view text) {
    return text.starts_with(secure_scheme) || text.starts_with(plain_scheme);
}

Result<Address> read_address(std::string_view text) {
    const auto bad = [&](std::string_view what) {
        return fail(Code::invalid,
                    fmt::format("{}: {}; expected etcd://HOST:PORT[,HOST:PORT]/PREFIX, or "
                                "etcd+http:// without TLS",
                                text, what));
    };
    Address out;
    out.is_tls = text.starts_with(secure_scheme);
    if (!is_address(text)) { return bad("is no address of etcd"); }
    std::string_view rest = text.substr(out.is_tls ? secure_scheme.size() : plain_scheme.size());
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos || !is_prefix(rest.substr(slash + 1))) {
        return bad("no prefix of keys");
    }
    out.prefix = rest.substr(slash);
    for (const std::string_view one : split(rest.substr(0, slash), ',')) {
        auto endpoint = read_endpoint(one);
        if (!endpoint) { return bad(endpoint.error().message); }
        out.endpoints.push_back(std::move(*endpoint));
    }
    if (out.endpoints.size() > endpoints_max) {
        return bad(fmt::format("{} endpoints, over {}", out.endpoints.size(), endpoints_max));
    }
    return out;
}

std::string text_of(const Address& address) {
    std::string out(address.is_tls ? secure_scheme : plain_scheme);
    for (const Endpoint& one : address.endpoints) {
        const bool is_v6 = one.host.find(':') != std::string::npos;
        out += fmt::format("{}{}{}{}:{}", &one == address.endpoints.data() ? "" : ",",
                           is_v6 ? "[" : "", one.host, is_v6 ? "]" : "", one.port);
    }
    return out + address.prefix;
}

}  // namespace muster::etcd
