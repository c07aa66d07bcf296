#include "net/certificate.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace muster::net {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;
using Parsed = std::unique_ptr<X509, decltype(&X509_free)>;
using Store = std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)>;

Parsed parse(const std::string& text) {
    const Bio in(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free_all);
    return {PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr), X509_free};
}

bool is_good(const KeyPair& pair, const KeyPair& authority, int purpose) {
    const Parsed certificate = parse(pair.certificate);
    const Parsed root = parse(authority.certificate);
    const Store store(X509_STORE_new(), X509_STORE_free);
    X509_STORE_add_cert(store.get(), root.get());
    const StoreContext context(X509_STORE_CTX_new(), X509_STORE_CTX_free);
    X509_STORE_CTX_init(context.get(), store.get(), certificate.get(), nullptr);
    X509_STORE_CTX_set_purpose(context.get(), purpose);
    X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context.get()), X509_V_FLAG_X509_STRICT);
    return X509_verify_cert(context.get()) == 1;
}

std::string subject(const KeyPair& pair) {
    const Parsed certificate = parse(pair.certificate);
    const Bio out(BIO_new(BIO_s_mem()), BIO_free_all);
    X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate.get()), 0,
                       XN_FLAG_SEP_COMMA_PLUS);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

TEST(Certificate, IsGoodForItsOwnEndOnlyAndByItsOwnAuthorityOnly) {
    const KeyPair authority = *make_authority("lab");
    const KeyPair stranger = *make_authority("lab");
    const KeyPair server = *sign_server(authority, {"localhost"});
    const KeyPair client = *sign_client(authority, "admin", "masters");

    EXPECT_TRUE(is_good(server, authority, X509_PURPOSE_SSL_SERVER));
    EXPECT_TRUE(is_good(client, authority, X509_PURPOSE_SSL_CLIENT));
    EXPECT_FALSE(is_good(server, authority, X509_PURPOSE_SSL_CLIENT));
    EXPECT_FALSE(is_good(client, authority, X509_PURPOSE_SSL_SERVER));
    EXPECT_FALSE(is_good(server, stranger, X509_PURPOSE_SSL_SERVER));
}

TEST(Certificate, OfAServerHasItsHostsAndAddresses) {
    const KeyPair authority = *make_authority("lab");

    const KeyPair server = *sign_server(authority, {"localhost", "127.0.0.1", "::1"});

    const Parsed certificate = parse(server.certificate);
    EXPECT_EQ(X509_check_host(certificate.get(), "localhost", 0, 0, nullptr), 1);
    EXPECT_EQ(X509_check_host(certificate.get(), "elsewhere", 0, 0, nullptr), 0);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "127.0.0.1", 0), 1);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "::1", 0), 1);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "127.0.0.2", 0), 0);
}

TEST(Certificate, OfAClientNamesUserAndGroup) {
    const KeyPair authority = *make_authority("lab");

    EXPECT_EQ(subject(*sign_client(authority, "admin", "system:masters")),
              "O=system:masters,CN=admin");
    EXPECT_EQ(subject(*sign_client(authority, "admin", "")), "CN=admin");
}

TEST(Certificate, EachHasAKeyAndANumberOfItsOwn) {
    const KeyPair authority = *make_authority("lab");
    const KeyPair first = *sign_client(authority, "a", "");
    const KeyPair second = *sign_client(authority, "a", "");

    EXPECT_NE(first.key, second.key);
    const Parsed one = parse(first.certificate);
    const Parsed two = parse(second.certificate);
    EXPECT_NE(
        ASN1_INTEGER_cmp(X509_get0_serialNumber(one.get()), X509_get0_serialNumber(two.get())), 0);
}

TEST(Certificate, RefusesWhatItCannotSignWith) {
    const KeyPair authority = *make_authority("lab");
    const KeyPair other = *make_authority("other");

    EXPECT_FALSE(sign_client({.certificate = "", .key = ""}, "a", ""));
    EXPECT_FALSE(sign_client({.certificate = authority.certificate, .key = other.key}, "a", ""));
    EXPECT_FALSE(sign_client(authority, "", ""));
    EXPECT_FALSE(sign_client(authority, std::string(65, 'a'), ""));
    EXPECT_FALSE(sign_server(authority, {}));
    EXPECT_FALSE(sign_server(authority, {"a,DNS:b"}));
}

}  // namespace
}  // namespace muster::net
