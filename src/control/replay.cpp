#include "control/replay.h"

#include "codec/binary.h"
#include "control/difference.h"
#include "control/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {

namespace {

/// The engine that decides again.
class Replayer {
public:
    explicit Replayer(Replayed& told) : told_(told) {}

    Result<> take(const Opened& opened) {
        ++told_.leaders;
        auto& versions = told_.engine_versions;
        if (std::ranges::find(versions, opened.engine_version) == versions.end()) {
            versions.push_back(opened.engine_version);
        }
        if (!engine_) { engine_.emplace(opened.policy); }
        return go_on_from(engine_->snapshot(), opened.policy);
    }

    Result<> take(const Snapshot& snapshot) {
        if (engine_) {
            ++told_.snapshots;
            if (const Snapshot ours = engine_->snapshot(); !(ours == snapshot)) {
                differ(snapshot.cycle, difference_of(snapshot, ours));
                return {};
            }
        }
        return go_on_from(snapshot, snapshot.policy);
    }

    Result<> take(const Cycle& cycle) {
        ++told_.cycles;
        told_.facts += cycle.facts.size();
        told_.placements += cycle.plan.placements.size();
        if (auto heard = hear(*engine_, cycle); !heard) {
            differ(cycle.plan.cycle, std::move(heard).error().message);
            return {};
        }
        const Plan plan = engine_->cycle();
        if (encode(plan) != encode(cycle.plan)) {
            differ(cycle.plan.cycle, difference_of(cycle.plan, plan));
        }
        return {};
    }

private:
    Result<> go_on_from(const Snapshot& snapshot, const Policy& policy) {
        MUSTER_TRY(engine, Engine::restore(snapshot, policy));
        engine_ = std::move(engine);
        return {};
    }

    void differ(std::uint64_t cycle, std::string text) {
        told_.difference = Difference{.entry = told_.last, .cycle = cycle, .text = std::move(text)};
    }

    Replayed& told_;
    std::optional<Engine> engine_;
};

}  // namespace

Result<Beginning> beginning_of(Store& store, std::uint64_t from) {
    MUSTER_TRY(snapshot, store.last_snapshot(from + 1));
    MUSTER_TRY(extent, store.extent());
    const std::uint64_t entry = snapshot ? snapshot->sequence : extent.first();
    MUSTER_TRY(header, store.header(entry));
    if (!header || header->kind == RecordKind::cycle) {
        return fail(Code::corrupt,
                    fmt::format("{}: found {} as entry {}; expected a leader or a snapshot",
                                store.name(), header ? "a cycle" : "nothing", entry));
    }
    MUSTER_TRY(records, Cursor::at(store, entry));
    return Beginning{.entry = entry, .records = std::move(records)};
}

Result<Replayed> decide_anew(Store& store, std::uint64_t from, const ReplayProgress& progress) {
    MUSTER_TRY(beginning, beginning_of(store, from));
    Replayed told{.first = beginning.entry};
    Replayer replayer(told);
    while (!told.difference) {
        MUSTER_TRY(item, beginning.records.next());
        if (!item) { break; }
        told.last = item->header.sequence;
        if (progress) { progress(told.last); }
        auto done =
            std::visit([&](const auto& record) { return replayer.take(record); }, item->record);
        if (!done) {
            return tl::unexpected(
                std::move(done).error().wrap(fmt::format("{}: entry {}", store.name(), told.last)));
        }
    }
    return told;
}

}  // namespace muster
