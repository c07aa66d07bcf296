// The queue tree and what each queue holds, summed up the tree. Usage is charged by placements
// only: a promise charges nothing.
#pragma once

#include "base/result.h"
#include "engine/symbols.h"
#include "model/queue.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

using QueueId = Id<struct QueueTag>;

/// What one task costs its queue.
struct Charge {
    std::int64_t gpu_milli = 0;
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;
    const std::vector<std::pair<Symbol, std::int64_t>>* extended = nullptr;  // of the task's shape
};

/// One capped resource of a queue.
struct Cap {
    Symbol resource;  // "gpu", "cpu", "memory", or a named resource
    std::int64_t limit = 0;
};

struct Usage {
    std::int64_t gpu_milli = 0;
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;
    std::vector<std::pair<Symbol, std::int64_t>> extended;  // in the order first used

    bool operator==(const Usage&) const = default;
};

struct Queue {
    QueueSpec spec;
    QueueId parent;
    std::uint32_t children = 0;
    std::uint32_t workloads = 0;
    bool is_present = false;
    std::vector<Cap> caps;
    Usage usage;
};

/// The first cap up the tree that stands in the way.
struct CapBlock {
    QueueId queue;
    Symbol resource;
    std::int64_t needed = 0;
    std::int64_t headroom = 0;  // may be negative: a cap lowered below the usage
    std::int64_t limit = 0;
};

class QueueTree {
public:
    explicit QueueTree(Symbols& symbols);

    /// Refuses cycles, unknown parents, trees that are too deep, and negative limits.
    Result<> set(const QueueSpec& spec, Symbols& symbols);
    /// Refuses while workloads or children are there. "default" stays.
    Result<> remove(std::string_view name);

    [[nodiscard]] QueueId find(std::string_view name) const;  // invalid when unknown
    [[nodiscard]] const Queue& at(QueueId id) const { return queues_[id.value]; }
    Queue& at(QueueId id) { return queues_[id.value]; }
    [[nodiscard]] std::size_t size() const { return queues_.size(); }

    void add(QueueId leaf, const Charge& charge, std::int64_t count);
    /// Of `count` tasks more. `from_empty` asks about the caps alone.
    [[nodiscard]] std::optional<CapBlock> blocked(QueueId leaf, const Charge& charge,
                                                  std::int64_t count,
                                                  bool from_empty = false) const;
    /// The first from the leaf up whose usage is over its cap, as facts may bring about; else
    /// invalid.
    [[nodiscard]] QueueId over_cap(QueueId leaf) const;
    /// Tasks more that the caps allow, at the most `count`.
    [[nodiscard]] std::int64_t allowed(QueueId leaf, const Charge& charge,
                                       std::int64_t count) const;

private:
    [[nodiscard]] std::int64_t amount(const Charge& charge, Symbol resource) const;
    [[nodiscard]] std::int64_t used(const Queue& queue, Symbol resource) const;

    std::vector<Queue> queues_;
    Symbol gpu_;
    Symbol cpu_;
    Symbol memory_;
};

}  // namespace muster
