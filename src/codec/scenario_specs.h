// What stands behind `node`, `queue`, `gang` and `mix`: attributes to specs and back.
#pragma once

#include "base/result.h"
#include "codec/scenario_values.h"
#include "model/lease.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/queue.h"
#include "model/workload.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::scenario {

/// Changes `node` by the attributes; what they do not name stays.
Result<> change_node(NodeSpec& node, std::span<const Attribute> attributes,
                     std::span<const Level> levels);
/// The attributes of a node line, each with a blank before it.
std::string write_node(const NodeSpec& node, std::span<const Level> levels);

/// `X,NV18,SYS/NV18,X,SYS/…`: rows as `nvidia-smi topo -m` prints them.
Result<LinkMatrix> read_links(const Word& word, std::size_t device_count);
std::string write_links(const LinkMatrix& links, std::size_t device_count);
/// `all` or cliques `0-3,4-7`: NVLink inside a clique, PCIe or the socket link between them.
Result<LinkMatrix> read_nvlink(const Word& word, const NodeSpec& node);

Result<> change_queue(QueueSpec& queue, std::span<const Attribute> attributes);
std::string write_queue(const QueueSpec& queue);

Result<> change_lease(LeaseSpec& lease, std::span<const Attribute> attributes);
std::string write_lease(const LeaseSpec& lease);

/// Attributes of the workload as a whole (queue=, priority=, linked= …); true when it was one.
Result<bool> change_workload(WorkloadSpec& workload, const Attribute& attribute);
std::string write_workload(const WorkloadSpec& workload, std::int64_t now);

/// Attributes of a group: min=, require=, prefer=; for a leaf tasks= and all that a task needs.
Result<> change_group(GroupSpec& group, bool is_leaf, std::span<const Attribute> attributes);
std::string write_group(const GroupSpec& group, bool is_leaf, std::int32_t child_count);

/// One attribute of a task; true when it was one.
Result<bool> change_task(TaskSpec& task, const Attribute& attribute);
std::string write_task(const TaskSpec& task);
std::string_view task_keys();

Result<MixEntry> read_mix(std::span<const Attribute> attributes);
std::string write_mix(const MixEntry& entry);

}  // namespace muster::scenario
