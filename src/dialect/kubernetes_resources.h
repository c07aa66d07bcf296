// Resource lists, and what a pod needs of a node in all: containers, init containers, sidecars,
// overhead, limits that stand for requests.
#pragma once

#include "dialect/kubernetes_scope.h"

#include <string_view>
#include <vector>

namespace muster::dialect {

/// One amount in the unit that Muster keeps of that resource.
std::int64_t read_amount(std::string_view name, const Field& field);
/// In the unit that Muster keeps: "cpu" in milli, "memory" in bytes, ephemeral storage and huge
/// pages in MiB, all others whole. Sorted by name.
std::vector<Amount> read_amounts(const Field& list);

std::int64_t amount_of(const std::vector<Amount>& amounts, std::string_view name);
/// Takes it out; 0 when it is not there.
std::int64_t take_amount(std::vector<Amount>& amounts, std::string_view name);
void add_amount(std::vector<Amount>& amounts, std::string_view name, std::int64_t count);

/// cpu, memory and the rest as the model has them; sums over a bound are refused at `field`.
Resources to_resources(std::vector<Amount> amounts, const Field& field);

struct PodRequest {
    std::vector<Amount> amounts;
    bool is_cpu_exclusive = false;  // guaranteed, and every container has whole CPUs
};
PodRequest read_pod_request(const Field& spec);

}  // namespace muster::dialect
