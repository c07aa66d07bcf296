// Which of the kinds that a scheduler looks at a server has, and under which version: each minor of
// Kubernetes serves the groups of pods under another one.
#pragma once

#include "base/result.h"
#include "kube/client.h"
#include "kube/cluster_kinds.h"

#include <functional>
#include <map>
#include <set>

namespace muster::kube {

using ServedKinds = std::map<ObjectKind, Resource>;

/// Asks for those that are wanted; `done` is called once, from the loop, with those that there are.
/// The transport outlives the asking.
void discover(Transport& transport, std::set<ObjectKind> wanted,
              std::function<void(Result<ServedKinds>)> done);

}  // namespace muster::kube
