// Who used how much and waited how long.
#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace muster::sim {

namespace {

constexpr std::size_t rows_max = 20;
constexpr std::size_t name_bytes_max = 60;

struct Use {
    std::string name;
    double unit_seconds = 0;
    double slowdown = 0;
    std::vector<std::int64_t> waits;
};

std::vector<Use> uses_of(const JobTrace& trace, const JobRun& run, std::string Job::* name) {
    std::map<std::string, Use> by_name;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const JobOutcome& outcome = run.outcomes[i];
        if (!outcome.has_run()) { continue; }
        const Job& job = trace.jobs[i];
        const std::int64_t wait = outcome.start_s - job.submit_s;
        const std::int64_t run_s = outcome.end_s - outcome.start_s;
        Use& use = by_name[job.*name];
        use.unit_seconds += static_cast<double>(run_s) * static_cast<double>(job.size);
        use.slowdown += bounded_slowdown(wait, run_s);
        use.waits.push_back(wait);
    }
    std::vector<Use> out;
    for (auto& [key, use] : by_name) {
        use.name = key;
        out.push_back(std::move(use));
    }
    std::ranges::sort(out, [](const Use& a, const Use& b) {
        return a.unit_seconds != b.unit_seconds ? a.unit_seconds > b.unit_seconds : a.name < b.name;
    });
    return out;
}

}  // namespace

std::string use_table(const JobTrace& trace, const JobRun& run, std::string Job::* name,
                      std::string_view title) {
    std::vector<Use> uses = uses_of(trace, run, name);
    if (uses.size() < 2) { return {}; }
    double all = 0;
    for (const Use& use : uses) { all += use.unit_seconds; }
    std::string out = fmt::format("<h2>{}</h2>\n", title);
    if (uses.size() > rows_max) {
        out += fmt::format("<p>The {} of {} that used most</p>\n", rows_max, uses.size());
        uses.resize(rows_max);
    }
    out += fmt::format(
        "<figure><table><tr><th></th><th>jobs</th><th>{} hours</th><th>share</th>"
        "<th>mean wait</th><th>95 % at most</th><th>longest</th><th>slowdown</th></tr>\n",
        trace.unit == JobUnit::gpu ? "GPU" : "processor");
    for (Use& use : uses) {
        const auto jobs = static_cast<double>(use.waits.size());
        const Spread wait = spread_of(std::move(use.waits));
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.1f} %</td><td>{}</td><td>{}</td>"
            "<td>{}</td><td>{:.1f}</td></tr>\n",
            use.name.empty() ? "–" : html_text(use.name.substr(0, name_bytes_max)),
            grouped(std::llround(jobs)), grouped(std::llround(use.unit_seconds / 3'600)),
            all > 0 ? 100 * use.unit_seconds / all : 0, short_time(wait.mean),
            short_time(static_cast<double>(wait.p95)), short_time(static_cast<double>(wait.max)),
            use.slowdown / jobs);
    }
    return out + "</table></figure>\n";
}

}  // namespace muster::sim
