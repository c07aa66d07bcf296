#include "dialect/csv.h"

#include "base/text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <utility>

namespace muster::dialect {

Result<bool> CsvReader::next_line() {
    if (rest_.empty()) { return false; }
    ++line_;
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    if (line.size() > csv_line_bytes_max) {
        return fail(Code::limit, fmt::format("{}: {} bytes; expected at most {}", place(),
                                             line.size(), csv_line_bytes_max));
    }
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    if (line.ends_with('\r')) { line.remove_suffix(1); }
    fields_ = split(line, ',');
    return true;
}

Result<> CsvReader::read_header() {
    MUSTER_TRY(is_there, next_line());
    if (!is_there) {
        return fail(Code::invalid, fmt::format("{}: empty; expected a header line", file_));
    }
    header_ = fields_;
    return {};
}

Result<> CsvReader::expect_header(const std::vector<std::string_view>& columns) const {
    if (header_ == columns) { return {}; }
    return fail(Code::invalid,
                fmt::format("{}: found the header '{:.200}'; expected '{}'", place(),
                            fmt::format("{}", fmt::join(header_, ",")), fmt::join(columns, ",")));
}

Result<bool> CsvReader::next() {
    MUSTER_TRY(is_there, next_line());
    if (is_there && fields_.size() != header_.size()) {
        return fail(Code::invalid, fmt::format("{}: found {} fields; expected {}", place(),
                                               fields_.size(), header_.size()));
    }
    return std::move(is_there);
}

Result<std::int64_t> CsvReader::number(std::size_t column, std::int64_t low,
                                       std::int64_t high) const {
    auto value = parse_int(fields_[column]);
    if (!value) {
        return fail(value.error().code, fmt::format("{}: {}; expected {} to {}", place(column),
                                                    value.error().message, low, high));
    }
    if (*value < low || *value > high) {
        return fail(Code::invalid, fmt::format("{}: found {}; expected {} to {}", place(column),
                                               *value, low, high));
    }
    return *value;
}

std::string CsvReader::place() const { return fmt::format("{} line {}", file_, line_); }

std::string CsvReader::place(std::size_t column) const {
    return fmt::format("{} line {}, field {}", file_, line_, header_[column]);
}

}  // namespace muster::dialect
