#include "etcd/store_etcd.h"

#include "base/assert.h"
#include "etcd/key_value.h"
#include "etcd/layout.h"
#include "etcd/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::etcd {

namespace {

constexpr std::size_t id_bytes_max = 64;

class EtcdStore final : public Store {
public:
    EtcdStore(std::unique_ptr<Gateway> gateway, StoreOptions options)
        : Store(options.name),
          gateway_(std::move(gateway)),
          layout_(options.prefix),
          writer_(std::move(options.writer)) {
        MUSTER_ASSERT(!writer_.empty());
        MUSTER_ASSERT(writer_.find(' ') == std::string::npos);
    }

    Result<Extent> extent() override {
        MUSTER_TRY(end, look());
        return end.told.extent;
    }

    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override {
        if (entry.payload.size() > entry_bytes_max) {
            return fail(Code::limit, fmt::format("{}: a record of {} bytes; expected at most {}",
                                                 name(), entry.payload.size(), entry_bytes_max));
        }
        MUSTER_TRY(seen, is_next(entry.header, expected_epoch) ? Result<Seen>(*seen_) : look());
        for (int turn = 0; turn < turns_max; ++turn) {
            if (is_under_way(entry.header) && seen.told.extent.last == entry.header &&
                seen.told.writer == writer_) {
                under_way_.reset();
                return {};  // it was carried out, and the answer was lost
            }
            if (!is_next(entry.header, expected_epoch)) {
                under_way_.reset();
                return tl::unexpected(
                    fenced(*this, seen.told.extent.last, entry.header.sequence, expected_epoch));
            }
            MUSTER_TRY(is_done, put(entry, seen));
            if (is_done) { return {}; }
            seen = *seen_;
        }
        return moved_too_often();
    }

    Result<std::vector<Entry>> read(std::uint64_t from, std::size_t bytes_max) override {
        std::vector<Entry> out;
        std::size_t bytes = 0;
        for (;;) {
            MUSTER_TRY(page, range({.key = layout_.entry(from),
                                    .end = end_of(layout_.entries()),
                                    .limit = page_entries}));
            for (const KeyValue& one : page.found) {
                MUSTER_TRY(stored, stored_in(one, true));
                bytes += stored.payload_bytes;
                if (!out.empty() && bytes > bytes_max) { return out; }
                from = stored.header.sequence + 1;
                MUSTER_TRY(is_whole, fill(stored));
                if (!is_whole) { continue; }  // dropped while it was read
                out.push_back({.header = stored.header, .payload = std::move(stored.payload)});
            }
            if (!page.has_more || page.found.empty()) { return out; }
        }
    }

    Result<std::optional<Header>> header(std::uint64_t sequence) override {
        MUSTER_TRY(answer, range({.key = layout_.entry(sequence)}));
        if (answer.found.empty()) { return std::optional<Header>{}; }
        MUSTER_TRY(stored, stored_in(answer.found.front(), true));
        return std::optional(stored.header);
    }

    Result<std::optional<Header>> last_snapshot(std::uint64_t before) override {
        MUSTER_TRY(answer, range({.key = layout_.snapshots(),
                                  .end = layout_.snapshot(before),
                                  .limit = 1,
                                  .is_last_first = true}));
        if (answer.found.empty()) { return std::optional<Header>{}; }
        MUSTER_TRY(stored, stored_in(answer.found.front(), false));
        return std::optional(stored.header);
    }

    Result<std::uint64_t> drop_before(std::uint64_t first, std::uint64_t expected_epoch) override {
        std::uint64_t dropped = 0;
        for (int turn = 0; turn < turns_max;) {
            MUSTER_TRY(seen, look());
            const Extent& extent = seen.told.extent;
            if (extent.last.epoch != expected_epoch) {
                return tl::unexpected(
                    fenced(*this, extent.last, extent.last.sequence + 1, expected_epoch));
            }
            if (first <= extent.first()) { return dropped; }
            const std::uint64_t next =
                std::min({first, extent.first() + drop_step, extent.last.sequence + 1});
            if (next <= extent.first()) { return dropped; }
            MUSTER_TRY(is_done, drop(next, seen));
            if (is_done) {
                dropped += next - extent.first();
            } else {
                ++turn;
            }
        }
        return moved_too_often();
    }

