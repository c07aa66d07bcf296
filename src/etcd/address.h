// Where a ledger in etcd lies: etcd://HOST:PORT[,HOST:PORT...]/PREFIX over TLS, or in the clear
// when it says so: etcd+http://...
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::etcd {

struct Endpoint {
    std::string host;
    std::uint16_t port = 0;

    bool operator==(const Endpoint&) const = default;
};

struct Address {
    std::vector<Endpoint> endpoints;
    std::string prefix;  // "/muster/ledger": never empty, no slash at its end
    bool is_tls = true;

    bool operator==(const Address&) const = default;
};

/// Whether a ledger's name is of this kind at all.
bool is_address(std::string_view text);
Result<Address> read_address(std::string_view text);
std::string text_of(const Address& address);

}  // namespace muster::etcd
