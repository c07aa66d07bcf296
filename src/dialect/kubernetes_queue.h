// Queues of other schedulers as Muster's: Kueue's ClusterQueue with its cohort, and KAI's Queue.
// What they have and Muster does not is told by a warning.
#pragma once

#include "dialect/kubernetes_scope.h"
#include "model/queue.h"

#include <string>
#include <vector>

namespace muster::dialect {

/// `cohort` is set to the one that it lends to and borrows from. Without one it has its nominal
/// quota and no more.
QueueSpec read_kueue_queue(const Field& queue, const Scope& scope, std::string& cohort);
/// The parent of those queues: what all of them have together.
QueueSpec cohort_of(const std::string& name, const std::vector<std::string>& members,
                    const std::vector<QueueSpec>& queues);

QueueSpec read_kai_queue(const Field& queue, const Scope& scope);

}  // namespace muster::dialect
