// What the readers of Kubernetes objects share: warnings, constraints that can't be kept, and
// names.
#pragma once

#include "codec/field.h"
#include "dialect/kubernetes.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace muster::dialect {

/// Warnings, merged by their text: a cluster of 100,000 pods says each thing once.
class Notes {
public:
    void add(const Field& field, std::string text);
    void add(Place place, std::string text);
    /// A part that can't be read, of an object that is taken without it.
    void add_fault(const Field& field, std::string text);
    [[nodiscard]] std::vector<Warning> take() { return std::move(all_); }
    [[nodiscard]] bool has(const std::string& text) const { return index_.contains(text); }

private:
    std::vector<Warning> all_;
    std::unordered_map<std::string, std::size_t> index_;
};

/// What the objects that are read look at around them.
struct Looks {
    std::vector<std::string> claims;  // "namespace/name"
    bool namespaces = false;          // their labels
};

/// Passed down by reference; lives as long as one reading.
struct Scope {
    const KubernetesContext& context;
    Notes& notes;
    /// Constraints that are understood but can't be kept, of the object that is being read.
    std::vector<Fault>& unsupported;
    Looks& looks;
    bool is_plan = false;  // what is read is about to be submitted
    /// Whose waiting pods are ours; null: everybody's.
    const std::vector<std::string>* schedulers = nullptr;

    /// Of a template; a server fills in the name that is not said.
    [[nodiscard]] bool is_ours(std::string_view scheduler) const;
    void refuse(const Field& field, std::string text) const {
        unsupported.push_back({field.place(), std::move(text)});
    }
};

/// metadata.namespace; when absent that of the document, as a rule "default".
std::string namespace_of(const Field& metadata);
/// "namespace/name"
std::string full_name(const Field& metadata);
/// RFC 3339 in ms since the epoch; 0 when absent.
std::int64_t read_time(const Field& field);
/// "1h30m", "90s", or a number of seconds; 0 when absent.
std::int64_t read_duration_s(const Field& field);
std::vector<Label> read_labels(const Field& labels);

/// Of a pod, job or group: priority by class name, else by number.
std::int64_t read_priority(const Field& class_name, const Field& number, const Scope& scope);

/// Queue named by the labels and annotations of any dialect, else `otherwise`.
std::string read_queue(const Field& metadata, std::string_view otherwise);

/// Required and preferred levels asked for by annotations (Muster's, Kueue's, KAI's).
TopologyWish read_wish(const Field& metadata, const Scope& scope);

/// Volcano's networkTopology.
TopologyWish read_network_topology(const Field& field, const Scope& scope);

/// Everything that a workload has from its object's metadata: estimate, links, user, queue, time.
void read_workload_metadata(const Field& metadata, WorkloadSpec& workload);

}  // namespace muster::dialect
