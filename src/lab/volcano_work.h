// What the controller of Volcano Jobs remembers of a job between two passes. Losing it costs calls
// that answer "exists" or "not found", nothing else.
#pragma once

#include "lab/volcano_pass.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::lab::volcano {

struct Work {
    std::set<kube::ObjectName> pods;               // owned by a job of this name
    std::set<kube::ObjectName> groups;             // the same
    std::set<std::string> doomed;                  // uids of pods whose deletion was asked for
    std::map<std::string, std::int64_t> expected;  // made and not yet seen → until when to wait
    std::vector<std::pair<std::string, Trigger>> evicted;  // of the job with this uid
    Action command = Action::sync;
    std::string awaited;  // resourceVersion of the job as we wrote it
    std::int64_t awaited_until = 0;
    std::string told;     // what the last PodGroupPending event said
    std::string plugins;  // uid and hosts as they were written
    std::int64_t wake_ms = 0;
    int calls = 0;  // under way
    bool is_queued = false;
    bool is_again = false;  // something changed during the pass
    bool has_failed = false;

    [[nodiscard]] bool is_empty() const { return pods.empty() && groups.empty() && calls == 0; }
};

/// Resource versions grow; what is no number is compared for equality.
bool is_version_reached(std::string_view seen, std::string_view awaited);

}  // namespace muster::lab::volcano
