#include "cli/api_status.h"

#include "codec/json_writer.h"

namespace muster::cli {

namespace {

/// As Kubernetes calls them.
std::string_view reason_of(int status) {
    switch (status) {
        case 400: return "BadRequest";
        case 404: return "NotFound";
        case 405: return "MethodNotAllowed";
        case 409: return "Conflict";
        case 413: return "RequestEntityTooLarge";
        case 429: return "TooManyRequests";
        case 503: return "ServiceUnavailable";
        case 504: return "Timeout";
        default: return "InternalError";
    }
}

}  // namespace

int status_of(Code code) {
    switch (code) {
        case Code::invalid: return 400;
        case Code::not_found: return 404;
        case Code::conflict: return 409;
        case Code::unavailable: return 503;
        case Code::corrupt: return 500;
        case Code::limit: return 413;
        case Code::timeout: return 504;
    }
    return 500;
}

std::string status_json(int status, std::string_view message, std::string_view reason) {
    JsonWriter out;
    out.begin_object()
        .member("kind", "Status")
        .member("apiVersion", "v1")
        .key("metadata")
        .begin_object()
        .end_object()
        .member("status", "Failure")
        .member("message", message)
        .member("reason", reason.empty() ? reason_of(status) : reason)
        .key("details")
        .begin_object()
        .member("kind", api_kind)
        .end_object()
        .member("code", std::int64_t{status})
        .end_object();
    return out.take() + '\n';
}

}  // namespace muster::cli
