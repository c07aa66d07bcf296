#include "ledger/store_sqlite.h"

#include "ledger/mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {

namespace {

constexpr std::int64_t application_id = 0x4d757374;  // "Must"
constexpr std::int64_t file_version = 1;

constexpr const char* create_sql = R"(
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS log(
    sequence INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    time INTEGER NOT NULL,
    hash BLOB NOT NULL,
    payload BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS snapshots ON log(sequence) WHERE kind = 1;
CREATE TABLE IF NOT EXISTS anchor(
    only INTEGER PRIMARY KEY CHECK (only = 0),
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL) STRICT;
PRAGMA application_id = 1299542900;
PRAGMA user_version = 1;
COMMIT)";

class SqliteStore : public Store {
public:
    SqliteStore(Database database, Mark mark, int entries_per_commit)
        : Store(database.file()),
          database_(std::move(database)),
          mark_(std::move(mark)),
          entries_per_commit_(entries_per_commit) {}
    /// What can't be written now is lost, as the options say.
    ~SqliteStore() override { (void)flush(); }

    Result<> prepare() {
        const std::pair<Statement*, std::string_view> all[] = {
            {&begin_, "BEGIN IMMEDIATE"},
            {&commit_, "COMMIT"},
            {&rollback_, "ROLLBACK"},
            {&anchor_, "SELECT sequence, hash FROM anchor"},
            {&last_,
             "SELECT sequence, epoch, kind, time, hash FROM log ORDER BY sequence DESC LIMIT 1"},
            {&header_, "SELECT sequence, epoch, kind, time, hash FROM log WHERE sequence = ?"},
            {&snapshot_,
             "SELECT sequence, epoch, kind, time, hash FROM log WHERE kind = 1 AND sequence < ? "
             "ORDER BY sequence DESC LIMIT 1"},
            {&read_,
             "SELECT sequence, epoch, kind, time, hash, payload FROM log WHERE sequence >= ? ORDER "
             "BY sequence"},
            {&append_, "INSERT INTO log VALUES(?, ?, ?, ?, ?, ?)"},
            {&drop_, "DELETE FROM log WHERE sequence < ?"},
            {&set_anchor_, "INSERT OR REPLACE INTO anchor VALUES(0, ?, ?)"},
        };
        for (const auto& [statement, sql] : all) {
            MUSTER_TRY(prepared, database_.prepare(sql));
            *statement = std::move(prepared);
        }
        return {};
    }

    /// The log reaches as far as its mark says, with the same entry there.
    Result<> check_mark() {
        const std::optional<Header> mark = mark_.read();  // before the end, which may grow
        MUSTER_TRY(extent, this->extent());
        if (!mark || mark->sequence < extent.first()) { return {}; }
        MUSTER_TRY(found, header(mark->sequence));
        if (!found) {
            return bad(
                fmt::format("it ends at entry {}, and entry {} was acknowledged, says its mark",
                            extent.last.sequence, mark->sequence));
        }
        if (found->hash != mark->hash) {
            return bad(fmt::format("entry {} is not the one that was acknowledged, says its mark",
                                   mark->sequence));
        }
        return {};
    }

    Result<Extent> extent() override {
        Extent out;
        MUSTER_TRY(has_anchor, anchor_.step());
        if (has_anchor) {
            auto hash = hash_at(anchor_, 1);
            out.anchor.sequence = static_cast<std::uint64_t>(anchor_.integer(0));
            anchor_.reset();
            if (!hash) { return tl::unexpected(std::move(hash).error()); }
            out.anchor.hash = *hash;
        }
        anchor_.reset();
        MUSTER_TRY(last, one(last_));
        out.last = last.value_or(out.anchor);
        if (out.last.sequence < out.anchor.sequence) {
            return bad(fmt::format("it ends at entry {}, before its anchor {}", out.last.sequence,
                                   out.anchor.sequence));
        }
        return out;
    }

    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override {
        const Header& header = entry.header;
        const auto done = in_batch([&]() -> Result<> {
            MUSTER_TRY(extent, this->extent());
            if (extent.last.epoch != expected_epoch ||
                extent.last.sequence + 1 != header.sequence) {
                return refuse(extent, header.sequence, expected_epoch);
            }
            return append_.bind(1, static_cast<std::int64_t>(header.sequence))
                .bind(2, static_cast<std::int64_t>(header.epoch))
                .bind(3, static_cast<std::int64_t>(header.kind))
                .bind(4, header.time)
                .bind(5, bytes_of(header.hash))
                .bind(6, entry.payload)
                .run();
        });
        MUSTER_CHECK(done);
        unmarked_ = header;
        return uncommitted_ >= entries_per_commit_ ? flush() : Result<>{};
    }

