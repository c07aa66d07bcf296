// A key pair for ssh: RSA, the private part as OpenSSH reads it from `id_rsa`, the public one as a
// line of `authorized_keys`.
#pragma once

#include "base/result.h"

#include <string>

namespace muster::net {

struct SshKey {
    std::string private_key;  // PEM
    std::string public_key;   // "ssh-rsa AAAA…\n"
};

Result<SshKey> make_ssh_key();

}  // namespace muster::net
