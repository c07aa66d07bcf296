#include "net/tls.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

#include <string>
#include <string_view>

namespace muster::net {

namespace {

namespace ssl = boost::asio::ssl;

constexpr std::string_view http_protocol = "\x08http/1.1";  // as ALPN writes it: length, name

// Clients that offer h2 first take http/1.1 when that is what is chosen.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
    unsigned char* chosen = nullptr;
    const int outcome = SSL_select_next_proto(
        &chosen, out_size, reinterpret_cast<const unsigned char*>(http_protocol.data()),
        static_cast<unsigned>(http_protocol.size()), offered, offered_size);
    if (outcome != OPENSSL_NPN_NEGOTIATED) { return SSL_TLSEXT_ERR_NOACK; }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

Result<std::shared_ptr<TlsContext>> make_context(ssl::context::method method) {
    auto context = std::make_shared<ssl::context>(method);
    SSL_CTX* const native = context->native_handle();
    SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
    // A resumed session has no certificate to look at again.
    SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_num_tickets(native, 0);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);  // idle connections are small
    return context;
}

Result<> use_certificate(ssl::context& context, const std::string& certificate,
                         const std::string& key) {
    boost::system::error_code error;
    context.use_certificate_chain(boost::asio::buffer(certificate), error);
    if (error) { return fail(Code::invalid, "certificate: " + error.message()); }
    context.use_private_key(boost::asio::buffer(key), ssl::context::pem, error);
    if (error) { return fail(Code::invalid, "private key: " + error.message()); }
    return {};
}

Result<> trust(ssl::context& context, const std::string& authority) {
    boost::system::error_code error;
    context.add_certificate_authority(boost::asio::buffer(authority), error);
    if (error) { return fail(Code::invalid, "certificate authority: " + error.message()); }
    return {};
}

}  // namespace

Result<std::shared_ptr<TlsContext>> make_server_tls(const ServerTls& options) {
    MUSTER_TRY(context, make_context(ssl::context::tls_server));
    MUSTER_CHECK(use_certificate(*context, options.certificate, options.key));
    SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_protocol, nullptr);
    if (!options.client_authority.empty()) {
        MUSTER_CHECK(trust(*context, options.client_authority));
        SSL_CTX_set_verify(context->native_handle(), SSL_VERIFY_PEER, nullptr);
    }
    return context;
}

Result<std::shared_ptr<TlsContext>> make_client_tls(const HttpClientOptions& options) {
    MUSTER_TRY(context, make_context(ssl::context::tls_client));
    SSL_CTX_set_alpn_protos(context->native_handle(),
                            reinterpret_cast<const unsigned char*>(http_protocol.data()),
                            static_cast<unsigned>(http_protocol.size()));
    SSL_CTX_set_verify(context->native_handle(),
                       options.is_verified ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (!options.is_verified) {
        // Nobody is asked.
    } else if (options.authority.empty()) {
        boost::system::error_code error;
        context->set_default_verify_paths(error);
        if (error) { return fail(Code::invalid, "default authorities: " + error.message()); }
    } else {
        MUSTER_CHECK(trust(*context, options.authority));
        // What is named is trusted, also a server's own certificate.
        X509_STORE_set_flags(SSL_CTX_get_cert_store(context->native_handle()),
                             X509_V_FLAG_PARTIAL_CHAIN);
    }
    if (!options.certificate.empty()) {
        MUSTER_CHECK(use_certificate(*context, options.certificate, options.key));
    }
    return context;
}

}  // namespace muster::net
