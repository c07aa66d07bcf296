// What the API answers when it does not do as it was asked: Kubernetes' Status, with its reasons,
// codes and sentences, so that clients react as they would to a real server.
#pragma once

#include "lab/resources.h"

#include <boost/json/fwd.hpp>
#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct ApiCause {
    std::string reason;  // "FieldValueInvalid"
    std::string message;
    std::string field;
};

struct ApiError {
    int code = 500;
    std::string reason;
    std::string message;
    // What it is about; may be empty.
    std::string name;
    std::string group;
    std::string kind;  // the plural where the object is named, as Kubernetes does
    std::vector<ApiCause> causes;
    std::int64_t retry_after_s = 0;
    bool has_details = false;  // they are told also when there is nothing in them
};

template <class T = void>
using Outcome = tl::expected<T, ApiError>;

boost::json::object status_of(const ApiError& error);

tl::unexpected<ApiError> bad_request(std::string message);
tl::unexpected<ApiError> not_found(const ResourceType& type, std::string_view name);
tl::unexpected<ApiError> no_such_path();
tl::unexpected<ApiError> already_exists(const ResourceType& type, std::string_view name);
tl::unexpected<ApiError> conflict(const ResourceType& type, std::string_view name,
                                  std::string_view why);
tl::unexpected<ApiError> forbidden(const ResourceType& type, std::string_view name,
                                   std::string_view why);
/// 422, with a sentence made of the causes.
tl::unexpected<ApiError> invalid(const ResourceType& type, std::string_view name,
                                 std::vector<ApiCause> causes);
/// The same of the options of a request: "CreateOptions".
tl::unexpected<ApiError> invalid_options(std::string_view kind, std::vector<ApiCause> causes);
/// 422 of a patch that leaves no object of the kind: `what` is what it came to.
tl::unexpected<ApiError> invalid_patch(std::string_view what, std::string_view why);
tl::unexpected<ApiError> internal_error(std::string message);
tl::unexpected<ApiError> not_allowed(std::string_view what);
tl::unexpected<ApiError> unsupported_media(std::string_view what);
tl::unexpected<ApiError> gone(std::string message);  // 410: the version is too old

}  // namespace muster::lab
