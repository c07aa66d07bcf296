#include "cli/cluster.h"
#include "cli/queue_report.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"

#include <fmt/format.h>

namespace muster::cli {

Result<int> tell_queues(const World& world, Format format, Terminal& terminal) {
    const QueueReport report = report_queues(world);
    if (format == Format::json) {
        JsonWriter out;
        write(out, report);
        terminal.out << out.text() << '\n';
        return exit_good;
    }
    Table table({{"queue"},
                 {"guaranteed", Align::right},
                 {"used", Align::right},
                 {"cap", Align::right},
                 {"share", Align::right},
                 {"running", Align::right},
                 {"waiting", Align::right},
                 {"GPUs awaited", Align::right}});
    const auto or_none = [](std::int64_t milli) { return milli < 0 ? "–" : gpus_text(milli); };
    for (const QueueRow& row : report.queues) {
        table.add({std::string(static_cast<std::size_t>(2 * row.depth), ' ') + row.name,
                   or_none(row.guarantee_gpu_milli), gpus_text(row.used_gpu_milli),
                   or_none(row.cap_gpu_milli), share_text(row.used_gpu_milli, report.gpus),
                   with_commas(row.running), with_commas(row.waiting),
                   gpus_text(row.waiting_gpu_milli)});
    }
    terminal.out << table.text(Paint(terminal.has_colour))
                 << fmt::format("\nshare: of {}\n", plural(report.gpus, "healthy GPU"));
    return exit_good;
}

Result<int> run_verb(const QueueOptions& options, Terminal& terminal) {
    if (asks_remote(options.cluster)) {
        return tell_remote(options.cluster, {.path = "queues"}, options.format, terminal);
    }
    MUSTER_TRY(cluster, load_cluster(options.cluster));
    return tell_queues(cluster.engine.world(), options.format, terminal);
}

}  // namespace muster::cli
