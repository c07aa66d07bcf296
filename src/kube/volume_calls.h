// What is written of storage before a pod is bound: a claim is told the node for which its volume
// is to be made, or a volume is kept for it.
#pragma once

#include "dialect/kubernetes_volume.h"
#include "kube/order_calls.h"

#include <memory>
#include <string>

namespace muster::kube {

/// Of one claim one call at a time.
void prepare_volume(const std::shared_ptr<OrderCalls>& calls, const dialect::VolumeStep& step,
                    const std::string& node);

}  // namespace muster::kube
