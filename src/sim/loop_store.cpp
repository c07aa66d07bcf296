#include "sim/loop_store.h"

namespace muster::sim {

Result<> LoopStore::append(const Entry& entry, std::uint64_t expected_epoch) {
    if (!hooks_.at(Point::append)) { return fail(Code::unavailable, "stopped"); }
    if (hooks_.is_full()) { return fail(Code::unavailable, "the disk is full"); }
    auto done = StoreWrapper::append(entry, expected_epoch);
    if (!done) {
        if (entry.header.kind != RecordKind::opened) { hooks_.fenced(); }
        return done;
    }
    hooks_.written(entry);
    if (!hooks_.at(Point::appended)) { return fail(Code::unavailable, "stopped"); }
    if (hooks_.is_answer_lost()) { return fail(Code::unavailable, "no answer"); }
    return {};
}

Result<std::uint64_t> LoopStore::drop_before(std::uint64_t first, std::uint64_t expected_epoch) {
    if (!hooks_.at(Point::dropped)) { return fail(Code::unavailable, "stopped"); }
    return StoreWrapper::drop_before(first, expected_epoch);
}

}  // namespace muster::sim
