// SQLite as the store needs it: errors as values that name the file, statements that reset
// themselves. sqlite3.h stays in the .cpp.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace muster {

/// One prepared statement; rows are read between `step` and `reset`.
class Statement {
public:
    Statement() = default;
    Statement(sqlite3* database, sqlite3_stmt* statement, const std::string* file);

    Statement& bind(int index, std::int64_t value);
    /// Not copied: it must outlive the next step.
    Statement& bind(int index, std::string_view bytes);
    /// True with a row.
    Result<bool> step();
    /// Steps to the end and resets.
    Result<> run();
    void reset();

    [[nodiscard]] std::int64_t integer(int column) const;
    /// Until the next step or reset.
    [[nodiscard]] std::string_view bytes(int column) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    sqlite3* database_ = nullptr;
    const std::string* file_ = nullptr;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class Access : std::uint8_t { read, write };

class Database {
public:
    /// `vfs` empty: the system's. A file that is not there is made when writing, else `not_found`.
    static Result<Database> open(const std::string& file, Access access, const std::string& vfs);

    Result<Statement> prepare(std::string_view sql);
    Result<> run(const char* sql);
    /// The number in the first row, 0 without one.
    Result<std::int64_t> number(const char* sql);
    Result<std::string> text(const char* sql);
    /// Since the last statement that changed something.
    [[nodiscard]] std::int64_t changes() const;
    /// False when an error has rolled the transaction back already.
    [[nodiscard]] bool is_in_transaction() const;
    [[nodiscard]] const std::string& file() const { return *file_; }

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::unique_ptr<std::string> file_;  // statements point to it
    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace muster
