#include "control/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace muster {

namespace {

std::string_view name_of(const Placement& one) { return one.workload; }
std::string_view name_of(const Release& one) { return one.workload; }
std::string_view name_of(const Refusal& one) { return one.workload; }
std::string_view name_of(const NodeSpec& one) { return one.name; }
std::string_view name_of(const QueueSpec& one) { return one.name; }
std::string_view name_of(const LeaseSpec& one) { return one.name; }
std::string_view name_of(const WorkloadStatus& one) { return one.spec.name; }

std::string place_in_words(const TaskPlace& place) {
    std::string out = fmt::format("task {} on {}", place.task, place.node);
    if (place.devices.gpus != 0) { out += fmt::format(" gpus {:#x}", place.devices.gpus); }
    for (const MigSlot& slot : place.devices.mig) {
        out += fmt::format(" mig {}:{}", slot.gpu, slot.start);
    }
    if (place.devices.numa >= 0) { out += fmt::format(" numa {}", place.devices.numa); }
    return out + (place.is_counted ? " (counted)" : "");
}

/// "recorded …, decided …" of two lists; empty when they are the same.
std::string tasks_in_words(const std::vector<TaskPlace>& recorded,
                           const std::vector<TaskPlace>& decided) {
    for (std::size_t i = 0; i < std::min(recorded.size(), decided.size()); ++i) {
        if (recorded[i] == decided[i]) { continue; }
        return fmt::format("recorded {}, decided {}", place_in_words(recorded[i]),
                           place_in_words(decided[i]));
    }
    if (recorded.size() == decided.size()) { return {}; }
    return fmt::format("recorded {} tasks, decided {}", recorded.size(), decided.size());
}

std::string inside(const Placement& recorded, const Placement& decided) {
    std::string tasks = tasks_in_words(recorded.tasks, decided.tasks);
    if (!tasks.empty()) { return tasks; }
    return fmt::format("recorded domain '{}' level '{}' crossings {}, decided '{}' '{}' {}",
                       recorded.domain, recorded.level, recorded.crossings, decided.domain,
                       decided.level, decided.crossings);
}
std::string inside(const Release& recorded, const Release& decided) {
    return tasks_in_words(recorded.tasks, decided.tasks);
}
std::string inside(const Refusal& recorded, const Refusal& decided) {
    const Reason& a = recorded.reason;
    const Reason& b = decided.reason;
    if (a.text != b.text) { return fmt::format("recorded '{}', decided '{}'", a.text, b.text); }
    return fmt::format("the same sentence '{}' with other numbers or wakes", a.text);
}
std::string status_in_words(const TaskStatus& task) {
    constexpr std::array states = {"waiting", "placed", "leaving", "finished"};
    std::string out = states[static_cast<std::size_t>(task.state)];
    if (!task.node.empty()) { out += fmt::format(" on {}", task.node); }
    if (task.devices.gpus != 0) { out += fmt::format(" gpus {:#x}", task.devices.gpus); }
    if (task.claim.gpus != 0) { out += fmt::format(" of {:#x}", task.claim.gpus); }
    if (task.is_confirmed) { out += " confirmed"; }
    return task.is_conflict ? out + " conflict" : out;
}

std::string inside(const WorkloadStatus& recorded, const WorkloadStatus& decided) {
    const auto both = std::min(recorded.tasks.size(), decided.tasks.size());
    for (std::size_t i = 0; i < both; ++i) {
        if (recorded.tasks[i] == decided.tasks[i]) { continue; }
        return fmt::format("recorded task {} {}, decided {}", i, status_in_words(recorded.tasks[i]),
                           status_in_words(decided.tasks[i]));
    }
    if (recorded.is_running != decided.is_running) {
        return fmt::format("recorded running {}, decided {}", recorded.is_running,
                           decided.is_running);
    }
    if (recorded.has_reason != decided.has_reason || !(recorded.reason == decided.reason)) {
        return fmt::format("recorded '{}', decided '{}'", recorded.reason.text,
                           decided.reason.text);
    }
    return fmt::format("recorded and decided have other {}",
                       recorded.spec == decided.spec ? "minimums" : "specifications");
}
template <class T>
std::string inside(const T& /*recorded*/, const T& /*decided*/) {
    return "recorded and decided differ";
}

/// The first difference of two lists; empty when they are the same.
template <class T>
std::string first_in(std::string_view noun, const std::vector<T>& recorded,
                     const std::vector<T>& decided) {
    for (std::size_t i = 0; i < std::max(recorded.size(), decided.size()); ++i) {
        const std::string where =
            fmt::format("{} {} of {}", noun, i + 1, std::max(recorded.size(), decided.size()));
        if (i >= recorded.size()) {
            return fmt::format("{}: recorded none, decided {}", where, name_of(decided[i]));
        }
        if (i >= decided.size()) {
            return fmt::format("{}: recorded {}, decided none", where, name_of(recorded[i]));
        }
        if (recorded[i] == decided[i]) { continue; }
        if (name_of(recorded[i]) != name_of(decided[i])) {
            return fmt::format("{}: recorded {}, decided {}", where, name_of(recorded[i]),
                               name_of(decided[i]));
        }
        return fmt::format("{}, {}: {}", where, name_of(recorded[i]),
                           inside(recorded[i], decided[i]));
    }
    return {};
}

std::string first_of(std::initializer_list<std::string> texts, std::string_view otherwise) {
    const auto* const found =
        std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
    return found == texts.end() ? std::string(otherwise) : *found;
}

}  // namespace

std::string difference_of(const Plan& recorded, const Plan& decided) {
    if (recorded.cycle != decided.cycle) {
        return fmt::format("recorded cycle {}, decided cycle {}", recorded.cycle, decided.cycle);
    }
    return first_of({first_in("release", recorded.releases, decided.releases),
                     first_in("placement", recorded.placements, decided.placements),
                     first_in("refusal", recorded.refusals, decided.refusals)},
                    "the plans differ");
}

std::string difference_of(const Snapshot& recorded, const Snapshot& decided) {
    if (recorded.now != decided.now || recorded.cycle != decided.cycle) {
        return fmt::format("snapshot: recorded cycle {} at {} ms, decided cycle {} at {} ms",
                           recorded.cycle, recorded.now, decided.cycle, decided.now);
    }
    return "snapshot: " +
           first_of({first_in("node", recorded.nodes, decided.nodes),
                     first_in("queue", recorded.queues, decided.queues),
                     first_in("lease", recorded.leases, decided.leases),
                     first_in("workload", recorded.workloads, decided.workloads),
                     recorded.mix == decided.mix ? "" : "another job mix was learned",
                     recorded.policy == decided.policy ? "" : "another policy"},
                    "the topology or the GPU models differ");
}

}  // namespace muster
