#include "cli/cluster.h"
#include "cli/live_cluster.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"
#include "dialect/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace muster::cli {

namespace {

std::string_view name_of(dialect::Severity severity) {
    return severity == dialect::Severity::error ? "error" : "warning";
}

std::string write_json(const std::vector<dialect::Finding>& findings) {
    JsonWriter out;
    out.begin_object().member("ok", findings.empty()).key("findings").begin_list();
    for (const dialect::Finding& finding : findings) {
        out.begin_object()
            .member("severity", name_of(finding.severity))
            .member("file", finding.place.file)
            .member("line", std::int64_t{finding.place.line})
            .member("path", finding.place.path)
            .member("text", finding.text)
            .member("advice", finding.advice)
            .end_object();
    }
    out.end_list().end_object();
    return out.take() + '\n';
}

}  // namespace

Result<int> run_verb(const LintOptions& options, Terminal& terminal) {
    MUSTER_TRY(jobs, read_sources(options.files));
    std::optional<dialect::ClusterInput> cluster;
    if (!options.cluster.files.empty()) {
        MUSTER_TRY(sources, read_sources(options.cluster.files));
        MUSTER_TRY(input, dialect::read_cluster(sources));
        cluster = std::move(input);
    } else if (options.cluster.live.is_told()) {
        MUSTER_TRY(input, read_live(options.cluster.live));
        cluster = std::move(input);
    }
    MUSTER_TRY(findings, dialect::lint(jobs, cluster ? &*cluster : nullptr));
    const int code = findings.empty() ? exit_good : exit_waits;
    if (options.format == Format::json) {
        terminal.out << write_json(findings);
        return code;
    }
    const Paint paint(terminal.has_colour);
    for (const dialect::Finding& finding : findings) {
        const bool is_error = finding.severity == dialect::Severity::error;
        terminal.out << fmt::format(
            "{}: {}: {}\n", finding.place.text(),
            paint(is_error ? Ink::red : Ink::yellow, name_of(finding.severity)), finding.text);
        if (!finding.advice.empty()) { terminal.out << "    " << finding.advice << '\n'; }
    }
    const auto errors =
        std::ranges::count(findings, dialect::Severity::error, &dialect::Finding::severity);
    terminal.out << (findings.empty()
                         ? paint(Ink::green, "nothing found")
                         : fmt::format("{}, {}", plural(errors, "error"),
                                       plural(static_cast<std::int64_t>(findings.size()) - errors,
                                              "warning")))
                 << '\n';
    return code;
}

}  // namespace muster::cli