    Result<std::vector<Entry>> read(std::uint64_t from, std::size_t bytes_max) override {
        std::vector<Entry> out;
        std::size_t bytes = 0;
        read_.bind(1, static_cast<std::int64_t>(from));
        const Reset reset{read_};
        for (;;) {
            MUSTER_TRY(has_row, read_.step());
            if (!has_row) { return out; }
            MUSTER_TRY(header, header_of(read_));
            const std::string_view payload = read_.bytes(5);
            bytes += payload.size();
            if (!out.empty() && bytes > bytes_max) { return out; }
            out.push_back({.header = header, .payload = std::string(payload)});
        }
    }

    Result<std::optional<Header>> header(std::uint64_t sequence) override {
        return one(header_.bind(1, static_cast<std::int64_t>(sequence)));
    }

    Result<std::optional<Header>> last_snapshot(std::uint64_t before) override {
        const std::uint64_t bound = std::min<std::uint64_t>(before, INT64_MAX);
        return one(snapshot_.bind(1, static_cast<std::int64_t>(bound)));
    }

    Result<std::uint64_t> drop_before(std::uint64_t first, std::uint64_t expected_epoch) override {
        MUSTER_CHECK(flush());
        std::uint64_t dropped = 0;
        const auto done = in_transaction([&]() -> Result<> {
            MUSTER_TRY(extent, this->extent());
            if (extent.last.epoch != expected_epoch) {
                return refuse(extent, extent.last.sequence + 1, expected_epoch);
            }
            if (first <= extent.first()) { return {}; }
            MUSTER_TRY(anchor, header(first - 1));
            if (!anchor) { return bad(fmt::format("entry {} is missing", first - 1)); }
            MUSTER_CHECK(set_anchor_.bind(1, static_cast<std::int64_t>(anchor->sequence))
                             .bind(2, bytes_of(anchor->hash))
                             .run());
            MUSTER_CHECK(drop_.bind(1, static_cast<std::int64_t>(first)).run());
            dropped = static_cast<std::uint64_t>(database_.changes());
            return {};
        });
        MUSTER_CHECK(done);
        return dropped;
    }

    Result<> check() override {
        MUSTER_TRY(said, database_.text("PRAGMA integrity_check(1)"));
        if (said != "ok") { return bad(said); }
        return {};
    }

private:
    struct Reset {
        Statement& statement;
        ~Reset() { statement.reset(); }
    };

    tl::unexpected<Error> bad(std::string_view what) const {
        return fail(Code::corrupt, fmt::format("{}: {}", database_.file(), what));
    }

    tl::unexpected<Error> refuse(const Extent& extent, std::uint64_t sequence,
                                 std::uint64_t epoch) const {
        return tl::unexpected(fenced(*this, extent.last, sequence, epoch));
    }

    static std::string_view bytes_of(const Hash& hash) {
        return {reinterpret_cast<const char*>(hash.data()), hash.size()};
    }

    Result<Hash> hash_at(const Statement& row, int column) const {
        const std::string_view bytes = row.bytes(column);
        Hash hash;
        if (bytes.size() != hash.size()) { return bad("a hash has another length"); }
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(hash.data()));
        return hash;
    }

