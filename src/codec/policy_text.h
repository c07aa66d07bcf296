// A policy as the file that an operator writes: YAML or JSON, keys in docs/reference/policy.md.
#pragma once

#include "base/result.h"
#include "codec/document.h"
#include "model/policy.h"

#include <string>

namespace muster {

/// An error names file, line, field, what was found and what was expected. An empty file is the
/// default policy.
Result<Policy> read_policy(const SourceText& source);

/// YAML that reads back as the same policy.
std::string write_policy(const Policy& policy);

}  // namespace muster
