// A reason in full: every cause with its number of nodes, the closest domain, what would change it.
#pragma once

#include "cli/table.h"
#include "model/plan.h"

#include <string>

namespace muster::cli {

/// Indented lines; the sentence itself (Reason::text) is the caller's.
std::string reason_text(const Reason& reason, const Paint& paint);

}  // namespace muster::cli