    /// The keys tell the same as the end does.
    Result<> check() override {
        MUSTER_TRY(seen, look());
        const Extent& extent = seen.told.extent;
        MUSTER_TRY(all, range({.key = layout_.entries(),
                               .end = end_of(layout_.entries()),
                               .is_count_only = true}));
        const std::uint64_t expected = extent.last.sequence - extent.anchor.sequence;
        if (static_cast<std::uint64_t>(all.count) != expected) {
            MUSTER_TRY(now, look());  // it may have grown meanwhile
            if (now.revision != seen.revision) { return {}; }
            return bad(fmt::format("it has {} entries; expected {}", all.count, expected));
        }
        if (extent.is_empty()) { return {}; }
        MUSTER_TRY(last, header(extent.last.sequence));
        if (last && *last != extent.last) {
            return bad(
                fmt::format("entry {} is not the one that its end tells of", extent.last.sequence));
        }
        return {};
    }

private:
    struct Seen {
        End told;
        std::int64_t revision = 0;  // 0: there is no end yet
    };

    tl::unexpected<Error> bad(std::string_view what) const {
        return fail(Code::corrupt, fmt::format("{}: {}", name(), what));
    }
    tl::unexpected<Error> moved_too_often() const {
        return fail(Code::unavailable, fmt::format("{}: others move its end all the time", name()));
    }
    [[nodiscard]] bool is_under_way(const Header& header) const {
        return under_way_ && *under_way_ == header;
    }
    /// By what was seen last, which may be old.
    [[nodiscard]] bool is_next(const Header& header, std::uint64_t epoch) const {
        return seen_ && seen_->told.extent.last.epoch == epoch &&
               seen_->told.extent.last.sequence + 1 == header.sequence;
    }

    Result<RangeAnswer> range(const RangeQuery& query) {
        return named([&]() -> Result<RangeAnswer> {
            MUSTER_TRY(answer, gateway_->ask(range_path, text_of(query)));
            return read_range(answer);
        }());
    }

    template <class T>
    Result<T> named(Result<T> result) const {
        if (result) { return result; }
        return tl::unexpected(std::move(result).error().wrap(name()));
    }

    Result<Seen> look() {
        MUSTER_TRY(answer, range({.key = layout_.end()}));
        return see(answer.found);
    }

    Result<Seen> see(const std::vector<KeyValue>& found) {
        Seen out;
        if (!found.empty()) {
            MUSTER_TRY(told, named(decode_end(found.front().value)));
            out.told = std::move(told);
            out.revision = found.front().revision;
        }
        seen_ = out;
        return out;
    }

    /// False when the end has moved since; then it is seen anew.
    Result<bool> change(Transaction transaction, const Seen& seen) {
        transaction.guard = layout_.end();
        transaction.revision = seen.revision;
        auto answer = named([&]() -> Result<TransactionAnswer> {
            MUSTER_TRY(said, gateway_->ask(transaction_path, text_of(transaction)));
            return read_transaction(said);
        }());
        if (!answer) { return tl::unexpected(std::move(answer).error()); }
        if (!answer->is_done) {
            MUSTER_CHECK(see(answer->guard));
            return false;
        }
        moved_at_ = answer->revision;
        return true;
    }

