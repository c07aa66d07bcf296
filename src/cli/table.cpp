#include "cli/table.h"

#include "base/assert.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::cli {

namespace {

constexpr std::string_view gap = "  ";

std::string_view code_of(Ink ink) {
    switch (ink) {
        case Ink::plain: return "0";
        case Ink::bold: return "1";
        case Ink::dim: return "2";
        case Ink::red: return "31";
        case Ink::green: return "32";
        case Ink::yellow: return "33";
    }
    return "0";
}

std::string padded(std::string_view text, std::size_t width, Align align) {
    const std::string blanks(width - std::min(width, width_of(text)), ' ');
    return align == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

}  // namespace

std::string Paint::operator()(Ink ink, std::string_view text) const {
    if (!has_colour_ || ink == Ink::plain || text.empty()) { return std::string(text); }
    return fmt::format("\x1b[{}m{}\x1b[0m", code_of(ink), text);
}

void Table::add(std::vector<std::string> cells) {
    MUSTER_ASSERT(cells.size() == columns_.size());
    rows_.push_back(std::move(cells));
}

std::string Table::text(const Paint& paint, std::string_view indent) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = width_of(columns_[i].title);
        for (const auto& row : rows_) { width = std::max(width, width_of(row[i])); }
        widths.push_back(width);
    }
    const auto line_of = [&](const auto& cell_of) {
        std::string line(indent);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (i > 0) { line += gap; }
            line += padded(cell_of(i), widths[i], columns_[i].align);
        }
        line.resize(line.find_last_not_of(' ') + 1);
        return line;
    };
    std::string out;
    const bool has_titles =
        std::ranges::any_of(columns_, [](const Column& column) { return !column.title.empty(); });
    if (has_titles) {
        out += paint(Ink::dim, line_of([&](std::size_t i) { return columns_[i].title; })) + '\n';
    }
    for (const auto& row : rows_) {
        out += line_of([&](std::size_t i) { return row[i]; }) + '\n';
    }
    return out;
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string with_commas(std::int64_t number) {
    std::string digits = std::to_string(number);
    const std::size_t sign = number < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > sign + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string plural(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", with_commas(count), noun, count == 1 ? "" : "s");
}

}  // namespace muster::cli
