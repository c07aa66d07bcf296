// Any bytes of a program: no crash; what is read has a token or a certificate with its key.
#include "base/assert.h"
#include "kube/exec_plugin.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = muster::kube::read_exec_credential(
        {reinterpret_cast<const char*>(data), size}, "client.authentication.k8s.io/v1");
    if (read) {
        MUSTER_ASSERT(!read->token.empty() || !read->certificate.empty());
        MUSTER_ASSERT(read->certificate.empty() == read->key.empty());
    }
    return 0;
}
