#include "cli/decision_json.h"
#include "cli/ledger_file.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"
#include "ledger/verify.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <numeric>

namespace muster::cli {

namespace {

/// "2 facts", or nothing of nothing.
void count(std::string& out, std::size_t number, std::string_view noun) {
    if (number == 0) { return; }
    out += fmt::format("{}{}", out.empty() ? "" : ", ",
                       plural(static_cast<std::int64_t>(number), noun));
}

std::string describe(const Opened& opened) {
    return fmt::format("{} leads, muster {}, policy {:.12}", opened.leader, opened.engine_version,
                       opened.policy_hash);
}

std::string describe(const Snapshot& snapshot) {
    return fmt::format("after cycle {}: {}, {}", snapshot.cycle,
                       plural(static_cast<std::int64_t>(snapshot.nodes.size()), "node"),
                       plural(static_cast<std::int64_t>(snapshot.workloads.size()), "workload"));
}

std::size_t order_count(const Cycle& cycle) {
    return std::accumulate(
        cycle.ordered.begin(), cycle.ordered.end(), std::size_t{0},
        [](std::size_t sum, const Ordered& some) { return sum + some.tasks.size(); });
}

std::string describe(const Cycle& cycle) {
    std::string out;
    count(out, cycle.facts.size(), "fact");
    count(out, cycle.conflicts.size(), "conflict");
    count(out, cycle.plan.placements.size(), "placement");
    count(out, cycle.plan.refusals.size(), "refusal");
    count(out, cycle.plan.releases.size(), "release");
    count(out, order_count(cycle), "order");
    return fmt::format("cycle {}: {}", cycle.plan.cycle, out.empty() ? "nothing new" : out);
}

void write_counts(JsonWriter& out, const Opened& opened) {
    out.member("leader", opened.leader)
        .member("engine_version", opened.engine_version)
        .member("policy_hash", opened.policy_hash);
}

void write_counts(JsonWriter& out, const Snapshot& snapshot) {
    out.member("cycle", static_cast<std::int64_t>(snapshot.cycle))
        .member("nodes", static_cast<std::int64_t>(snapshot.nodes.size()))
        .member("workloads", static_cast<std::int64_t>(snapshot.workloads.size()));
}

/// A date where it can be one; simulations count from 0.
std::string time_in_words(std::int64_t milliseconds) {
    constexpr std::int64_t date_min = 100'000'000'000;  // 1973
    if (milliseconds < date_min) {
        return fmt::format("{}.{:03} s", milliseconds / 1'000, milliseconds % 1'000);
    }
    return fmt::format("{:%F %T}.{:03}",
                       fmt::gmtime(static_cast<std::time_t>(milliseconds / 1'000)),
                       milliseconds % 1'000);
}

/// Calls `show` with each record from `from` on.
template <class Visit>
Result<> walk(Store& store, std::uint64_t from, const Visit& visit) {
    MUSTER_TRY(cursor, Cursor::at(store, from));
    for (;;) {
        MUSTER_TRY(item, cursor.next());
        if (!item) { return {}; }
        visit(*item);
    }
}

std::string verified_json(const Verified& verified) {
    JsonWriter out;
    out.begin_object().member("ok", true);
    out.member("first", static_cast<std::int64_t>(verified.extent.first()))
        .member("last", static_cast<std::int64_t>(verified.extent.last.sequence))
        .member("epoch", static_cast<std::int64_t>(verified.extent.last.epoch));
    for (std::size_t kind = 0; kind < verified.records.size(); ++kind) {
        out.member(name_of(static_cast<RecordKind>(kind)),
                   static_cast<std::int64_t>(verified.records[kind]));
    }
    out.member("payload_bytes", static_cast<std::int64_t>(verified.payload_bytes))
        .member("hash", hex_of(verified.extent.last.hash))
        .end_object();
    return out.take() + '\n';
}

}  // namespace

Result<int> run_verb(const LedgerShowOptions& options, Terminal& terminal) {
    MUSTER_TRY(store, open_ledger(options.file, options.etcd));
    MUSTER_TRY(extent, store->extent());
    const std::uint64_t length = extent.last.sequence - extent.anchor.sequence;
    const std::uint64_t from = options.from != 0       ? options.from
                               : length > options.last ? extent.last.sequence - options.last + 1
                                                       : extent.first();
    Table table({{"entry", Align::right},
                 {"time", Align::right},
                 {"epoch", Align::right},
                 {"kind"},
                 {"bytes", Align::right},
                 {"what"}});
    JsonWriter out;
    out.begin_object()
        .member("first", static_cast<std::int64_t>(extent.first()))
        .member("last", static_cast<std::int64_t>(extent.last.sequence))
        .key("entries")
        .begin_list();
    MUSTER_CHECK(walk(*store, from, [&](const Item& item) {
        const Header& header = item.header;
        if (options.format == Format::json) {
            write_header(out.begin_object(), header);
            out.member("bytes", static_cast<std::int64_t>(item.payload_bytes));
            std::visit([&](const auto& record) { write_counts(out, record); }, item.record);
            out.end_object();
            return;
        }
        table.add({with_commas(static_cast<std::int64_t>(header.sequence)),
                   time_in_words(header.time), fmt::format("{}", header.epoch),
                   std::string(name_of(header.kind)),
                   with_commas(static_cast<std::int64_t>(item.payload_bytes)),
                   std::visit([](const auto& record) { return describe(record); }, item.record)});
    }));
    if (options.format == Format::json) {
        terminal.out << out.end_list().end_object().text() << '\n';
    } else {
        terminal.out << table.text(Paint(terminal.has_colour));
    }
    return exit_good;
}

Result<int> run_verb(const LedgerVerifyOptions& options, Terminal& terminal) {
    auto verified = [&]() -> Result<Verified> {
        MUSTER_TRY(store, open_ledger(options.file, options.etcd));
        return verify(*store);
    }();
    if (!verified && verified.error().code == Code::corrupt && options.format == Format::json) {
        JsonWriter out;
        out.begin_object().member("ok", false).member("error", verified.error().message);
        terminal.out << out.end_object().text() << '\n';
        return exit_bad_input;
    }
    if (!verified) { return tl::unexpected(std::move(verified).error()); }
    if (options.format == Format::json) {
        terminal.out << verified_json(*verified);
        return exit_good;
    }
    const Paint paint(terminal.has_colour);
    const auto number = [&](RecordKind kind) {
        return plural(static_cast<std::int64_t>(verified->records[static_cast<std::size_t>(kind)]),
                      kind == RecordKind::opened ? "leader" : name_of(kind));
    };
    const Extent& extent = verified->extent;
    terminal.out << paint(Ink::green, "nothing was altered, dropped or swapped") << '\n'
                 << fmt::format("entries {} to {}: {}, {}, {}; {} bytes\nlast hash {}\n",
                                extent.first(), extent.last.sequence, number(RecordKind::opened),
                                number(RecordKind::snapshot), number(RecordKind::cycle),
                                with_commas(static_cast<std::int64_t>(verified->payload_bytes)),
                                hex_of(extent.last.hash));
    return exit_good;
}

Result<int> run_verb(const LedgerExportOptions& options, Terminal& terminal) {
    MUSTER_TRY(store, open_ledger(options.file, options.etcd));
    MUSTER_CHECK(walk(*store, 1, [&](const Item& item) {
        JsonWriter out;
        write_header(out.begin_object(), item.header);
        out.key("record").raw(record_json(item.record)).end_object();
        terminal.out << out.text() << '\n';
    }));
    return exit_good;
}

}  // namespace muster::cli
