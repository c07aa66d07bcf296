// Reads the ledger along, as a new leader would: folds each record when it is written. What it
// knows is what the live engine must know, and its plans are checked against the laws. Remembers
// what was ever ordered on record.
#pragma once

#include "engine/engine.h"
#include "ledger/record.h"
#include "sim/loop_cluster.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::sim {

class LoopReader {
public:
    explicit LoopReader(bool checks_plans) : checks_plans_(checks_plans) {}

    void read(const Record& record);
    /// Nothing is ordered that is not on record.
    void check_order(const TaskOrder& order);
    /// The live engine right behind the last record.
    void compare(const Engine& live, std::string_view when);

    [[nodiscard]] const std::vector<std::string>& broken() const { return broken_; }
    [[nodiscard]] std::int64_t cycles() const { return cycles_; }

private:
    void read(const Cycle& cycle);
    void restore(const Policy& policy);
    void renumber(const std::string& name);
    void say(std::string text) { broken_.push_back(std::move(text)); }

    Engine engine_;
    bool checks_plans_;
    std::set<std::pair<PodName, std::string>> placed_;  // on which node
    std::set<PodName> released_;
    std::vector<std::string> broken_;
    std::int64_t cycles_ = 0;
};

}  // namespace muster::sim
