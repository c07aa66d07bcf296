// Strict comma-separated lines: a known header, one width, no quotes. Every error says where it is.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::dialect {

inline constexpr std::size_t csv_line_bytes_max = std::size_t{64} << 10;

/// One line at a time over text that outlives the reader.
class CsvReader {
public:
    /// `file` names the text in messages.
    CsvReader(std::string_view file, std::string_view text) : file_(file), rest_(text) {}

    /// Reads the first line as the column names.
    Result<> read_header();
    [[nodiscard]] const std::vector<std::string_view>& header() const { return header_; }
    /// The header must be exactly these columns.
    Result<> expect_header(const std::vector<std::string_view>& columns) const;

    /// Moves to the next line; false at the end. Its width must be the header's.
    Result<bool> next();
    [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }
    /// A whole number in [low, high], or an error that names file, line and column.
    Result<std::int64_t> number(std::size_t column, std::int64_t low, std::int64_t high) const;

    /// What was read of a field, or its error with the place in front.
    template <class T>
    [[nodiscard]] Result<T> at(std::size_t column, Result<T> value) const {
        if (value) { return value; }
        return tl::unexpected<Error>(std::move(value).error().wrap(place(column)));
    }

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::size_t line() const { return line_; }
    /// `file line N`, or `file line N, field F`.
    [[nodiscard]] std::string place() const;
    [[nodiscard]] std::string place(std::size_t column) const;

private:
    Result<bool> next_line();

    std::string file_;
    std::string_view rest_;
    std::vector<std::string_view> header_;
    std::vector<std::string_view> fields_;
    std::size_t line_ = 0;
};

}  // namespace muster::dialect
