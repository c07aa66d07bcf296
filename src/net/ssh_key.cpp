#include "net/ssh_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace muster::net {

namespace {

constexpr unsigned int bits = 2'048;

template <auto free_it>
struct Free {
    template <class T>
    void operator()(T* one) const {
        free_it(one);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free_all>>;

/// A length in four bytes, then the bytes (RFC 4251, section 5).
void put(std::string& out, std::string_view bytes) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    for (const int shift : {24, 16, 8, 0}) { out += static_cast<char>((size >> shift) & 0xffU); }
    out += bytes;
}

Result<std::string> number_of(const Key& key, const char* name) {
    BIGNUM* raw = nullptr;
    if (EVP_PKEY_get_bn_param(key.get(), name, &raw) != 1) {
        return fail(Code::unavailable, "a part of an RSA key can't be read");
    }
    const Number number(raw);
    std::string out(static_cast<std::size_t>(BN_num_bytes(number.get())), '\0');
    BN_bn2bin(number.get(), reinterpret_cast<unsigned char*>(out.data()));
    // It is positive: its first bit is none of a sign.
    if (!out.empty() && (static_cast<unsigned char>(out.front()) & 0x80U) != 0) {
        out.insert(0, 1, '\0');
    }
    return out;
}

std::string base64(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

}  // namespace

Result<SshKey> make_ssh_key() {
    const Key key(EVP_RSA_gen(bits));
    const Memory memory(BIO_new(BIO_s_mem()));
    if (key == nullptr || memory == nullptr ||
        PEM_write_bio_PrivateKey_traditional(memory.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                             nullptr) != 1) {
        return fail(Code::unavailable, "an RSA key can't be made");
    }
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &text);
    MUSTER_TRY(exponent, number_of(key, OSSL_PKEY_PARAM_RSA_E));
    MUSTER_TRY(modulus, number_of(key, OSSL_PKEY_PARAM_RSA_N));
    std::string blob;
    put(blob, "ssh-rsa");
    put(blob, exponent);
    put(blob, modulus);
    return SshKey{.private_key = std::string(text, static_cast<std::size_t>(size)),
                  .public_key = "ssh-rsa " + base64(blob) + "\n"};
}

}  // namespace muster::net
