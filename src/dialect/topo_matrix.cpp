#include "dialect/topo_matrix.h"

#include "base/text.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace muster::dialect {

namespace {

/// Terminals get the header underlined: ESC [ … m.
std::string without_escapes(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\x1b') {
            plain.push_back(text[i]);
            continue;
        }
        while (i < text.size() && text[i] != 'm' && text[i] != '\n') { ++i; }
        if (i < text.size() && text[i] == '\n') { plain.push_back('\n'); }
    }
    return plain;
}

bool is_gpu(std::string_view name) { return name.starts_with("GPU") && name.size() > 3; }

/// "0-63,128-191", "0", "N/A".
bool is_affinity(std::string_view cell) {
    return cell == "N/A" || cell.find_first_not_of("0123456789-,") == std::string_view::npos;
}

struct Cell {
    Link link = Link::unknown;
    std::uint8_t nvlinks = 0;
};

std::optional<Cell> read_cell(std::string_view text) {
    constexpr std::pair<std::string_view, Link> codes[] = {
        {"X", Link::self},    {"PIX", Link::pix}, {"PXB", Link::pxb}, {"PHB", Link::phb},
        {"NODE", Link::node}, {"SYS", Link::sys}, {"SOC", Link::sys},  // SOC: before driver 384
    };
    for (const auto& [code, link] : codes) {
        if (text == code) { return Cell{link, 0}; }
    }
    if (!text.starts_with("NV")) { return std::nullopt; }
    const auto count = parse_int(text.substr(2));
    if (!count || *count < 1 || *count > 255) { return std::nullopt; }
    return Cell{Link::nvlink, static_cast<std::uint8_t>(*count)};
}

class Reader {
public:
    Reader(std::string_view file, std::string_view text) : file_(file), rest_(text) {}

    Result<TopoMatrix> read() {
        MUSTER_CHECK(read_header());
        for (std::size_t row = 0; row < names_.size(); ++row) { MUSTER_CHECK(read_row(row)); }
        MUSTER_CHECK(check_symmetry());
        MUSTER_CHECK(read_legend());
        add_nic_zones();
        return std::move(matrix_);
    }

private:
    [[nodiscard]] std::string place() const { return fmt::format("{} line {}", file_, line_); }
    [[nodiscard]] std::string place(std::size_t field) const {
        return fmt::format("{} line {}, field {}", file_, line_, field + 1);
    }
    [[nodiscard]] std::size_t size() const { return names_.size(); }
    [[nodiscard]] std::size_t gpus() const { return matrix_.gpu_numa.size(); }

    /// The next line that is not blank, as words; empty at the end.
    std::vector<std::string_view> next_words() {
        while (!rest_.empty()) {
            const std::size_t end = rest_.find('\n');
            std::vector<std::string_view> found = words(trim(rest_.substr(0, end)));
            rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
            ++line_;
            if (!found.empty()) { return found; }
        }
        return {};
    }

