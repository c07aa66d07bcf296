// The laws of design §5 as checks that share nothing with the engine's running sums: every number
// is computed again from the specifications and from what each task holds. Each broken law is one
// sentence with its number, the thing, and the amounts. Used by `muster sim random` after every
// step, and by tests.
#pragma once

#include "engine/world.h"
#include "model/plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace muster {

/// Laws 1 and 3 at any moment: one owner per device and slice, nothing over its capacity, and
/// every running sum is the sum of what the tasks hold.
std::vector<std::string> broken_books(const World& world);

/// Laws 2 and 7 after a cycle: gangs whole or nothing, a reason and a wake for all who wait, and
/// queues as their names say. Includes broken_books.
std::vector<std::string> broken_laws(const World& world);

/// Law 7, by trying: nobody who would start now was left waiting, no elastic rest that would fit,
/// and every room equals one built from nothing. Leaves the World as it was.
std::vector<std::string> missed_wakes(World& world);

/// What one cycle may do, given what was there before it: the plan names what was done, placements
/// keep to nodes, levels, caps and pod terms, and no fact's overdraft grows.
class CycleWatch {
public:
    explicit CycleWatch(const World& before);
    [[nodiscard]] std::vector<std::string> broken_laws(const World& after, const Plan& plan) const;

private:
    using TaskName = std::pair<std::string, std::uint32_t>;
    struct Held {
        std::string node;
        Devices devices;
    };
    class Check;

    std::map<TaskName, Held> held_;
    std::map<std::string, bool> running_;             // every workload that was there
    std::map<std::string, std::int64_t> overdrafts_;  // amounts below zero, by their name
    std::map<std::string, std::int64_t> over_caps_;   // usage where it is over a cap
};

/// One task as the checks see it.
struct Holding {
    const Workload* workload = nullptr;
    const Group* group = nullptr;
    const Task* task = nullptr;
    std::uint32_t index = 0;
    const Shape* shape = nullptr;
    const Machine* machine = nullptr;

    [[nodiscard]] std::string name() const;  // "w3/1 on node n2"
};
std::vector<Holding> all_holdings(const World& world);
/// Amounts below zero and usage over caps, by name; computed from the tasks.
std::map<std::string, std::int64_t> overdrafts(const World& world);
std::map<std::string, std::int64_t> over_caps(const World& world);

/// The label rules of Kubernetes over plain text.
bool label_holds(const LabelMatch& match, const std::vector<Label>& labels);
bool tolerates_all(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations);
const std::string* label_of(const std::vector<Label>& labels, std::string_view key);

}  // namespace muster
