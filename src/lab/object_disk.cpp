#include "lab/object_disk.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace muster::lab {

namespace {

constexpr int application_id = 0x4d75'4c62;  // "MuLb"
constexpr int format = 2;

struct CloseFile {
    void operator()(sqlite3* file) const { sqlite3_close_v2(file); }
};
struct EndStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using File = std::unique_ptr<sqlite3, CloseFile>;
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

class ObjectDisk final : public Disk {
public:
    explicit ObjectDisk(File file, std::string name)
        : file_(std::move(file)),
          name_(std::move(name)) {}

    Result<> prepare() {
        // Rows are of some kilobytes, and go to the end: a fleet is twice as soon on the disk.
        MUSTER_CHECK(run("PRAGMA page_size = 8192"));
        MUSTER_CHECK(run("PRAGMA journal_mode = WAL"));
        MUSTER_CHECK(run("PRAGMA synchronous = NORMAL"));
        MUSTER_TRY(id, number("PRAGMA application_id"));
        MUSTER_TRY(version, number("PRAGMA user_version"));
        MUSTER_TRY(tables, number("SELECT count(*) FROM sqlite_master"));
        if (tables > 0 && (id != application_id || version != format)) {
            return fail(Code::invalid, fmt::format("{}: is no lab, or one of another version; "
                                                   "`muster lab reset` makes a new one",
                                                   name_));
        }
        MUSTER_CHECK(run(fmt::format("PRAGMA application_id = {}", application_id)));
        MUSTER_CHECK(run(fmt::format("PRAGMA user_version = {}", format)));
        MUSTER_CHECK(
            run("CREATE TABLE IF NOT EXISTS object (resource TEXT NOT NULL, "
                "space TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, "
                "text TEXT NOT NULL, UNIQUE (resource, space, name)) STRICT"));
        MUSTER_CHECK(run("CREATE TABLE IF NOT EXISTS last (version INTEGER NOT NULL) STRICT"));
        MUSTER_CHECK(run("INSERT INTO last SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM last)"));
        MUSTER_TRY(put, statement("INSERT INTO object VALUES (?1, ?2, ?3, ?4, ?5) "
                                  "ON CONFLICT (resource, space, name) DO UPDATE SET "
                                  "version = excluded.version, text = excluded.text"));
        MUSTER_TRY(end, statement("DELETE FROM object WHERE resource = ?1 AND space = ?2 AND "
                                  "name = ?3"));
        MUSTER_TRY(last, statement("UPDATE last SET version = ?1"));
        put_ = std::move(put);
        end_ = std::move(end);
        last_ = std::move(last);
        return {};
    }

    Result<> write(const std::string& resource, const Key& key, std::uint64_t version,
                   const std::string* text) override {
        last_version_ = version;
        if (is_begun_) { return write_in(resource, key, version, text); }
        MUSTER_CHECK(begin());
        Result<> done = write_in(resource, key, version, text);
        const Result<> ended = end(done.has_value());
        return done ? ended : done;
    }

    Result<> begin() override {
        MUSTER_CHECK(run("BEGIN IMMEDIATE"));
        is_begun_ = true;
        return {};
    }

    Result<> end(bool is_good) override {
        is_begun_ = false;
        Result<> done;
        if (is_good) {
            sqlite3_bind_int64(last_.get(), 1, static_cast<sqlite3_int64>(last_version_));
            done = step(last_.get());
            if (done) { done = run("COMMIT"); }
        }
        if (!is_good || !done) { sqlite3_exec(file_.get(), "ROLLBACK", nullptr, nullptr, nullptr); }
        return done;
    }

    Result<std::uint64_t> read(const Visit& visit) override {
        MUSTER_TRY(rows, statement("SELECT resource, space, name, version, text FROM object"));
        for (;;) {
            const int step = sqlite3_step(rows.get());
            if (step == SQLITE_DONE) { break; }
            if (step != SQLITE_ROW) { return tl::unexpected(failure()); }
            visit(column(rows, 0), {column(rows, 1), column(rows, 2)},
                  static_cast<std::uint64_t>(sqlite3_column_int64(rows.get(), 3)), column(rows, 4));
        }
        MUSTER_TRY(last, number("SELECT version FROM last"));
        last_version_ = static_cast<std::uint64_t>(last);
        return last_version_;
    }

private:
    Result<> write_in(const std::string& resource, const Key& key, std::uint64_t version,
                      const std::string* text) {
        sqlite3_stmt* at = text == nullptr ? end_.get() : put_.get();
        bind(at, 1, resource);
        bind(at, 2, key.first);
        bind(at, 3, key.second);
        if (text != nullptr) {
            sqlite3_bind_int64(at, 4, static_cast<sqlite3_int64>(version));
            bind(at, 5, *text);
        }
        return step(at);
    }

    static void bind(sqlite3_stmt* at, int place, const std::string& text) {
        sqlite3_bind_text64(at, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }

    static std::string column(const Statement& rows, int place) {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(rows.get(), place));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(rows.get(), place));
        return bytes == nullptr ? std::string() : std::string(bytes, size);
    }

    Result<> step(sqlite3_stmt* at) {
        const int done = sqlite3_step(at);
        sqlite3_reset(at);
        sqlite3_clear_bindings(at);
        if (done != SQLITE_DONE) { return tl::unexpected(failure()); }
        return {};
    }

    Result<> run(const std::string& text) {
        if (sqlite3_exec(file_.get(), text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            return tl::unexpected(failure());
        }
        return {};
    }

    Result<Statement> statement(const std::string& text) {
        sqlite3_stmt* made = nullptr;
        if (sqlite3_prepare_v2(file_.get(), text.c_str(), -1, &made, nullptr) != SQLITE_OK) {
            return tl::unexpected(failure());
        }
        return Statement(made);
    }

    Result<std::int64_t> number(const std::string& text) {
        MUSTER_TRY(row, statement(text));
        if (sqlite3_step(row.get()) != SQLITE_ROW) { return tl::unexpected(failure()); }
        return sqlite3_column_int64(row.get(), 0);
    }

    [[nodiscard]] Error failure() const {
        const int code = sqlite3_errcode(file_.get()) & 0xff;
        const bool is_broken = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
        return {is_broken ? Code::corrupt : Code::unavailable,
                fmt::format("{}: {}", name_, sqlite3_errmsg(file_.get()))};
    }

    File file_;
    Statement put_;  // behind the file, so that they end before it
    Statement end_;
    Statement last_;
    std::string name_;
    std::uint64_t last_version_ = 0;  // written
    bool is_begun_ = false;
};

}  // namespace

Result<std::unique_ptr<Disk>> open_object_disk(const std::filesystem::path& path) {
    sqlite3* opened = nullptr;
    const int done =
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    File file(opened);
    if (done != SQLITE_OK) {
        return fail(Code::unavailable, fmt::format("{}: {}", path.string(), sqlite3_errstr(done)));
    }
    auto disk = std::make_unique<ObjectDisk>(std::move(file), path.filename().string());
    MUSTER_CHECK(disk->prepare());
    return disk;
}

}  // namespace muster::lab
