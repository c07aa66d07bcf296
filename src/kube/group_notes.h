// What a gang's group says of its state now: conditions that a scheduler keeps up while the gang
// waits for members, sits on a lost node or is taken back. For people who ask.
#pragma once

#include "kube/link.h"

#include <string>
#include <vector>

namespace muster::kube {

/// "DisruptionTarget: stops as a whole: …" of each that is true; nothing when there is no such
/// group or the server can't be asked.
std::vector<std::string> group_notes(const Link& link, const ObjectName& group);

}  // namespace muster::kube
