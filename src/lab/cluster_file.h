// A cluster out of files, to be made in a lab: objects as `kubectl get -o yaml` gives them, in as
// many documents and lists as there are, and the nodes of a scenario (.muster).
#pragma once

#include "base/result.h"
#include "codec/document.h"
#include "kube/client.h"
#include "lab/registry.h"

#include <boost/json/fwd.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace muster::lab {

/// Where it stood ("nodes.yaml:12"), and what.
using FileObject = std::pair<std::string, boost::json::object>;

/// In an order in which they can be created, nodes as fake ones, without what the other cluster
/// said of them; `left_out` gets a sentence for what is none. An error when there is something that
/// the scheduler could not read, or no node.
Result<std::vector<FileObject>> read_cluster_files(std::span<const SourceText> sources,
                                                   std::vector<std::string>& left_out);

/// Null when the lab does not serve its kind.
const ResourceType* find_type(const boost::json::object& object, const Registry& registry);

}  // namespace muster::lab
