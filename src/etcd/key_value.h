// Questions to etcd's key-value service as JSON, and its answers read: pure. Keys and values are
// bytes, in base64 on the wire; 64-bit numbers are texts there.
#pragma once

#include "base/result.h"
#include "etcd/gateway.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::etcd {

struct RangeQuery {
    std::string key;
    std::string end;        // empty: that key alone; else all below it
    std::size_t limit = 0;  // 0 = none
    bool is_last_first = false;
    bool is_count_only = false;
};

struct KeyValue {
    std::string key;
    std::string value;
    std::int64_t revision = 0;  // of its last change
};

struct RangeAnswer {
    std::vector<KeyValue> found;
    std::int64_t count = 0;  // of all that there are, whatever the limit
    bool has_more = false;
};

/// If `guard` was changed last at `revision` (0: it is not there), puts and drops; else reads it.
struct Transaction {
    std::string guard;
    std::int64_t revision = 0;
    struct Put {
        std::string key;
        std::string value;
    };
    struct Drop {
        std::string from;
        std::string end;
    };
    std::vector<Drop> drops;
    std::vector<Put> puts;
};

struct TransactionAnswer {
    bool is_done = false;
    std::int64_t revision = 0;    // of etcd; of what was put, when it is done
    std::vector<KeyValue> guard;  // when it is not: nothing if it is not there
};

inline constexpr std::string_view range_path = "/v3/kv/range";
inline constexpr std::string_view transaction_path = "/v3/kv/txn";

std::string text_of(const RangeQuery& query);
std::string text_of(const Transaction& transaction);

/// `limit` when the request was too large for etcd; `unavailable` for all else that is no answer.
Result<RangeAnswer> read_range(const GatewayAnswer& answer);
Result<TransactionAnswer> read_transaction(const GatewayAnswer& answer);

/// All keys that begin with it, which ends with a slash, are below that.
std::string end_of(std::string folder);

}  // namespace muster::etcd
