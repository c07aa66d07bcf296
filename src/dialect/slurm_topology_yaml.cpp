// topology.yaml: a list of topologies, of which one is used.
#include "codec/field.h"
#include "codec/tree.h"
#include "dialect/hostlist.h"
#include "dialect/slurm_blocks.h"
#include "dialect/slurm_topology.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

namespace muster::dialect {

namespace {

constexpr std::int64_t block_size_max = 1'000'000;
constexpr std::size_t topologies_max = 64;
constexpr std::array<std::string_view, 5> kinds{"tree", "block", "ring", "torus3d", "flat"};

/// One topology of the file, read if its kind is known.
struct Named {
    std::string name;
    std::string kind;
    std::string place;
    bool is_default = false;
    std::vector<TopologyUnit> units;
    BlockSizes sizes;
};

/// `names` counts all names of the file.
std::vector<std::string> names_of(const Field& field, std::size_t& names) {
    if (!field.is_present()) { return {}; }
    const std::string_view text = field.text();
    if (!field.is_text()) { return {}; }
    auto expanded = expand_hostlist(text, hostlist_names_max - names);
    if (expanded) {
        names += expanded->size();
        return std::move(*expanded);
    }
    field.refuse(expanded.error().message);
    return {};
}

/// Where the members of an object and the items of a list stand, without asking the document for
/// each.
const Lines& lines_below(const Field& object, const Lines& lines, std::string_view key) {
    std::size_t index = 0;
    for (const auto& [name, member] : object.members()) {
        if (name == key && index < lines.children.size()) { return lines.children[index]; }
        ++index;
    }
    return lines;
}

struct UnitList {
    Field list;
    const Lines& lines;
    std::string_view name_key;
    bool has_children = false;
};

std::vector<TopologyUnit> units_of(const UnitList& from, std::size_t& names) {
    std::vector<TopologyUnit> units;
    if (!from.list.is_present()) { from.list.expected("a list"); }
    const std::string file(from.list.document().file);
    for (const Field& item : from.list.items()) {
        if (from.has_children) {
            item.refuse_others({from.name_key, "children", "nodes"});
        } else {
            item.refuse_others({from.name_key, "nodes"});
        }
        const bool has_line = units.size() < from.lines.children.size();
        const int line = has_line ? from.lines.children[units.size()].line : from.lines.line;
        TopologyUnit unit{.name = std::string(item[from.name_key].name()),
                          .nodes = names_of(item["nodes"], names),
                          .place = fmt::format("{}:{}", file, line)};
        if (from.has_children) { unit.children = names_of(item["children"], names); }
        units.push_back(std::move(unit));
    }
    return units;
}

BlockSizes sizes_of(const Field& list) {
    BlockSizes sizes;
    if (!list.is_present()) { return sizes; }
    sizes.place = list.place().text();
    for (const Field& item : list.items()) {
        sizes.sizes.push_back(item.integer(1, block_size_max, 1));
    }
    return sizes;
}

Named read_named(const Field& item, const Lines& lines, std::size_t& names) {
    Named named{.name = std::string(item["topology"].name()), .place = item.place().text()};
    named.is_default = item["cluster_default"].boolean();
    item.refuse_others({"topology", "cluster_default", "tree", "block", "ring", "torus3d", "flat"});
    for (const std::string_view kind : kinds) {
        if (!item[kind].is_present()) { continue; }
        if (!named.kind.empty()) {
            item[kind].refuse(fmt::format("stands beside {}, expected one of them", named.kind));
        }
        named.kind = kind;
    }
    if (named.kind.empty()) { item.expected("one of tree, block, ring, torus3d, flat"); }
    if (named.kind == "tree") {
        item["tree"].refuse_others({"switches"});
        const Lines& tree = lines_below(item, lines, "tree");
        named.units = units_of({.list = item["tree"]["switches"],
                                .lines = lines_below(item["tree"], tree, "switches"),
                                .name_key = "switch",
                                .has_children = true},
                               names);
    }
    if (named.kind == "block") {
        item["block"].refuse_others({"block_sizes", "blocks"});
        const Lines& block = lines_below(item, lines, "block");
        named.units = units_of({.list = item["block"]["blocks"],
                                .lines = lines_below(item["block"], block, "blocks"),
                                .name_key = "block"},
                               names);
        named.sizes = sizes_of(item["block"]["block_sizes"]);
    }
    return named;
}

Result<std::vector<Named>> read_all(std::string_view file, const std::string& text) {
    MUSTER_TRY(trees, parse_yaml(file, text));
    if (trees.size() != 1) {
        return fail(Code::invalid,
                    fmt::format("{}: found {} documents, expected 1", file, trees.size()));
    }
    Faults faults;
    const Document document{
        .file = file, .root = &value_of(*trees[0]), .lines = lines_of(*trees[0])};
    const Field root(document, faults);
    std::size_t names = 0;
    std::vector<Named> all;
    const std::vector<Field> items = root.items();
    if (items.size() > topologies_max) {
        return fail(Code::limit, fmt::format("{}: found {} topologies, expected at most {}", file,
                                             items.size(), topologies_max));
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Field& item = items[i];
        const Lines& lines =
            i < document.lines->children.size() ? document.lines->children[i] : *document.lines;
        Named named = read_named(item, lines, names);
        for (const Named& other : all) {
            if (other.name == named.name) {
                item.refuse(fmt::format("topology {} is there already", named.name));
            }
            if (other.is_default && named.is_default) {
                item.refuse(
                    fmt::format("topology {} is the cluster's default already", other.name));
            }
        }
        all.push_back(std::move(named));
    }
    if (all.empty()) { root.expected("a list of topologies"); }
    if (!faults.is_empty()) { return tl::unexpected(faults.error()); }
    return all;
}

}  // namespace

Result<TopologyFile> read_topology_yaml(std::string_view file, const std::string& text,
                                        std::string_view topology) {
    if (text.size() > slurm_topology_bytes_max) {
        return fail(Code::limit, fmt::format("{}: found {} bytes, expected at most {}", file,
                                             text.size(), slurm_topology_bytes_max));
    }
    MUSTER_TRY(all, read_all(file, text));
    std::size_t chosen = topology.empty() ? 0 : all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (topology.empty() ? all[i].is_default : all[i].name == topology) { chosen = i; }
    }
    if (chosen == all.size()) {
        return fail(Code::not_found, fmt::format("{}: found no topology {}", file, topology));
    }
    std::optional<TopologyFile> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Named& named = all[i];
        const bool is_supported = named.kind == "tree" || named.kind == "block";
        if (!is_supported && i == chosen) {
            return fail(
                Code::invalid,
                fmt::format(
                    "{}: topology {}: a {} topology is not supported, expected a tree or blocks",
                    named.place, named.name, named.kind));
        }
        if (!is_supported) { continue; }
        MUSTER_TRY(read, named.kind == "tree" ? build_switches(named.units)
                                              : build_blocks(named.units, named.sizes));
        if (i == chosen) { result = std::move(read); }
    }
    return std::move(*result);
}

}  // namespace muster::dialect
