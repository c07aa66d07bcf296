#include "ledger/sqlite.h"

#include "base/assert.h"
#include "ledger/limits.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <utility>

namespace muster {

namespace {

Code code_of(int status) {
    switch (status & 0xff) {
        case SQLITE_ERROR:  // our statements are right: the file has not the tables, or no known
                            // form
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return Code::corrupt;
        case SQLITE_TOOBIG: return Code::limit;
        // Everything else is the machine's: no room, no right, no answer, somebody's lock.
        default: return Code::unavailable;
    }
}

std::string words_of(int status, std::string_view message) {
    switch (status & 0xff) {
        case SQLITE_FULL: return "the disk is full; nothing was written";
        case SQLITE_NOTADB: return "is no ledger, or its first page is damaged";
        case SQLITE_ERROR:
        case SQLITE_CORRUPT: return fmt::format("is damaged: {}", message);
        case SQLITE_BUSY: return "another process holds it; expected it to be done in 5 s";
        case SQLITE_CANTOPEN: return "can't be opened";
        default: return std::string(message);
    }
}

tl::unexpected<Error> error_of(sqlite3* database, int status, const std::string& file) {
    const char* message = database == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(database);
    return fail(code_of(status), fmt::format("{}: {}", file, words_of(status, message)));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement::Statement(sqlite3* database, sqlite3_stmt* statement, const std::string* file)
    : database_(database),
      file_(file),
      statement_(statement) {}

Statement& Statement::bind(int index, std::int64_t value) {
    const int status = sqlite3_bind_int64(statement_.get(), index, value);
    MUSTER_ASSERT(status == SQLITE_OK);
    return *this;
}

Statement& Statement::bind(int index, std::string_view bytes) {
    const int status =
        sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
    MUSTER_ASSERT(status == SQLITE_OK);
    return *this;
}

Result<bool> Statement::step() {
    const int status = sqlite3_step(statement_.get());
    if (status == SQLITE_ROW) { return true; }
    if (status == SQLITE_DONE) { return false; }
    auto error = error_of(database_, status, *file_);
    reset();
    return error;
}

Result<> Statement::run() {
    MUSTER_TRY(has_row, step());
    (void)has_row;
    reset();
    return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

Result<Database> Database::open(const std::string& file, Access access, const std::string& vfs) {
    const int flags =
        access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3* raw = nullptr;
    const int status =
        sqlite3_open_v2(file.c_str(), &raw, flags, vfs.empty() ? nullptr : vfs.c_str());
    Database database;
    database.file_ = std::make_unique<std::string>(file);
    database.database_.reset(raw);
    if (status == SQLITE_CANTOPEN && access == Access::read) {
        return fail(Code::not_found, fmt::format("{}: can't be opened; expected a ledger", file));
    }
    if (status != SQLITE_OK) { return error_of(raw, status, file); }
    sqlite3_extended_result_codes(raw, 1);
    sqlite3_busy_timeout(raw, busy_wait_ms);
    return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int status = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (status != SQLITE_OK) { return error_of(database_.get(), status, *file_); }
    return Statement(database_.get(), statement, file_.get());
}

Result<> Database::run(const char* sql) {
    const int status = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (status != SQLITE_OK) { return error_of(database_.get(), status, *file_); }
    return {};
}

Result<std::int64_t> Database::number(const char* sql) {
    MUSTER_TRY(statement, prepare(sql));
    MUSTER_TRY(has_row, statement.step());
    return has_row ? statement.integer(0) : 0;
}

Result<std::string> Database::text(const char* sql) {
    MUSTER_TRY(statement, prepare(sql));
    MUSTER_TRY(has_row, statement.step());
    return has_row ? std::string(statement.bytes(0)) : std::string();
}

std::int64_t Database::changes() const { return sqlite3_changes64(database_.get()); }

bool Database::is_in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

}  // namespace muster
