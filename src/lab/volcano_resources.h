// What a PodGroup's minResources holds: the requests of so many pods as must run, counted as
// Kubernetes counts quotas ("pods", "count/pods", "cpu", "requests.cpu", "limits.cpu", …).
// Limits do not stand for requests here: that is so in Volcano, whose users know it.
#pragma once

#include "lab/volcano_spec.h"

#include <boost/json/fwd.hpp>

namespace muster::lab::volcano {

/// Tasks by their own minima when these make up the job's; else in order until it is reached.
boost::json::object min_resources(const JobSpec& spec);

}  // namespace muster::lab::volcano
