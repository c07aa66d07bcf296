// The schemas of Kubernetes' own types, which the program carries: src/lab/schemas/NOTICE.md.
#pragma once

#include "lab/schema.h"

namespace muster::lab {

/// Unpacked at the first call, from any thread, and the same ever after.
const Schemas& built_in_schemas();

}  // namespace muster::lab
