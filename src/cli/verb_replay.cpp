#include "cli/job_text.h"
#include "cli/ledger_file.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/what_if_text.h"
#include "codec/json_writer.h"
#include "codec/policy_text.h"
#include "control/replay.h"
#include "sim/cpu_time.h"
#include "sim/file.h"
#include "sim/what_if_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace muster::cli {

namespace {

/// Of another version than ours; empty when there is none.
std::string other_versions(const Replayed& told) {
    std::string out;
    for (const std::string& version : told.engine_versions) {
        if (version != MUSTER_VERSION) { out += (out.empty() ? "" : ", ") + version; }
    }
    return out;
}

std::int64_t per_second(std::uint64_t count, std::int64_t cpu_ns) {
    constexpr std::int64_t second = 1'000'000'000;
    return static_cast<std::int64_t>(count) * second / std::max<std::int64_t>(1, cpu_ns);
}

std::string replayed_json(const Replayed& told, std::int64_t cpu_ns) {
    JsonWriter out;
    out.begin_object().member("same", !told.difference);
    const auto add = [&](std::string_view key, std::uint64_t number) {
        out.member(key, static_cast<std::int64_t>(number));
    };
    add("first", told.first);
    add("last", told.last);
    add("leaders", told.leaders);
    add("snapshots", told.snapshots);
    add("cycles", told.cycles);
    add("facts", told.facts);
    add("placements", told.placements);
    out.key("engine_versions").begin_list();
    for (const std::string& version : told.engine_versions) { out.value(version); }
    out.end_list().member("cycles_per_cpu_second", per_second(told.cycles, cpu_ns));
    constexpr double nanoseconds = 1e9;
    write_decimal(out, "cpu_s", static_cast<double>(cpu_ns) / nanoseconds);
    out.key("difference");
    if (told.difference) {
        out.begin_object();
        add("entry", told.difference->entry);
        add("cycle", told.difference->cycle);
        out.member("text", told.difference->text).end_object();
    } else {
        out.null();
    }
    return out.end_object().take() + '\n';
}

std::string replayed_text(const Replayed& told, std::int64_t cpu_ns, const Paint& paint) {
    const auto count = [](std::uint64_t number, std::string_view noun) {
        return plural(static_cast<std::int64_t>(number), noun);
    };
    std::string out =
        told.difference
            ? paint(Ink::red, fmt::format("entry {}, cycle {}: it is decided otherwise now",
                                          told.difference->entry, told.difference->cycle)) +
                  '\n' + told.difference->text + '\n'
            : paint(Ink::green, "every decision is the same, byte for byte") + '\n';
    out += fmt::format("entries {} to {}: {}, {}, {}, {}, {}\n", told.first, told.last,
                       count(told.leaders, "leader"), count(told.snapshots, "snapshot"),
                       count(told.cycles, "cycle"), count(told.facts, "fact"),
                       count(told.placements, "placement"));
    if (const std::string others = other_versions(told); !others.empty()) {
        out += fmt::format("decided by muster {}, and now by {}: versions may decide otherwise\n",
                           others, MUSTER_VERSION);
    }
    constexpr std::int64_t milliseconds = 1'000'000;
    return out + fmt::format("{} cycles per second; {} ms of CPU\n",
                             with_commas(per_second(told.cycles, cpu_ns)),
                             with_commas(cpu_ns / milliseconds));
}

Result<int> ask_what_if(Store& store, const ReplayOptions& options, Terminal& terminal) {
    MUSTER_TRY(text, sim::read_file(options.policy));
    MUSTER_TRY(policy, read_policy({.name = options.policy, .text = std::move(text)}));
    auto what = [&] {
        ProgressBar bar(terminal, "what if");
        return sim::what_if(
            store, {.from = options.from,
                    .policy = std::move(policy),
                    .policy_name = std::filesystem::path(options.policy).filename(),
                    .engine_version = MUSTER_VERSION,
                    .progress = [&](std::size_t done, std::size_t all) { bar.show(done, all); }});
    }();
    if (!what) { return tl::unexpected(std::move(what).error()); }
    if (!options.report.empty()) {
        MUSTER_CHECK(sim::write_file(options.report, sim::what_if_report(*what)));
    }
    terminal.out << (options.format == Format::json
                         ? what_if_json(*what)
                         : what_if_table(*what, Paint(terminal.has_colour)));
    return exit_good;
}

}  // namespace

Result<int> run_verb(const ReplayOptions& options, Terminal& terminal) {
    MUSTER_TRY(store, open_ledger(options.file, options.etcd));
    if (!options.policy.empty()) { return ask_what_if(*store, options, terminal); }
    MUSTER_TRY(extent, store->extent());
    const std::int64_t begun = sim::cpu_nanoseconds();
    auto told = [&] {
        ProgressBar bar(terminal, "replay");
        return decide_anew(*store, options.from, [&](std::uint64_t entry) {
            bar.show(entry - extent.anchor.sequence, extent.last.sequence - extent.anchor.sequence);
        });
    }();
    if (!told) { return tl::unexpected(std::move(told).error()); }
    const std::int64_t cpu_ns = sim::cpu_nanoseconds() - begun;
    terminal.out << (options.format == Format::json
                         ? replayed_json(*told, cpu_ns)
                         : replayed_text(*told, cpu_ns, Paint(terminal.has_colour)));
    return told->difference ? exit_waits : exit_good;
}

}  // namespace muster::cli