    Result<bool> put(const Entry& entry, const Seen& seen) {
        Stored stored{.header = entry.header, .payload_bytes = entry.payload.size()};
        if (entry.payload.size() > inline_bytes_max) {
            for (std::size_t at = 0; at < entry.payload.size(); at += part_bytes_max) {
                Transaction part;
                part.puts.push_back({.key = layout_.part(entry.header, stored.parts++),
                                     .value = entry.payload.substr(at, part_bytes_max)});
                MUSTER_TRY(is_done, change(std::move(part), seen));
                if (!is_done) { return false; }
            }
        } else {
            stored.payload = entry.payload;
        }
        Seen next{.told = {.extent = {.anchor = seen.told.extent.anchor, .last = entry.header},
                           .writer = writer_}};
        Transaction append;
        append.puts.push_back(
            {.key = layout_.entry(entry.header.sequence), .value = encode_stored(stored, true)});
        if (entry.header.kind == RecordKind::snapshot) {
            append.puts.push_back({.key = layout_.snapshot(entry.header.sequence),
                                   .value = encode_stored(stored, false)});
        }
        append.puts.push_back({.key = layout_.end(), .value = encode_end(next.told)});
        under_way_ = entry.header;
        MUSTER_TRY(is_done, change(std::move(append), seen));
        if (!is_done) { return false; }
        under_way_.reset();
        next.revision = moved_at_;
        seen_ = std::move(next);
        return true;
    }

    Result<bool> drop(std::uint64_t first, const Seen& seen) {
        MUSTER_TRY(anchor, header(first - 1));
        if (!anchor) {
            MUSTER_TRY(now, look());
            if (now.revision != seen.revision) { return false; }
            return bad(fmt::format("entry {} is missing", first - 1));
        }
        End told = seen.told;
        told.extent.anchor = {.sequence = anchor->sequence, .hash = anchor->hash};
        if (told.extent.is_empty()) { told.extent.last = told.extent.anchor; }
        Transaction transaction;
        transaction.drops = {{.from = layout_.entries(), .end = layout_.entry(first)},
                             {.from = layout_.snapshots(), .end = layout_.snapshot(first)},
                             {.from = layout_.all_parts(), .end = layout_.parts_from(first)}};
        transaction.puts.push_back({.key = layout_.end(), .value = encode_end(told)});
        return change(std::move(transaction), seen);
    }

    Result<Stored> stored_in(const KeyValue& one, bool with_payload) const {
        MUSTER_TRY(sequence, named(Layout::sequence_of(one.key)));
        return named(decode_stored(sequence, one.value, with_payload));
    }

    /// Fetches the payload that lies in parts; false when the entry is not there any more.
    Result<bool> fill(Stored& stored) {
        if (stored.parts == 0) { return true; }
        stored.payload.reserve(stored.payload_bytes);
        for (std::uint32_t number = 0; number < stored.parts;) {
            MUSTER_TRY(page, range({.key = layout_.part(stored.header, number),
                                    .end = end_of(layout_.parts(stored.header)),
                                    .limit = page_parts}));
            const std::uint32_t before = number;
            for (const KeyValue& one : page.found) {
                if (one.key != layout_.part(stored.header, number)) { break; }
                stored.payload += one.value;
                ++number;
            }
            if (number == before) { break; }
        }
        if (stored.payload.size() == stored.payload_bytes) { return true; }
        MUSTER_TRY(still, header(stored.header.sequence));
        if (!still) { return false; }
        return bad(fmt::format("entry {}: a part is missing", stored.header.sequence));
    }

    std::unique_ptr<Gateway> gateway_;
    Layout layout_;
    std::string writer_;
    std::optional<Seen> seen_;
    std::optional<Header> under_way_;  // was sent, and no answer came
    std::int64_t moved_at_ = 0;
};

}  // namespace

std::unique_ptr<Store> open_etcd_store(std::unique_ptr<Gateway> gateway, StoreOptions options) {
    return std::make_unique<EtcdStore>(std::move(gateway), std::move(options));
}

Result<std::string> ledger_id(Gateway& gateway, const std::string& prefix,
                              const std::string& fresh) {
    const std::string key = Layout(prefix).id();
    const Transaction make{
        .guard = key, .revision = 0, .drops = {}, .puts = {{.key = key, .value = fresh}}};
    MUSTER_TRY(said, gateway.ask(transaction_path, text_of(make)));
    MUSTER_TRY(answer, read_transaction(said));
    const std::string& id = answer.guard.empty() ? fresh : answer.guard.front().value;
    return fmt::format("etcd {} at {}", id.substr(0, id_bytes_max), prefix);
}

}  // namespace muster::etcd
