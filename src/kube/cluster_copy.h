// All that a scheduler looks at in a cluster, read once: for people who ask, not for one who
// follows.
#pragma once

#include "base/result.h"
#include "kube/cluster_objects.h"
#include "kube/link.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace muster::kube {

struct ClusterCopy {
    std::map<ObjectKey, std::string> texts;
    std::string version;           // the server's, of all of it
    bool is_of_one_moment = true;  // false: it changed while it was read
};

struct CopyLimits {
    std::int64_t timeout_ms = 60'000;
    std::size_t bytes_max = std::size_t{2} << 30;
    int attempts_max = 20;  // to read all as of one moment
};

/// All kinds as of the moment of the first answer. When the server keeps none of its past for long
/// enough, each kind as it is.
Result<ClusterCopy> copy_cluster(const Link& link, CopyLimits limits = {});

}  // namespace muster::kube
