#include "cli/decision_json.h"

#include "codec/json_writer.h"
#include "codec/plan_names.h"
#include "codec/plan_text.h"
#include "ledger/cursor.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <variant>

namespace muster::cli {

namespace {

constexpr std::size_t listed_max = 100;  // of each list of a decision; the counts tell of all

std::int64_t size_of(const auto& list) { return static_cast<std::int64_t>(list.size()); }

template <class List, class Write>
void write_some(JsonWriter& out, std::string_view key, const List& list, const Write& write) {
    out.key(key).begin_list();
    for (std::size_t i = 0; i < std::min(list.size(), listed_max); ++i) {
        out.begin_object();
        write(list[i]);
        out.end_object();
    }
    out.end_list();
}

std::string recent_json(const Cycle& cycle, const Header& entry) {
    JsonWriter out;
    write_header(out.begin_object(), entry);
    write_counts(out, cycle);
    write_some(out, "placed", cycle.plan.placements, [&](const Placement& placement) {
        out.member("workload", placement.workload)
            .member("tasks", size_of(placement.tasks))
            .member("domain", placement.domain);
    });
    write_some(out, "refused", cycle.plan.refusals, [&](const Refusal& refusal) {
        out.member("workload", refusal.workload)
            .member("link", name_of(refusal.reason.link))
            .member("why", name_of(refusal.reason.why))
            .member("text", refusal.reason.text);
    });
    write_some(out, "released", cycle.plan.releases, [&](const Release& release) {
        out.member("workload", release.workload).member("tasks", size_of(release.tasks));
    });
    write_some(out, "conflicting", cycle.conflicts, [&](const Conflict& conflict) {
        out.member("rule", name_of(conflict.rule)).member("text", conflict.text);
    });
    return out.end_object().take();
}

/// The members that all lines begin with.
JsonWriter begin_line(const Decision& decision, const AuditContext& context,
                      std::string_view verdict) {
    JsonWriter out;
    out.begin_object()
        .member("time", context.time)
        .member("cycle", static_cast<std::int64_t>(decision.cycle.plan.cycle))
        .member("ledger_sequence", static_cast<std::int64_t>(context.entry.sequence))
        .member("ledger_epoch", static_cast<std::int64_t>(context.entry.epoch))
        .member("policy_hash", context.policy_hash)
        .member("verdict", verdict);
    return out;
}

}  // namespace

void write_header(JsonWriter& out, const Header& header) {
    out.member("sequence", static_cast<std::int64_t>(header.sequence))
        .member("epoch", static_cast<std::int64_t>(header.epoch))
        .member("kind", name_of(header.kind))
        .member("time", header.time)
        .member("hash", hex_of(header.hash));
}

void write_counts(JsonWriter& out, const Cycle& cycle) {
    const std::int64_t orders = std::accumulate(
        cycle.ordered.begin(), cycle.ordered.end(), std::int64_t{0},
        [](std::int64_t sum, const Ordered& some) { return sum + size_of(some.tasks); });
    out.member("cycle", static_cast<std::int64_t>(cycle.plan.cycle))
        .member("facts", size_of(cycle.facts))
        .member("conflicts", size_of(cycle.conflicts))
        .member("placements", size_of(cycle.plan.placements))
        .member("refusals", size_of(cycle.plan.refusals))
        .member("releases", size_of(cycle.plan.releases))
        .member("orders", orders);
}

void RecentDecisions::take(const Cycle& cycle, const Header& entry) {
    decisions_.push_back(recent_json(cycle, entry));
    if (decisions_.size() > count_max) { decisions_.pop_front(); }
}

Result<> RecentDecisions::recall(Store& store) {
    decisions_.clear();
    auto recalled = read(store);
    if (!recalled) { decisions_.clear(); }
    return recalled;
}

Result<> RecentDecisions::read(Store& store) {
    MUSTER_TRY(extent, store.extent());
    if (extent.is_empty()) { return {}; }
    const std::uint64_t last = extent.last.sequence;
    MUSTER_TRY(cursor,
               Cursor::at(store, std::max(extent.first(), last - std::min(last, count_max - 1))));
    for (;;) {
        MUSTER_TRY(item, cursor.next());
        if (!item) { return {}; }
        if (const auto* cycle = std::get_if<Cycle>(&item->record)) { take(*cycle, item->header); }
    }
}

std::string RecentDecisions::json(std::int64_t limit) const {
    JsonWriter out;
    out.begin_object().key("decisions").begin_list();
    const auto count = std::min(decisions_.size(), static_cast<std::size_t>(limit));
    for (std::size_t i = 0; i < count; ++i) { out.raw(decisions_[decisions_.size() - 1 - i]); }
    return out.end_list().end_object().take() + '\n';
}

void write_audit(const Decision& decision, const AuditContext& context,
                 const std::function<void(const std::string& line)>& write) {
    const auto end = [&](JsonWriter& out) { write(out.end_object().take() + '\n'); };
    for (const Release& release : decision.cycle.plan.releases) {
        JsonWriter out = begin_line(decision, context, "released");
        out.member("workload", release.workload).member("tasks", size_of(release.tasks));
        end(out);
    }
    for (const Placement& placement : decision.cycle.plan.placements) {
        JsonWriter out = begin_line(decision, context, "placed");
        out.member("workload", placement.workload)
            .member("link", name_of(ChainLink::bind))
            .key("placement");
        muster::write(out, placement);
        end(out);
    }
    for (const Refusal& refusal : decision.cycle.plan.refusals) {
        JsonWriter out = begin_line(decision, context, "refused");
        out.member("workload", refusal.workload)
            .member("link", name_of(refusal.reason.link))
            .key("reason");
        muster::write(out, refusal.reason);
        end(out);
    }
    for (const Conflict& conflict : decision.cycle.conflicts) {
        JsonWriter out = begin_line(decision, context, "conflict");
        out.member("rule", name_of(conflict.rule)).member("text", conflict.text);
        end(out);
    }
}

}  // namespace muster::cli