    Result<Header> header_of(const Statement& row) const {
        const std::int64_t kind = row.integer(2);
        if (kind < 0 || kind > static_cast<std::int64_t>(RecordKind::cycle)) {
            return bad(fmt::format("entry {}: kind {} is unknown", row.integer(0), kind));
        }
        MUSTER_TRY(hash, hash_at(row, 4));
        return Header{.sequence = static_cast<std::uint64_t>(row.integer(0)),
                      .epoch = static_cast<std::uint64_t>(row.integer(1)),
                      .kind = static_cast<RecordKind>(kind),
                      .time = row.integer(3),
                      .hash = hash};
    }

    Result<std::optional<Header>> one(Statement& statement) {
        const Reset reset{statement};
        MUSTER_TRY(has_row, statement.step());
        if (!has_row) { return std::optional<Header>{}; }
        MUSTER_TRY(header, header_of(statement));
        return std::optional(header);
    }

    template <class Work>
    Result<> in_transaction(const Work& work) {
        MUSTER_CHECK(in_batch(work));
        return commit();
    }

    /// Left open, so that more can be put into the same transaction.
    template <class Work>
    Result<> in_batch(const Work& work) {
        if (uncommitted_ == 0) { MUSTER_CHECK(begin_.run()); }
        ++uncommitted_;
        Result<> done = work();
        if (!done) { roll_back(); }
        return done;
    }

    Result<> commit() {
        Result<> done = commit_.run();
        uncommitted_ = 0;
        if (!done) { roll_back(); }
        return done;
    }

    void roll_back() {
        uncommitted_ = 0;
        // Some errors roll back by themselves, and a second one must not hide the first.
        if (database_.is_in_transaction()) { (void)rollback_.run(); }
    }

    /// Commits what was acknowledged already, and marks it.
    Result<> flush() {
        if (uncommitted_ == 0) { return {}; }
        MUSTER_CHECK(commit());
        mark_.write(unmarked_);
        return {};
    }

    Database database_;
    Mark mark_;
    int entries_per_commit_ = 1;
    int uncommitted_ = 0;  // of the open transaction
    Header unmarked_;      // the last of them
    Statement begin_, commit_, rollback_, anchor_, last_, header_, snapshot_, read_, append_, drop_,
        set_anchor_;
};

Result<> check_version(Database& database) {
    MUSTER_TRY(id, database.number("PRAGMA application_id"));
    MUSTER_TRY(version, database.number("PRAGMA user_version"));
    if (id != application_id) {
        return fail(
            Code::corrupt,
            fmt::format("{}: is no ledger, but a database of another program", database.file()));
    }
    if (version != file_version) {
        return fail(Code::corrupt, fmt::format("{}: has file version {}; expected {}",
                                               database.file(), version, file_version));
    }
    return {};
}

Result<> make(Database& database, const SqliteOptions& options) {
    MUSTER_TRY(tables, database.number("SELECT count(*) FROM sqlite_schema"));
    MUSTER_TRY(id, database.number("PRAGMA application_id"));
    const bool is_new = tables == 0 && id == 0;
    if (!is_new) { MUSTER_CHECK(check_version(database)); }
    MUSTER_TRY(mode, database.text("PRAGMA journal_mode = WAL"));
    if (mode != "wal") {
        return fail(Code::unavailable, fmt::format("{}: no WAL can be kept there; expected a local "
                                                   "file system",
                                                   database.file()));
    }
    MUSTER_CHECK(
        database.run(options.is_synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
    const std::string pages =
        fmt::format("PRAGMA wal_autocheckpoint = {}", options.checkpoint_pages);
    MUSTER_CHECK(database.run(pages.c_str()));
    if (is_new) { MUSTER_CHECK(database.run(create_sql)); }
    return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& file,
                                                 const SqliteOptions& options) {
    MUSTER_TRY(database, Database::open(file, options.access, options.vfs));
    if (options.access == Access::write) {
        MUSTER_CHECK(make(database, options));
    } else {
        MUSTER_CHECK(check_version(database));
    }
    auto store = std::make_unique<SqliteStore>(std::move(database), Mark(file, options.vfs),
                                               options.entries_per_commit);
    MUSTER_CHECK(store->prepare());
    MUSTER_CHECK(store->check_mark());
    return store;
}

}  // namespace muster
