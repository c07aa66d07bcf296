#include "base/text.h"
#include "codec/scenario_specs.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

namespace muster::scenario {

namespace {

constexpr std::pair<Link, std::string_view> link_names[] = {
    {Link::self, "X"},    {Link::pix, "PIX"}, {Link::pxb, "PXB"},   {Link::phb, "PHB"},
    {Link::node, "NODE"}, {Link::sys, "SYS"}, {Link::unknown, "?"},
};

/// Path and number of NVLinks of one cell.
Result<std::pair<Link, std::uint8_t>> read_cell(std::string_view text) {
    if (text.starts_with("NV")) {
        MUSTER_TRY(count, parse_int("links", text.substr(2), 0, UINT8_MAX));
        return std::pair{Link::nvlink, static_cast<std::uint8_t>(count)};
    }
    for (const auto& [link, name] : link_names) {
        if (name == text) { return std::pair{link, std::uint8_t{0}}; }
    }
    return fail(
        Code::invalid,
        fmt::format("links: unknown path '{}'; expected one of: X, NV1…NV255, PIX, PXB, PHB, "
                    "NODE, SYS, ?",
                    text));
}

/// Clique of every GPU: the index of the range that names it, or none.
Result<std::vector<std::optional<std::size_t>>> read_cliques(const Word& word, std::size_t gpus) {
    std::vector<std::optional<std::size_t>> clique_of(gpus);
    if (word.is("all")) {
        clique_of.assign(gpus, std::size_t{0});
        return clique_of;
    }
    const auto last_gpu = static_cast<std::int64_t>(gpus) - 1;
    const std::vector<Word> cliques = word.split(',');
    for (std::size_t clique = 0; clique < cliques.size(); ++clique) {
        const std::size_t dash = cliques[clique].find('-');
        const std::string& text = cliques[clique].text;
        MUSTER_TRY(low, parse_int("nvlink", text.substr(0, dash), 0, last_gpu));
        MUSTER_TRY(
            high, parse_int("nvlink", dash == std::string::npos ? text : text.substr(dash + 1), low,
                            last_gpu));
        for (auto gpu = static_cast<std::size_t>(low); gpu <= static_cast<std::size_t>(high);
             ++gpu) {
            if (clique_of[gpu]) {
                return fail(Code::invalid, fmt::format("nvlink: GPU {} is in two cliques", gpu));
            }
            clique_of[gpu] = clique;
        }
    }
    return clique_of;
}

}  // namespace

Result<LinkMatrix> read_links(const Word& word, std::size_t device_count) {
    LinkMatrix links;
    const std::vector<Word> rows = word.split('/');
    if (rows.size() != device_count) {
        return fail(Code::invalid, fmt::format("links: {} rows; expected {}, one per GPU and NIC",
                                               rows.size(), device_count));
    }
    for (const Word& row : rows) {
        const std::vector<Word> cells = row.split(',');
        if (cells.size() != device_count) {
            return fail(Code::invalid,
                        fmt::format("links: {} cells in a row; expected {}, one per GPU and NIC",
                                    cells.size(), device_count));
        }
        for (const Word& cell : cells) {
            MUSTER_TRY(path, read_cell(cell.text));
            links.paths.push_back(path.first);
            links.nvlinks.push_back(path.second);
        }
    }
    return links;
}

std::string write_links(const LinkMatrix& links, std::size_t device_count) {
    std::string out;
    for (std::size_t i = 0; i < links.paths.size(); ++i) {
        if (i != 0) { out += i % device_count == 0 ? '/' : ','; }
        if (links.paths[i] == Link::nvlink) { out += fmt::format("NV{}", links.nvlinks[i]); }
        for (const auto& [link, name] : link_names) {
            if (link == links.paths[i]) { out += name; }
        }
    }
    return out;
}

Result<LinkMatrix> read_nvlink(const Word& word, const NodeSpec& node) {
    constexpr std::uint8_t nvlink_count = 18;
    MUSTER_TRY(clique_of, read_cliques(word, node.gpus.size()));
    const std::size_t devices = node.gpus.size() + node.nics.size();
    const auto zone_of = [&](std::size_t device) {
        return device < node.gpus.size() ? node.gpus[device].numa
                                         : node.nics[device - node.gpus.size()].numa;
    };
    LinkMatrix links;
    for (std::size_t from = 0; from < devices; ++from) {
        for (std::size_t to = 0; to < devices; ++to) {
            const bool are_gpus = from < node.gpus.size() && to < node.gpus.size();
            const bool is_nvlink =
                from != to && are_gpus && clique_of[from] && clique_of[from] == clique_of[to];
            links.nvlinks.push_back(is_nvlink ? nvlink_count : std::uint8_t{0});
            links.paths.push_back(from == to                     ? Link::self
                                  : is_nvlink                    ? Link::nvlink
                                  : zone_of(from) == zone_of(to) ? Link::node
                                                                 : Link::sys);
        }
    }
    return links;
}

}  // namespace muster::scenario
