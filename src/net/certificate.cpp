#include "net/certificate.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace muster::net {

namespace {

template <auto free_it>
struct Free {
    template <class T>
    void operator()(T* thing) const {
        free_it(thing);
    }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

constexpr long valid_seconds = 10L * 365 * 24 * 3600;
// Clocks differ: a certificate made just now is good on a machine that is an hour behind.
constexpr long early_seconds = 3600;

struct Signed {
    Certificate certificate;
    Key key;
};

struct Subject {
    std::string name;
    std::string group;  // may be empty
};

tl::unexpected<Error> failed(const char* what) {
    return fail(Code::invalid, fmt::format("certificate: {} failed", what));
}

bool add_name(X509_NAME* name, int kind, const std::string& text) {
    return X509_NAME_add_entry_by_NID(name, kind, MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial(X509* certificate) {
    std::uint64_t serial = 0;
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) { return false; }
    return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1U) == 1;
}

// Version 3, a fresh key, all but extensions and signature.
Result<Signed> make(const Subject& subject) {
    Signed made{Certificate(X509_new()), Key(EVP_EC_gen("P-256"))};
    if (made.certificate == nullptr || made.key == nullptr) { return failed("making a key"); }
    X509* const certificate = made.certificate.get();
    X509_set_version(certificate, X509_VERSION_3);
    X509_NAME* const name = X509_get_subject_name(certificate);
    if (!subject.group.empty() && !add_name(name, NID_organizationName, subject.group)) {
        return fail(Code::invalid, fmt::format("certificate: '{}' is no group", subject.group));
    }
    if (!add_name(name, NID_commonName, subject.name)) {
        return fail(Code::invalid, fmt::format("certificate: '{}' is no name", subject.name));
    }
    const bool is_made = set_serial(certificate) &&
                         X509_gmtime_adj(X509_getm_notBefore(certificate), -early_seconds) &&
                         X509_gmtime_adj(X509_getm_notAfter(certificate), valid_seconds) &&
                         X509_set_pubkey(certificate, made.key.get()) == 1;
    if (!is_made) { return failed("filling it in"); }
    return made;
}

Result<std::string> text_of(BIO* out) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(out, &data);
    if (size <= 0) { return failed("writing PEM"); }
    return std::string(data, static_cast<std::size_t>(size));
}

Result<KeyPair> write(const Signed& made) {
    const Bio certificate(BIO_new(BIO_s_mem()));
    const Bio key(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(certificate.get(), made.certificate.get()) != 1 ||
        PEM_write_bio_PrivateKey(key.get(), made.key.get(), nullptr, nullptr, 0, nullptr,
                                 nullptr) != 1) {
        return failed("writing PEM");
    }
    MUSTER_TRY(certificate_text, text_of(certificate.get()));
    MUSTER_TRY(key_text, text_of(key.get()));
    return KeyPair{.certificate = std::move(certificate_text), .key = std::move(key_text)};
}

Result<Signed> read(const KeyPair& pair) {
    const Bio certificate(
        BIO_new_mem_buf(pair.certificate.data(), static_cast<int>(pair.certificate.size())));
    const Bio key(BIO_new_mem_buf(pair.key.data(), static_cast<int>(pair.key.size())));
    Signed found{Certificate(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr)),
                 Key(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr))};
    if (found.certificate == nullptr || found.key == nullptr) {
        return fail(Code::invalid, "certificate authority: not a certificate and a key in PEM");
    }
    if (X509_check_private_key(found.certificate.get(), found.key.get()) != 1) {
        return fail(Code::invalid, "certificate authority: the key is another certificate's");
    }
    return found;
}

Result<> sign(X509* certificate, const Signed& authority) {
    X509* const issuer = authority.certificate.get();
    const bool is_signed =
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
        add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
        add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always") &&
        X509_sign(certificate, authority.key.get(), EVP_sha256()) != 0;
    if (!is_signed) { return failed("signing"); }
    return {};
}

// For one end of a connection: "serverAuth" or "clientAuth".
Result<KeyPair> sign_leaf(const KeyPair& authority, const Subject& subject,
                          const std::string& usage, const std::string& hosts) {
    MUSTER_TRY(issuer, read(authority));
    MUSTER_TRY(made, make(subject));
    X509* const certificate = made.certificate.get();
    X509* const by = issuer.certificate.get();
    if (!add_extension(certificate, by, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(certificate, by, NID_key_usage, "critical,digitalSignature") ||
        !add_extension(certificate, by, NID_ext_key_usage, usage)) {
        return failed("adding its usage");
    }
    if (!hosts.empty() && !add_extension(certificate, by, NID_subject_alt_name, hosts)) {
        return fail(Code::invalid, fmt::format("certificate: '{}' are no hosts", hosts));
    }
    MUSTER_CHECK(sign(certificate, issuer));
    return write(made);
}

bool is_address(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> parsed{};
    return inet_pton(AF_INET, host.c_str(), parsed.data()) == 1 ||
           inet_pton(AF_INET6, host.c_str(), parsed.data()) == 1;
}

}  // namespace

Result<KeyPair> make_authority(const std::string& name) {
    MUSTER_TRY(made, make({.name = name, .group = {}}));
    X509* const certificate = made.certificate.get();
    if (!add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE") ||
        !add_extension(certificate, certificate, NID_key_usage,
                       "critical,digitalSignature,keyCertSign,cRLSign")) {
        return failed("adding its usage");
    }
    MUSTER_CHECK(sign(certificate, made));
    return write(made);
}

Result<KeyPair> sign_server(const KeyPair& authority, const std::vector<std::string>& hosts) {
    if (hosts.empty()) { return fail(Code::invalid, "certificate: a server has a host"); }
    std::string names;
    for (const std::string& host : hosts) {
        // The extension is written as a list, in which these would begin another entry.
        if (host.empty() || host.find_first_of(",;\n\r") != std::string::npos) {
            return fail(Code::invalid, fmt::format("certificate: '{}' is no host", host));
        }
        names +=
            fmt::format("{}{}:{}", names.empty() ? "" : ",", is_address(host) ? "IP" : "DNS", host);
    }
    return sign_leaf(authority, {.name = hosts.front(), .group = {}}, "serverAuth", names);
}

Result<KeyPair> sign_client(const KeyPair& authority, const std::string& name,
                            const std::string& group) {
    return sign_leaf(authority, {.name = name, .group = group}, "clientAuth", {});
}

}  // namespace muster::net
