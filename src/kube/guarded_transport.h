// A Transport that lets writes through only while the process leads, looked at when each is sent,
// and counts what comes back. Reads go always.
#pragma once

#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace muster::kube {

/// By status; 0 of those that got no answer.
using AnswerCounts = std::map<int, std::uint64_t>;

/// `inner` and `counts` outlive it.
std::unique_ptr<Transport> guard(Transport& inner, std::function<bool()> may_write,
                                 AnswerCounts& counts);

}  // namespace muster::kube
