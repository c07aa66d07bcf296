// The small files that a client's configuration names.
#pragma once

#include "base/result.h"
#include "kube/kubeconfig.h"

#include <string>

namespace muster::kube {

/// `not_found` when it is not there; bounded.
Result<std::string> read_text_file(const std::string& path);
/// Empty when none is given.
Result<std::string> read_pem(const PemSource& source);

}  // namespace muster::kube
