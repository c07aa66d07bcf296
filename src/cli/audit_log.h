// A file of lines, one per decision, that never grows over its bound and never stops who decides:
// a disk that is full is told once, and again when lines are taken again. Belongs to one thread.
#pragma once

#include "base/log.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::cli {

class AuditLog {
public:
    struct Options {
        std::string file;  // "-": the standard output, which is not turned
        std::int64_t bytes_max = std::int64_t{100}
                                 << 20;  // then it is FILE.1, and a new one begins
        Log log;
    };
    struct Counts {
        std::uint64_t written = 0;
        std::uint64_t lost = 0;
    };

    static Result<AuditLog> open(Options options);
    ~AuditLog();
    AuditLog(AuditLog&& other) noexcept;
    AuditLog& operator=(AuditLog&&) = delete;

    /// With its newline.
    void write(std::string_view line);
    [[nodiscard]] const Counts& counts() const { return counts_; }

private:
    explicit AuditLog(Options options) : options_(std::move(options)) {}
    bool open_file();
    void turn();
    bool put(std::string_view line);

    Options options_;
    Counts counts_;
    int file_ = -1;
    std::int64_t bytes_ = 0;
    bool is_torn_ = false;  // the last line is there in part
    bool is_failing_ = false;
    std::string wrong_;  // the last failure
};

}  // namespace muster::cli
