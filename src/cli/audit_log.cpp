#include "cli/audit_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace muster::cli {

namespace {

constexpr mode_t rights = 0640;

}  // namespace

Result<AuditLog> AuditLog::open(Options options) {
    AuditLog out(std::move(options));
    if (!out.open_file()) {
        return fail(Code::unavailable, fmt::format("{}: {}", out.options_.file, out.wrong_));
    }
    return out;
}

AuditLog::AuditLog(AuditLog&& other) noexcept
    : options_(std::move(other.options_)),
      counts_(other.counts_),
      file_(std::exchange(other.file_, -1)),
      bytes_(other.bytes_),
      is_torn_(other.is_torn_),
      is_failing_(other.is_failing_),
      wrong_(std::move(other.wrong_)) {}

AuditLog::~AuditLog() {
    if (file_ > STDERR_FILENO) { close(file_); }
}

bool AuditLog::open_file() {
    if (options_.file == "-") {
        file_ = STDOUT_FILENO;
        return true;
    }
    file_ = ::open(options_.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, rights);
    struct stat found{};
    if (file_ < 0 || fstat(file_, &found) != 0) {
        wrong_ = std::strerror(errno);
        return false;
    }
    bytes_ = found.st_size;
    return true;
}

/// The file that was full before goes.
void AuditLog::turn() {
    if (file_ >= 0) { close(std::exchange(file_, -1)); }
    if (std::rename(options_.file.c_str(), (options_.file + ".1").c_str()) != 0) {
        wrong_ = std::strerror(errno);
    }
    is_torn_ = false;
}

bool AuditLog::put(std::string_view line) {
    if (file_ < 0 && !open_file()) { return false; }
    while (!line.empty()) {
        const ssize_t count = ::write(file_, line.data(), line.size());
        if (count < 0 && errno == EINTR) { continue; }
        if (count <= 0) {
            wrong_ = count == 0 ? "nothing was taken" : std::strerror(errno);
            return false;
        }
        bytes_ += count;
        is_torn_ = true;
        line.remove_prefix(static_cast<std::size_t>(count));
    }
    is_torn_ = false;
    return true;
}

void AuditLog::write(std::string_view line) {
    const auto size = static_cast<std::int64_t>(line.size());
    const bool is_full = bytes_ > 0 && bytes_ + size > options_.bytes_max;
    if (file_ != STDOUT_FILENO && is_full) { turn(); }
    const bool is_written = (!is_torn_ || put("\n")) && put(line);
    ++(is_written ? counts_.written : counts_.lost);
    if (is_written == !is_failing_) { return; }
    is_failing_ = !is_written;
    if (is_failing_) {
        options_.log.error("the audit log takes nothing",
                           {{"file", options_.file}, {"reason", wrong_}});
    } else {
        options_.log.info(
            "the audit log takes lines again",
            {{"file", options_.file}, {"lost", static_cast<std::int64_t>(counts_.lost)}});
    }
}

}  // namespace muster::cli
