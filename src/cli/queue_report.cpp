#include "cli/queue_report.h"

#include "sim/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace muster::cli {

namespace {

/// A tree has no deeper branch; whatever it is, the walk ends.
constexpr std::int64_t depth_max = 64;

std::int64_t gpus_of(const Quota& quota) {
    const auto found = std::ranges::find(quota.amounts, "gpu", &Amount::name);
    return found == quota.amounts.end() ? -1 : found->count;
}

bool is_done(const Workload& workload) {
    return std::ranges::all_of(workload.tasks,
                               [](const Task& task) { return task.state == TaskState::finished; });
}

std::int64_t minimum_gpu_milli(const World& world, const Workload& workload) {
    std::int64_t sum = 0;
    for (const Group& group : workload.groups) {
        if (!group.is_leaf) { continue; }
        const std::int64_t missing = std::max(0, group.minimum - group.placed - group.finished);
        sum += missing * world.charge_of(world.shapes.at(group.shape)).gpu_milli;
    }
    return sum;
}

class Reporter {
public:
    explicit Reporter(const World& world) : world_(world), rows_(world.queues.size()) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Queue& queue = world.queues.at(QueueId(i));
            if (!queue.is_present) { continue; }
            rows_[i] = {.name = queue.spec.name,
                        .parent = queue.spec.parent,
                        .weight = queue.spec.weight,
                        .guarantee_gpu_milli = gpus_of(queue.spec.guarantee),
                        .cap_gpu_milli = gpus_of(queue.spec.cap),
                        .used_gpu_milli = queue.usage.gpu_milli};
            const std::size_t parent = queue.parent.is_valid() ? queue.parent.value : rows_.size();
            children_[parent][queue.spec.name] = i;
        }
        for (const Workload& workload : world.workloads) { count(workload); }
    }

    QueueReport report() {
        QueueReport out;
        for (const Machine& machine : world_.machines) {
            if (machine.is_present) { out.gpus += std::popcount(machine.healthy); }
        }
        add_children(rows_.size(), 0, out);
        return out;
    }

private:
    void count(const Workload& workload) {
        if (!workload.is_present || workload.is_lease || is_done(workload)) { return; }
        const std::int64_t asked = workload.is_running ? 0 : minimum_gpu_milli(world_, workload);
        std::int64_t depth = 0;
        for (QueueId id = workload.queue; id.is_valid() && depth < depth_max;
             id = world_.queues.at(id).parent, ++depth) {
            QueueRow& row = rows_[id.value];
            ++(workload.is_running ? row.running : row.waiting);
            row.waiting_gpu_milli += asked;
        }
    }

    void add_children(std::size_t parent, std::int64_t depth, QueueReport& out) {
        if (depth > depth_max) { return; }
        for (const auto& [name, at] : children_[parent]) {
            rows_[at].depth = depth;
            out.queues.push_back(rows_[at]);
            add_children(at, depth + 1, out);
        }
    }

    const World& world_;
    std::vector<QueueRow> rows_;                                          // by QueueId
    std::map<std::size_t, std::map<std::string, std::size_t>> children_;  // of rows_.size(): roots
};

void write_amount(JsonWriter& out, std::string_view key, std::int64_t milli) {
    out.key(key);
    if (milli < 0) {
        out.null();
    } else {
        out.value(milli);
    }
}

}  // namespace

QueueReport report_queues(const World& world) { return Reporter(world).report(); }

void write(JsonWriter& out, const QueueReport& report) {
    out.begin_object().member("gpus", report.gpus).key("queues").begin_list();
    for (const QueueRow& row : report.queues) {
        out.begin_object()
            .member("queue", row.name)
            .member("parent", row.parent)
            .member("weight", row.weight);
        write_amount(out, "guarantee_gpu_milli", row.guarantee_gpu_milli);
        write_amount(out, "cap_gpu_milli", row.cap_gpu_milli);
        out.member("used_gpu_milli", row.used_gpu_milli)
            .member("running", row.running)
            .member("waiting", row.waiting)
            .member("waiting_gpu_milli", row.waiting_gpu_milli)
            .end_object();
    }
    out.end_list().end_object();
}

std::string gpus_text(std::int64_t milli) { return sim::write_thousandths(milli); }

std::string share_text(std::int64_t milli, std::int64_t gpus) {
    if (gpus == 0) { return "–"; }
    const std::int64_t tenths = (milli + gpus / 2) / gpus;  // thousandths of 1
    return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

}  // namespace muster::cli
