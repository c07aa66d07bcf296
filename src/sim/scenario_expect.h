// One expectation of a scenario against the World: what differs, in words, or nothing.
#pragma once

#include "codec/scenario.h"
#include "engine/world.h"
#include "model/plan.h"

#include <map>
#include <string>
#include <vector>

namespace muster::sim {

struct Seen {
    const World& world;
    const std::map<std::string, Placement>& last;  // the last placement of each workload
};

std::vector<std::string> check(const ExpectRuns& expected, const Seen& seen);
std::vector<std::string> check(const ExpectTask& expected, const Seen& seen);
std::vector<std::string> check(const ExpectWaits& expected, const Seen& seen);
std::vector<std::string> check(const ExpectCount& expected, const Seen& seen);

}  // namespace muster::sim
