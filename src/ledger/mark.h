// FILE-mark: what was acknowledged last, beside the database. A damaged WAL looks to SQLite like
// one that ends earlier; this tells the two apart. Written after each commit, not synced: it may be
// old, never ahead.
#pragma once

#include "base/result.h"
#include "ledger/entry.h"

#include <memory>
#include <optional>
#include <string>

namespace muster {

class Mark {
public:
    /// Through SQLite's file layer, so that tests can fail it alike.
    explicit Mark(const std::string& database_file, const std::string& vfs);
    ~Mark();
    Mark(Mark&&) noexcept;
    Mark& operator=(Mark&&) noexcept;

    /// Sequence and hash only. None when there is no mark or it was torn: it says nothing then.
    std::optional<Header> read();
    /// A mark that can't be written is no failure: the older one stays true.
    void write(const Header& last);

private:
    struct File;
    std::unique_ptr<File> file_;
};

}  // namespace muster
