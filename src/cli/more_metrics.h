// The metrics of what stands around a scheduler: its queues, its API, its audit log.
#pragma once

#include "cli/api.h"
#include "cli/audit_log.h"
#include "engine/world.h"

#include <optional>
#include <string>

namespace muster::cli {

/// In Prometheus' text format, to stand behind the figures of the scheduler. `world`: null while it
/// does not lead.
std::string more_metrics(const World* world, const Api& api, const std::optional<AuditLog>& audit);

}  // namespace muster::cli
