// The first thing in which two records of one moment differ, in words.
#pragma once

#include "model/plan.h"
#include "model/snapshot.h"

#include <string>

namespace muster {

/// "placement 2 of 3, j17: task 4 was put on n3 gpu 0xf, and goes on n5 gpu 0xf now"
std::string difference_of(const Plan& recorded, const Plan& decided);
std::string difference_of(const Snapshot& recorded, const Snapshot& decided);

}  // namespace muster
