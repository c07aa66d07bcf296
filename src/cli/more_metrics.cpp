#include "cli/more_metrics.h"

#include "base/metrics_text.h"
#include "cli/queue_report.h"

#include <fmt/format.h>

namespace muster::cli {

namespace {

double gpus_of(std::int64_t milli) { return static_cast<double>(milli) / 1'000; }
double number(auto count) { return static_cast<double>(count); }

/// Families of queues have their samples also when there is no queue to speak of.
void write_queues(const QueueReport& report, MetricsText& out) {
    const auto each = [&](std::string_view name, std::string_view help, const auto& write) {
        out.family(name, MetricType::gauge, help);
        for (const QueueRow& row : report.queues) { write(row); }
    };
    each("muster_queue_used_gpus", "GPUs that tasks of the queue, and of those below it, hold",
         [&](const QueueRow& row) {
             out.sample(gpus_of(row.used_gpu_milli), {{"queue", row.name}});
         });
    each("muster_queue_guaranteed_gpus", "GPUs that it is guaranteed, where that is declared",
         [&](const QueueRow& row) {
             if (row.guarantee_gpu_milli < 0) { return; }
             out.sample(gpus_of(row.guarantee_gpu_milli), {{"queue", row.name}});
         });
    each("muster_queue_cap_gpus", "GPUs that it may hold at the most, where that is declared",
         [&](const QueueRow& row) {
             if (row.cap_gpu_milli < 0) { return; }
             out.sample(gpus_of(row.cap_gpu_milli), {{"queue", row.name}});
         });
    each("muster_queue_waiting_gpus", "GPUs that the minimums of its waiting workloads lack",
         [&](const QueueRow& row) {
             out.sample(gpus_of(row.waiting_gpu_milli), {{"queue", row.name}});
         });
    each("muster_queue_workloads", "Its workloads that are not finished, with those below it",
         [&](const QueueRow& row) {
             out.sample(number(row.waiting), {{"queue", row.name}, {"state", "waiting"}});
             out.sample(number(row.running), {{"queue", row.name}, {"state", "running"}});
         });
}

}  // namespace

std::string more_metrics(const World* world, const Api& api, const std::optional<AuditLog>& audit) {
    MetricsText out;
    write_queues(world == nullptr ? QueueReport{} : report_queues(*world), out);
    out.family("muster_api_answers_total", MetricType::counter,
               "Of /api/v1 by status; 202: worked out in a process of its own");
    for (const auto& [status, count] : api.answers()) {
        out.sample(number(count), {{"code", fmt::format("{}", status)}});
    }
    const AuditLog::Counts lines = audit ? audit->counts() : AuditLog::Counts{};
    out.family("muster_audit_lines_total", MetricType::counter,
               "Lines of the audit log, by whether the disk took them");
    out.sample(number(lines.written), {{"result", "written"}});
    out.sample(number(lines.lost), {{"result", "lost"}});
    return out.text();
}

}  // namespace muster::cli