    Result<> read_header() {
        const std::vector<std::string_view> header = next_words();
        std::size_t at = 0;
        for (; at < header.size(); ++at) {
            const std::string_view name = header[at];
            if (name == "CPU" || name == "NUMA" || name == "GPU") { break; }
            if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
                return fail(Code::invalid,
                            fmt::format("{}: found {:.64} twice, expected each device once",
                                        place(at), name));
            }
            if (is_gpu(name)) {
                const std::string expected = fmt::format("GPU{}", gpus());
                if (name != expected || !matrix_.nics.empty()) {
                    return fail(
                        Code::invalid,
                        fmt::format("{}: found {:.64}, expected {}", place(at), name,
                                    matrix_.nics.empty() ? expected : "GPUs before network cards"));
                }
                matrix_.gpu_numa.push_back(-1);
            } else {
                matrix_.nics.push_back({.name = std::string(name.substr(0, name_bytes_max))});
            }
            names_.push_back(name);
        }
        if (gpus() == 0) {
            return fail(
                Code::invalid,
                fmt::format(
                    "{}: found {}, expected the header of `nvidia-smi topo -m`: GPU0 GPU1 …",
                    place(), header.empty() ? "no text" : fmt::format("\"{:.64}\"", header[0])));
        }
        if (gpus() > gpus_per_node_max || matrix_.nics.size() > nics_per_node_max) {
            return fail(
                Code::limit,
                fmt::format("{}: found {} GPUs and {} network cards, expected at most {} and {}",
                            place(), gpus(), matrix_.nics.size(), gpus_per_node_max,
                            nics_per_node_max));
        }
        return read_columns({header.begin() + static_cast<std::ptrdiff_t>(at), header.end()}, at);
    }

    Result<> read_columns(const std::vector<std::string_view>& rest, std::size_t field) {
        std::string columns;
        for (const std::string_view word : rest) {
            columns += fmt::format("{}{}", columns.empty() ? "" : " ", word);
        }
        for (const std::string_view known : {"", "CPU Affinity", "CPU Affinity NUMA Affinity",
                                             "CPU Affinity NUMA Affinity GPU NUMA ID"}) {
            if (columns != known) { continue; }
            column_count_ = known.empty() ? 0 : known.size() > 30 ? 3 : known.size() > 20 ? 2 : 1;
            return {};
        }
        return fail(Code::invalid, fmt::format("{}: found \"{:.64}\", expected CPU Affinity, NUMA "
                                               "Affinity, GPU NUMA ID or the end of the line",
                                               place(field), columns));
    }

    Result<> read_row(std::size_t row) {
        const std::vector<std::string_view> cells = next_words();
        if (cells.empty() || cells[0] != names_[row]) {
            return fail(Code::invalid,
                        fmt::format("{}: found {}, expected the row of {}", place(0),
                                    cells.empty() ? "the end" : fmt::format("\"{:.64}\"", cells[0]),
                                    names_[row]));
        }
        const bool has_columns = row < gpus();
        const std::size_t most = size() + 1 + (has_columns ? column_count_ : 0);
        if (cells.size() < size() + 1 || cells.size() > most) {
            return fail(Code::invalid,
                        fmt::format("{}: found {} fields, expected {} to {} for {}", place(),
                                    cells.size(), size() + 1, most, names_[row]));
        }
        for (std::size_t column = 0; column < size(); ++column) {
            const std::string_view text = cells[column + 1];
            const std::optional<Cell> cell = read_cell(text);
            const bool is_self = row == column;
            if (!cell || (cell->link == Link::self) != is_self) {
                return fail(Code::invalid,
                            fmt::format("{}: found \"{:.64}\", expected {}", place(column + 1),
                                        text, is_self ? "X" : "NV#, PIX, PXB, PHB, NODE or SYS"));
            }
            matrix_.links.paths.push_back(cell->link);
            matrix_.links.nvlinks.push_back(cell->nvlinks);
        }
        for (std::size_t field = size() + 1; field < cells.size(); ++field) {
            if (!is_affinity(cells[field])) {
                return fail(
                    Code::invalid,
                    fmt::format("{}: found \"{:.64}\", expected numbers like 0-63,128-191 or N/A",
                                place(field), cells[field]));
            }
        }
        if (cells.size() > size() + 2) { return read_zone(row, size() + 2, cells[size() + 2]); }
        return {};
    }

    Result<> read_zone(std::size_t gpu, std::size_t field, std::string_view cell) {
        const auto zone = parse_int(cell);
        if (!zone) { return {}; }  // "N/A", or several zones: no single one is known
        if (*zone < 0 || *zone >= static_cast<std::int64_t>(numa_zones_max)) {
            return fail(Code::limit, fmt::format("{}: found NUMA zone {}, expected 0 to {}",
                                                 place(field), *zone, numa_zones_max - 1));
        }
        matrix_.gpu_numa[gpu] = static_cast<std::int32_t>(*zone);
        return {};
    }

    [[nodiscard]] Result<> check_symmetry() const {
        for (std::size_t a = 0; a < size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const std::size_t there = a * size() + b;
                const std::size_t back = b * size() + a;
                if (matrix_.links.paths[there] != matrix_.links.paths[back] ||
                    matrix_.links.nvlinks[there] != matrix_.links.nvlinks[back]) {
                    return fail(Code::invalid, fmt::format("{}: found one path from {} to {} and "
                                                           "another one back, expected the same",
                                                           file_, names_[a], names_[b]));
                }
            }
        }
        return {};
    }

    /// "NIC Legend:", then "NIC0: mlx5_0". The legend of the codes before it is prose.
    Result<> read_legend() {
        bool is_legend = false;
        for (std::vector<std::string_view> line = next_words(); !line.empty();
             line = next_words()) {
            if (line[0] == "NIC" && line.size() == 2 && line[1] == "Legend:") {
                is_legend = true;
                continue;
            }
            if (!is_legend) { continue; }
            const auto nic = std::find_if(names_.begin() + static_cast<std::ptrdiff_t>(gpus()),
                                          names_.end(), [&](std::string_view name) {
                                              return line[0].size() == name.size() + 1 &&
                                                     line[0].starts_with(name) &&
                                                     line[0].ends_with(':');
                                          });
            if (nic == names_.end() || line.size() != 2 || line[1].size() > name_bytes_max) {
                return fail(Code::invalid, fmt::format("{}: found \"{:.64}\", expected a line of "
                                                       "the NIC legend such as NIC0: mlx5_0",
                                                       place(), line[0]));
            }
            matrix_.nics[static_cast<std::size_t>(nic - names_.begin()) - gpus()].name = line[1];
        }
        return {};
    }

    void add_nic_zones() {
        for (std::size_t nic = 0; nic < matrix_.nics.size(); ++nic) {
            Link nearest = Link::sys;
            for (std::size_t gpu = 0; gpu < gpus(); ++gpu) {
                const Link link = matrix_.links.paths[(gpus() + nic) * size() + gpu];
                if (link < nearest && matrix_.gpu_numa[gpu] >= 0) {
                    nearest = link;
                    matrix_.nics[nic].numa = matrix_.gpu_numa[gpu];
                }
            }
        }
    }

    std::string_view file_;
    std::string_view rest_;
    std::size_t line_ = 0;
    std::vector<std::string_view> names_;
    std::size_t column_count_ = 0;
    TopoMatrix matrix_;
};

}  // namespace

Result<TopoMatrix> read_topo_matrix(std::string_view file, std::string_view text) {
    if (text.size() > topo_matrix_bytes_max) {
        return fail(Code::limit, fmt::format("{}: found {} bytes, expected at most {}", file,
                                             text.size(), topo_matrix_bytes_max));
    }
    const std::string plain = without_escapes(text);
    return Reader(file, plain).read();
}

Result<> apply_topo_matrix(const TopoMatrix& matrix, NodeSpec& node) {
    if (matrix.gpu_numa.size() != node.gpus.size()) {
        return fail(Code::conflict,
                    fmt::format("node {}: found a matrix of {} GPUs, expected {}", node.name,
                                matrix.gpu_numa.size(), node.gpus.size()));
    }
    for (std::size_t i = 0; i < node.gpus.size(); ++i) { node.gpus[i].numa = matrix.gpu_numa[i]; }
    node.nics = matrix.nics;
    node.links = matrix.links;
    return {};
}

}  // namespace muster::dialect
