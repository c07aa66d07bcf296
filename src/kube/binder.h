// Carries orders out on a Kubernetes cluster: binds and evicts pods, many at a time. An order is
// for the pod, by its uid, and the node that the last observation spoke of. What fails is counted,
// and the loop gives the order again.
#pragma once

#include "control/seams.h"
#include "kube/client.h"
#include "kube/cluster_source.h"

#include <cstdint>
#include <memory>

namespace muster::kube {

class Binder final : public Actuator {
public:
    struct Counts {
        std::uint64_t bound = 0;
        std::uint64_t evicted = 0;
        std::uint64_t failed = 0;
    };

    /// Both outlive it.
    Binder(ClusterSource& source, Transport& transport);
    ~Binder() override;

    Result<> carry_out(std::span<const TaskOrder> orders) override;

    [[nodiscard]] const Counts& counts() const;

private:
    class Calls;

    ClusterSource& source_;
    std::shared_ptr<Calls> calls_;
};

}  // namespace muster::kube
