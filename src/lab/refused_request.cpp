#include "lab/refused_request.h"

#include "lab/api_ask.h"
#include "net/http_text.h"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace muster::lab {

net::HttpResponse refused_request(int status, std::size_t body_bytes_max) {
    ApiError error{.code = status, .reason = "BadRequest", .message = ""};
    if (status == 413) {
        error.reason = "RequestEntityTooLarge";
        error.message = fmt::format("Request entity too large: limit is {}", body_bytes_max);
    } else if (status == 408) {
        error.reason = "Timeout";
        error.message = "the request did not come to its end in time";
    } else if (status == 431) {
        error.message = "the header of the request is too long";
    } else if (status == 400) {
        error.message = "the request is no HTTP/1.1";
    } else {
        // Kubernetes has no reason of its own for what a server cannot do.
        if (status >= 500) { error.reason.clear(); }
        error.message = net::reason_of(status);
    }
    return answer_error(error);
}

}  // namespace muster::lab
