// The schemas of Kubernetes' own types and their form in protobuf, which the program carries:
// src/lab/schemas/NOTICE.md.
#pragma once

#include "lab/protobuf.h"
#include "lab/schema.h"

namespace muster::lab {

/// Both are unpacked at the first call, from any thread, and the same ever after.
const Schemas& built_in_schemas();
const WireTable& built_in_wire_table();

}  // namespace muster::lab
