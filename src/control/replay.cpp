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

    [[nodiscard]] bool has_begun() const { return engine_.has_value(); }

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

Result<Replayed> decide_anew(Store& store, std::uint64_t from, const ReplayProgress& progress) {
    MUSTER_TRY(snapshot, store.last_snapshot(from + 1));
    MUSTER_TRY(records, Cursor::at(store, snapshot ? snapshot->sequence : 1));
    Replayed told;
    Replayer replayer(told);
    while (!told.difference) {
        MUSTER_TRY(item, records.next());
        if (!item) { break; }
        told.last = item->header.sequence;
        if (told.first == 0) { told.first = told.last; }
        if (progress) { progress(told.last); }
        if (!replayer.has_begun() && item->header.kind == RecordKind::cycle) {
            return fail(Code::corrupt,
                        fmt::format("{}: entry {} is a cycle, with no leader or snapshot before it",
                                    store.name(), told.last));
        }
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
