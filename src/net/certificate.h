// Certificates for a server of one's own: an authority, and what it signs. PEM texts, P-256 keys.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace muster::net {

struct KeyPair {
    std::string certificate;
    std::string key;
};

Result<KeyPair> make_authority(const std::string& name);
/// For a server under these host names and addresses ("localhost", "127.0.0.1", "::1").
Result<KeyPair> sign_server(const KeyPair& authority, const std::vector<std::string>& hosts);
/// A client whose common name is `name` and whose organisation is `group`.
Result<KeyPair> sign_client(const KeyPair& authority, const std::string& name,
                            const std::string& group);

}  // namespace muster::net
