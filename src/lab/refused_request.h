// What the lab answers to bytes that are no request, or more of one than it takes: a Status, as to
// any other error of a client.
#pragma once

#include "net/http.h"

#include <cstddef>

namespace muster::lab {

/// `body_bytes_max` is what the server takes.
net::HttpResponse refused_request(int status, std::size_t body_bytes_max);

}  // namespace muster::lab
