// Tests only: where a call of the Kubernetes API goes, for the APIs in memory that controllers are
// tested with.
#pragma once

#include "kube/client.h"
#include "lab/request_path.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace muster::lab {

/// "/apis/batch/v1/namespaces/team/jobs/a/status"
struct CallPlace {
    std::string collection;  // "/apis/batch/v1/jobs"
    kube::ObjectName name;
    std::string rest;  // "status"
};

inline CallPlace place_of(std::string_view target) {
    const auto path = parse_target(target);
    const auto at = path ? resource_path(path->parts) : std::nullopt;
    if (!at) {
        ADD_FAILURE() << "no path of a resource: " << target;
        return {};
    }
    const kube::Resource resource{at->group, at->version, at->plural};
    return {.collection = kube::path_of(resource, ""),
            .name = {at->space, at->name},
            .rest = at->subresource};
}

}  // namespace muster::lab
