// What PodDisruptionBudgets leave of a gang that is to be evicted: all of its pods may go, or a
// budget says why not. As the eviction API itself reckons, only for all pods together. Pure.
#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

/// A LabelSelector as policy/v1 has it: an empty one selects all pods, one that is not there none.
bool selects(const boost::json::value* selector, const boost::json::object& labels);

/// `budgets` is the answer to a list of one namespace, `pods` are those to be evicted, with
/// labels, phase and what is not ready. Empty when all may go, else why not.
std::string forbidding_budget(std::string_view budgets,
                              const std::vector<boost::json::object>& pods);

}  // namespace muster::kube
