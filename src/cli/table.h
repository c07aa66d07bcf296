// Text for people: tables in columns, and colour where the terminal has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

enum class Ink : std::uint8_t { plain, bold, dim, red, green, yellow };

/// Wraps text in an escape sequence, or leaves it alone.
class Paint {
public:
    explicit Paint(bool has_colour) : has_colour_(has_colour) {}
    [[nodiscard]] std::string operator()(Ink ink, std::string_view text) const;

private:
    bool has_colour_;
};

enum class Align : std::uint8_t { left, right };

struct Column {
    std::string title;
    Align align = Align::left;
};

/// Rows under titles. Widths are counted in characters, not bytes; nothing is cut.
class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<std::string> cells);
    [[nodiscard]] bool is_empty() const { return rows_.empty(); }
    /// Each line ends with a newline, and none with blanks.
    [[nodiscard]] std::string text(const Paint& paint, std::string_view indent = "") const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Characters of UTF-8 text.
std::size_t width_of(std::string_view text);
/// 1234567 → 1,234,567
std::string with_commas(std::int64_t number);
/// "1 task", "2 tasks"
std::string plural(std::int64_t count, std::string_view noun);

}  // namespace muster::cli
