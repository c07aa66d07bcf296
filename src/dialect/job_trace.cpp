#include "dialect/job_trace.h"

#include "dialect/gavel.h"
#include "dialect/kubernetes_trace.h"
#include "dialect/openb.h"
#include "dialect/philly.h"
#include "dialect/swf.h"
#include "dialect/tiresias.h"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace muster::dialect {

namespace {

constexpr std::string_view known = "swf, philly, openb, gavel, tiresias or kubernetes";
constexpr std::array<std::pair<std::string_view, TraceFormat>, 6> names = {
    {{"swf", TraceFormat::swf},
     {"philly", TraceFormat::philly},
     {"openb", TraceFormat::openb},
     {"gavel", TraceFormat::gavel},
     {"tiresias", TraceFormat::tiresias},
     {"kubernetes", TraceFormat::kubernetes}}};
constexpr std::array<std::pair<std::string_view, TraceFormat>, 5> endings = {
    {{".swf", TraceFormat::swf},
     {".trace", TraceFormat::gavel},
     {".json", TraceFormat::kubernetes},
     {".yaml", TraceFormat::kubernetes},
     {".yml", TraceFormat::kubernetes}}};
constexpr std::array<std::pair<std::string_view, TraceFormat>, 3> headers = {
    {{"timestamp,duration,num_gpus", TraceFormat::philly},
     {"name,cpu_milli,memory_mib,num_gpu", TraceFormat::openb},
     {"job_id,num_gpu,submit_time", TraceFormat::tiresias}}};

}  // namespace

Result<TraceFormat> parse_trace_format(std::string_view name) {
    for (const auto& [word, format] : names) {
        if (word == name) { return format; }
    }
    return fail(Code::invalid,
                fmt::format("found trace format '{:.40}'; expected {}", name, known));
}

Result<TraceFormat> guess_trace_format(std::string_view file, std::string_view text) {
    for (const auto& [ending, format] : endings) {
        if (file.ends_with(ending)) { return format; }
    }
    for (const auto& [header, format] : headers) {
        if (text.starts_with(header)) { return format; }
    }
    return fail(Code::invalid,
                fmt::format("{}: its name and first line tell no trace format; say which: {}", file,
                            known));
}

Result<JobTrace> read_job_trace(TraceFormat format, std::string_view file, std::string_view text,
                                const TraceExtras& extras) {
    switch (format) {
        case TraceFormat::swf: return read_swf(file, text);
        case TraceFormat::philly: return read_philly(file, text);
        case TraceFormat::openb: return read_openb_trace(file, text);
        case TraceFormat::gavel: return read_gavel(file, text, extras);
        case TraceFormat::tiresias: return read_tiresias(file, text);
        case TraceFormat::kubernetes: return read_kubernetes_trace(file, text);
    }
    return fail(Code::invalid, "no such trace format");
}

}  // namespace muster::dialect
