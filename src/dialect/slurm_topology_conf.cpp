// topology.conf: one switch, block or list of block sizes a line, "Key=value" in any case, #
// comments, a line goes on behind a backslash.
#include "base/text.h"
#include "dialect/hostlist.h"
#include "dialect/slurm_blocks.h"
#include "dialect/slurm_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::dialect {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') { c = static_cast<char>(c - 'A' + 'a'); }
    }
    return out;
}

class Reader {
public:
    Reader(std::string_view file, std::string_view text) : file_(file), rest_(text) {}

    Result<TopologyFile> read() {
        while (!rest_.empty()) {
            const std::string line = next_line();
            if (const std::vector<std::string_view> fields = words(line); !fields.empty()) {
                MUSTER_CHECK(read_line(fields));
            }
        }
        if (!switches_.empty() && !blocks_.empty()) {
            return refuse_at(blocks_.front().place,
                             "found a block beside switches, expected one kind");
        }
        if (switches_.empty() && blocks_.empty()) {
            return refuse_at(std::string(file_),
                             "found no SwitchName and no BlockName, expected one at least");
        }
        if (!sizes_.place.empty() && blocks_.empty()) {
            return refuse_at(sizes_.place, "found BlockSizes beside switches, expected blocks");
        }
        return blocks_.empty() ? build_switches(switches_) : build_blocks(blocks_, sizes_);
    }

private:
    static tl::unexpected<Error> refuse_at(const std::string& place, std::string_view what) {
        return fail(Code::invalid, fmt::format("{}: {}", place, what));
    }
    tl::unexpected<Error> refuse(std::string_view what) const { return refuse_at(place_, what); }

    /// Without its comment, and with the lines that it goes on in.
    std::string next_line() {
        std::string joined;
        place_ = fmt::format("{} line {}", file_, line_ + 1);
        for (bool goes_on = true; goes_on && !rest_.empty();) {
            const std::size_t end = rest_.find('\n');
            std::string_view line = rest_.substr(0, end);
            rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
            ++line_;
            line = trim(line.substr(0, line.find('#')));
            goes_on = line.ends_with('\\');
            if (goes_on) { line.remove_suffix(1); }
            joined += line;
        }
        return joined;
    }

    Result<> read_line(const std::vector<std::string_view>& fields) {
        TopologyUnit unit{.place = place_};
        std::string kind;
        for (const std::string_view& field : fields) {
            const std::size_t equals = field.find('=');
            if (equals == std::string_view::npos) {
                return refuse(fmt::format("found \"{:.64}\", expected Key=value", field));
            }
            const std::string key = lower(field.substr(0, equals));
            const std::string_view value = field.substr(equals + 1);
            const bool is_first = &field == fields.data();
            if (is_first) {
                kind = key;
                unit.name = value;
                MUSTER_CHECK(check_kind(kind, unit.name));
                continue;
            }
            const bool is_known =
                (key == "nodes" && kind != "blocksizes") ||
                (kind == "switchname" && (key == "switches" || key == "linkspeed"));
            if (!is_known) {
                return refuse(
                    fmt::format("found {:.64}, expected {}", field, expected_behind(kind)));
            }
            if (key == "linkspeed") { continue; }
            std::vector<std::string>& names = key == "nodes" ? unit.nodes : unit.children;
            if (!names.empty()) {
                return refuse(fmt::format("found {:.64} a second time, expected it once", field));
            }
            auto expanded = expand_hostlist(value, hostlist_names_max - names_);
            if (!expanded) { return refuse(expanded.error().message); }
            names = std::move(*expanded);
            names_ += names.size();
        }
        return add(kind, std::move(unit));
    }

    static std::string_view expected_behind(std::string_view kind) {
        if (kind == "switchname") { return "Nodes=, Switches= or LinkSpeed="; }
        return kind == "blockname" ? "Nodes=" : "nothing more";
    }

    Result<> check_kind(std::string_view kind, std::string_view name) const {
        if (kind == "switchname" || kind == "blockname" || kind == "blocksizes") { return {}; }
        if (kind == "ringname") {
            return refuse(fmt::format(
                "ring {:.64}: a ring topology is not supported, expected switches or blocks",
                name));
        }
        return refuse(
            fmt::format("found \"{:.64}\", expected SwitchName, BlockName or BlockSizes", kind));
    }

    Result<> add(const std::string& kind, TopologyUnit unit) {
        if (kind == "blocksizes") { return add_sizes(unit.name); }
        (kind == "switchname" ? switches_ : blocks_).push_back(std::move(unit));
        return {};
    }

    Result<> add_sizes(const std::string& text) {
        if (!sizes_.place.empty()) {
            return refuse(
                fmt::format("found BlockSizes again, expected it once; it is at {}", sizes_.place));
        }
        sizes_.place = place_;
        for (const std::string_view part : split(text, ',')) {
            auto size = parse_int(part);
            if (!size) {
                return refuse(
                    fmt::format("found block size \"{:.64}\", expected a whole number", part));
            }
            sizes_.sizes.push_back(*size);
        }
        return {};
    }

    std::string_view file_;
    std::string_view rest_;
    std::size_t line_ = 0;
    std::size_t names_ = 0;  // expanded so far, in the whole file
    std::string place_;
    std::vector<TopologyUnit> switches_;
    std::vector<TopologyUnit> blocks_;
    BlockSizes sizes_;
};

}  // namespace

Result<TopologyFile> read_topology_conf(std::string_view file, std::string_view text) {
    if (text.size() > slurm_topology_bytes_max) {
        return fail(Code::limit, fmt::format("{}: found {} bytes, expected at most {}", file,
                                             text.size(), slurm_topology_bytes_max));
    }
    return Reader(file, text).read();
}

}  // namespace muster::dialect
