// What the API says when it has no answer: an object like the Status of Kubernetes.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace muster::cli {

inline constexpr std::string_view api_kind = "MusterApi";      // details.kind: it was said here
inline constexpr std::string_view api_stands_by = "StandBy";   // another replica leads
inline constexpr std::string_view api_not_ready = "NotReady";  // nobody is followed yet

int status_of(Code code);
/// `reason`: empty for the one that goes with the status.
std::string status_json(int status, std::string_view message, std::string_view reason = "");

}  // namespace muster::cli
