#include "engine/queue_tree.h"

#include "base/assert.h"
#include "model/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

namespace {

Result<> check_quota(const QueueSpec& spec, std::string_view what, const Quota& quota) {
    for (std::size_t i = 0; i < quota.amounts.size(); ++i) {
        const Amount& amount = quota.amounts[i];
        if (amount.count < 0) {
            return fail(Code::invalid, fmt::format("queue {}: {} of {} is {}, expected 0 or more",
                                                   spec.name, what, amount.name, amount.count));
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (quota.amounts[j].name == amount.name) {
                return fail(Code::invalid, fmt::format("queue {}: {} names {} twice", spec.name,
                                                       what, amount.name));
            }
        }
    }
    return {};
}

}  // namespace

QueueTree::QueueTree(Symbols& symbols)
    : gpu_(symbols.intern("gpu")),
      cpu_(symbols.intern("cpu")),
      memory_(symbols.intern("memory")) {
    Queue queue;
    queue.spec.name = "default";
    queue.is_present = true;
    queues_.push_back(std::move(queue));
}

Result<> QueueTree::set(const QueueSpec& spec, Symbols& symbols) {
    if (spec.name.empty() || spec.name.size() > name_bytes_max) {
        return fail(Code::invalid, fmt::format("queue name '{}': expected 1 to {} bytes", spec.name,
                                               name_bytes_max));
    }
    MUSTER_CHECK(check_quota(spec, "cap", spec.cap));
    MUSTER_CHECK(check_quota(spec, "entitlement", spec.entitlement));
    MUSTER_CHECK(check_quota(spec, "guarantee", spec.guarantee));
    if (spec.weight < 0) {
        return fail(Code::invalid, fmt::format("queue {}: weight is {}, expected 0 or more",
                                               spec.name, spec.weight));
    }
    QueueId parent;
    if (!spec.parent.empty()) {
        parent = find(spec.parent);
        if (!parent.is_valid()) {
            return fail(Code::not_found,
                        fmt::format("queue {}: parent {} is not known", spec.name, spec.parent));
        }
        if (at(parent).workloads > 0) {
            return fail(Code::conflict,
                        fmt::format("queue {}: parent {} holds workloads; only leaves may",
                                    spec.name, spec.parent));
        }
    }
    QueueId id = find(spec.name);
    std::size_t depth = 1;
    for (QueueId up = parent; up.is_valid(); up = at(up).parent) {
        if (up == id) {
            return fail(Code::invalid, fmt::format("queue {}: is its own ancestor through {}",
                                                   spec.name, spec.parent));
        }
        if (++depth > queue_depth_max) {
            return fail(Code::limit,
                        fmt::format("queue {}: deeper than {} levels", spec.name, queue_depth_max));
        }
    }
    if (id.is_valid() && at(id).parent != parent && (at(id).workloads > 0 || at(id).children > 0)) {
        return fail(
            Code::conflict,
            fmt::format("queue {}: has workloads or children; its parent can't change", spec.name));
    }
    if (!id.is_valid()) {
        const auto gone = std::find_if(queues_.begin(), queues_.end(),
                                       [](const Queue& queue) { return !queue.is_present; });
        id = QueueId(static_cast<std::size_t>(gone - queues_.begin()));
        if (gone == queues_.end()) { queues_.emplace_back(); }
        queues_[id.value] = Queue{};
    } else if (at(id).parent.is_valid()) {
        --at(at(id).parent).children;
    }
    Queue& queue = at(id);
    queue.spec = spec;
    queue.parent = parent;
    queue.is_present = true;
    queue.caps.clear();
    for (const Amount& amount : spec.cap.amounts) {
        queue.caps.push_back({symbols.intern(amount.name), amount.count});
    }
    if (parent.is_valid()) { ++at(parent).children; }
    return {};
}

