// The parts of the report's page, each of bounded size.
#pragma once

#include "sim/job_measures.h"
#include "sim/job_timeline.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::sim {

/// All up to the heading; the page ends with `</html>`.
enum class PageWidth : std::uint8_t { column, wide };
std::string page_head(std::string_view title, PageWidth width = PageWidth::column);

std::string utilisation_plot(const JobTimeline& timeline, const Machine& machine);
std::string queue_plot(const JobTimeline& timeline);
std::string wait_plot(const JobTrace& trace, const JobRun& run);

/// Of few jobs a bar each; else how full each node was over time (groups of nodes when they are
/// many), or without nodes how much of the machine jobs of each size had. Tells which in `caption`.
struct Gantt {
    std::string svg;
    std::string caption;
};
Gantt gantt_plot(const JobTrace& trace, const JobRun& run, const JobTimeline& timeline);

/// A row for each of those that used most, by what `name` gives; empty when it gives the same for
/// all.
std::string use_table(const JobTrace& trace, const JobRun& run, std::string Job::* name,
                      std::string_view title);

/// 93784 → "1.1 d"
std::string short_time(double seconds);

}  // namespace muster::sim
