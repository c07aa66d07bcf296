// Who leads among several replicas, by a Lease of coordination.k8s.io as client-go's leader
// election keeps it: who holds it renews it; who does not waits until it has seen no change for as
// long as the holder asked for, by its own clock. Times in the object are for people; nothing is
// decided by them.
//
// is_leader() is true only until `renew_deadline_ms` after the last renewal was *sent*, and others
// wait for `lease_ms` after they saw it, so that two never lead at once as long as clocks run about
// equally fast. A process that was stopped finds that out at its first look.
#pragma once

#include "control/seams.h"
#include "kube/client.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace muster::kube {

struct LeaseOptions {
    std::string space = "default";
    std::string name = "muster";
    std::string identity;  // of this replica; no other one has it
    std::int64_t lease_ms = 15'000;
    std::int64_t renew_deadline_ms = 10'000;
    std::int64_t retry_ms = 2'000;
    std::function<std::int64_t()> steady_ms;  // goes on while the machine sleeps
    std::function<std::int64_t()> wall_ms;    // since the epoch
};

class LeaseElector final : public Leader {
public:
    /// The transport outlives it.
    LeaseElector(Transport& transport, LeaseOptions options);
    ~LeaseElector() override;
    LeaseElector(const LeaseElector&) = delete;
    LeaseElector& operator=(const LeaseElector&) = delete;

    /// Tries, and goes on trying or renewing. Whoever looks at the lease is told which ledger its
    /// holder writes; nothing when it is empty.
    void start(std::string ledger = {});
    bool is_leader() override;
    /// Lets go, so that another one need not wait; `done` is called when the server was told or
    /// could not be. It leads no more from now on.
    void release(std::function<void()> done);

    [[nodiscard]] const std::string& identity() const;
    /// Who led when it was last looked; empty when nobody is known to.
    [[nodiscard]] const std::string& holder() const;
    /// The ledger of another holder that was seen to renew, so that it lives; none of one that may
    /// be dead, or that tells no ledger.
    [[nodiscard]] std::optional<std::string> ledger_of_living_holder() const;
    /// What was wrong with the last try; empty when nothing was.
    [[nodiscard]] const std::string& problem() const;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// Since the machine started, also while it slept.
std::int64_t boot_ms();

}  // namespace muster::kube