Result<> QueueTree::remove(std::string_view name) {
    const QueueId id = find(name);
    if (!id.is_valid()) {
        return fail(Code::not_found, fmt::format("queue {} is not known", name));
    }
    if (name == "default") { return fail(Code::invalid, "queue default is always there"); }
    if (at(id).workloads > 0 || at(id).children > 0) {
        return fail(Code::conflict, fmt::format("queue {}: still has {} workloads and {} children",
                                                name, at(id).workloads, at(id).children));
    }
    if (at(id).parent.is_valid()) { --at(at(id).parent).children; }
    at(id) = Queue{};
    return {};
}

QueueId QueueTree::find(std::string_view name) const {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        if (queues_[i].is_present && queues_[i].spec.name == name) { return QueueId(i); }
    }
    return {};
}

std::int64_t QueueTree::amount(const Charge& charge, Symbol resource) const {
    if (resource == gpu_) { return charge.gpu_milli; }
    if (resource == cpu_) { return charge.milli_cpu; }
    if (resource == memory_) { return charge.memory; }
    if (charge.extended == nullptr) { return 0; }
    for (const auto& [name, count] : *charge.extended) {
        if (name == resource) { return count; }
    }
    return 0;
}

std::int64_t QueueTree::used(const Queue& queue, Symbol resource) const {
    if (resource == gpu_) { return queue.usage.gpu_milli; }
    if (resource == cpu_) { return queue.usage.milli_cpu; }
    if (resource == memory_) { return queue.usage.memory; }
    for (const auto& [name, count] : queue.usage.extended) {
        if (name == resource) { return count; }
    }
    return 0;
}

void QueueTree::add(QueueId leaf, const Charge& charge, std::int64_t count) {
    for (QueueId id = leaf; id.is_valid(); id = at(id).parent) {
        Usage& usage = at(id).usage;
        usage.gpu_milli += count * charge.gpu_milli;
        usage.milli_cpu += count * charge.milli_cpu;
        usage.memory += count * charge.memory;
        MUSTER_ASSERT(usage.gpu_milli >= 0);
        MUSTER_ASSERT(usage.milli_cpu >= 0);
        MUSTER_ASSERT(usage.memory >= 0);
        if (charge.extended == nullptr) { continue; }
        for (const auto& [name, many] : *charge.extended) {
            const auto found = std::find_if(usage.extended.begin(), usage.extended.end(),
                                            [&](const auto& entry) { return entry.first == name; });
            if (found == usage.extended.end()) {
                usage.extended.emplace_back(name, count * many);
            } else {
                found->second += count * many;
            }
        }
    }
}

std::optional<CapBlock> QueueTree::blocked(QueueId leaf, const Charge& charge, std::int64_t count,
                                           bool from_empty) const {
    for (QueueId id = leaf; id.is_valid(); id = at(id).parent) {
        for (const Cap& cap : at(id).caps) {
            const std::int64_t needed = amount(charge, cap.resource) * count;
            const std::int64_t headroom = cap.limit - (from_empty ? 0 : used(at(id), cap.resource));
            if (needed > 0 && needed > headroom) {
                return CapBlock{id, cap.resource, needed, headroom, cap.limit};
            }
        }
    }
    return std::nullopt;
}

QueueId QueueTree::over_cap(QueueId leaf) const {
    for (QueueId id = leaf; id.is_valid(); id = at(id).parent) {
        for (const Cap& cap : at(id).caps) {
            if (used(at(id), cap.resource) > cap.limit) { return id; }
        }
    }
    return {};
}

std::int64_t QueueTree::allowed(QueueId leaf, const Charge& charge, std::int64_t count) const {
    for (QueueId id = leaf; id.is_valid(); id = at(id).parent) {
        for (const Cap& cap : at(id).caps) {
            const std::int64_t each = amount(charge, cap.resource);
            if (each <= 0) { continue; }
            const std::int64_t headroom = cap.limit - used(at(id), cap.resource);
            count = std::min(count, headroom < each ? 0 : headroom / each);
        }
    }
    return count;
}

}  // namespace muster
