#include "ledger/entry.h"

#include "base/assert.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <memory>

namespace muster {

namespace {

class Sha256 {
public:
    Sha256() : context_(context_of_thread()) {
        // Looked up once: by its name that costs more than to hash a small record.
        static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
        const int is_ready = EVP_DigestInit_ex(context_, sha256, nullptr);
        MUSTER_ASSERT(is_ready == 1);
    }

    Sha256& add(const void* bytes, std::size_t size) {
        const int is_added = EVP_DigestUpdate(context_, bytes, size);
        MUSTER_ASSERT(is_added == 1);
        return *this;
    }

    Hash end() {
        Hash hash;
        const int is_done = EVP_DigestFinal_ex(context_, hash.data(), nullptr);
        MUSTER_ASSERT(is_done == 1);
        return hash;
    }

private:
    struct Free {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    /// Made once: that costs as much as to hash a small record. One hash at a time uses it.
    static EVP_MD_CTX* context_of_thread() {
        thread_local const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
        MUSTER_ASSERT(context != nullptr);
        return context.get();
    }
    EVP_MD_CTX* context_;
};

}  // namespace

Hash hash_of(std::string_view bytes) { return Sha256().add(bytes.data(), bytes.size()).end(); }

Hash chain_hash(const Hash& before, const Header& header, std::string_view payload) {
    std::array<std::uint8_t, 32> words{};
    std::size_t at = 0;
    for (const std::uint64_t number :
         {header.sequence, header.epoch, static_cast<std::uint64_t>(header.kind),
          static_cast<std::uint64_t>(header.time)}) {
        for (unsigned shift = 0; shift < 64; shift += 8) {
            words[at++] = static_cast<std::uint8_t>(number >> shift);
        }
    }
    return Sha256()
        .add(before.data(), before.size())
        .add(words.data(), words.size())
        .add(payload.data(), payload.size())
        .end();
}

std::string hex_of(const Hash& hash) {
    std::string out;
    for (const std::uint8_t byte : hash) { out += fmt::format("{:02x}", byte); }
    return out;
}

}  // namespace muster
