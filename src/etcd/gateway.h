// The seam to etcd: one question to its JSON gateway, and the answer. A question whose answer is an
// error may have been carried out all the same, or be carried out later.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace muster::etcd {

struct GatewayAnswer {
    int status = 200;
    std::string body;
};

class Gateway {
public:
    Gateway() = default;
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;
    virtual ~Gateway() = default;

    /// `path` as "/v3/kv/txn". Waits, for a bounded time.
    virtual Result<GatewayAnswer> ask(std::string_view path, const std::string& body) = 0;
};

}  // namespace muster::etcd
