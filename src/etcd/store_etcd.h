// A ledger in etcd, for leaders on several hosts; docs/decisions/0018. What a call could not find
// out in its time it fails as `unavailable`; an append that was carried out all the same is found
// when the same entry is appended again.
#pragma once

#include "etcd/gateway.h"
#include "ledger/store.h"

#include <memory>
#include <string>

namespace muster::etcd {

struct StoreOptions {
    std::string name;    // for errors
    std::string prefix;  // of its keys: Address::prefix
    std::string writer;  // of this store and no other one; no blank in it
};

/// Asks nothing yet.
std::unique_ptr<Store> open_etcd_store(std::unique_ptr<Gateway> gateway, StoreOptions options);

/// The same for all who write that ledger, and for nobody else: `fresh`, or what the first one who
/// asked gave. In words, with the prefix.
Result<std::string> ledger_id(Gateway& gateway, const std::string& prefix,
                              const std::string& fresh);

}  // namespace muster::etcd
