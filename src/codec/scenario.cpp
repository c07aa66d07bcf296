#include "codec/scenario.h"

#include "base/text.h"
#include "codec/scenario_reader.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <utility>

namespace muster {

Result<Scenario> read_scenario(std::string_view file, std::string_view text) {
    scenario::Reader reader;
    if (auto done = reader.read(text); !done) {
        return tl::unexpected(
            std::move(done.error()).wrap(fmt::format("{}:{}", file, reader.line())));
    }
    return reader.take();
}

namespace scenario {

namespace {

constexpr std::string_view statements =
    "levels, node, queue, lease, gang, pod, mix, replace, set, fail, heal, cordon, uncordon, "
    "delete, "
    "finish, lose, bind, time, cycle, expect, show";

}  // namespace

Result<> Reader::read(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view raw = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        ++number;
        if (raw.ends_with('\r')) { raw.remove_suffix(1); }

        line_ = number;
        if (raw.starts_with('|')) {
            MUSTER_CHECK(read_golden(raw));
            continue;
        }
        may_have_golden_ = false;
        Line line;
        line.number = number;
        line.indent = std::min(raw.find_first_not_of(' '), raw.size());
        MUSTER_TRY(words, read_words(raw));
        line.words = std::move(words);
        if (line.words.empty()) { continue; }
        if (line.indent < raw.size() && raw[line.indent] == '\t') {
            return fail(Code::invalid, "a tab in the indent; expected spaces");
        }
        MUSTER_CHECK(read_line(line));
        if (scenario_.commands.size() > scenario_commands_max) {
            return fail(Code::limit, fmt::format("over {} commands", scenario_commands_max));
        }
    }
    return end_workload();
}

Result<> Reader::read_line(const Line& line) {
    if (line.indent > 0) { return read_group(line); }
    MUSTER_CHECK(end_workload());
    line_ = line.number;
    const Words all = line.words;
    MUSTER_TRY(is_declaration, read_declaration(all, ""));
    if (is_declaration) { return {}; }
    MUSTER_TRY(is_change, read_change(all));
    if (is_change) { return {}; }
    MUSTER_TRY(is_run, read_run(all));
    if (is_run) { return {}; }
    return fail(Code::invalid,
                fmt::format("unknown word '{}'; expected one of: {}", all[0].text, statements));
}

Result<bool> Reader::read_declaration(Words words, std::string_view how) {
    const bool is_replacing = how == "replace";
    const Word& what = words[0];
    const Words rest = words.subspan(1);
    if (what.is("node")) {
        MUSTER_CHECK(read_node(rest, is_replacing));
    } else if (what.is("queue")) {
        MUSTER_CHECK(read_queue(rest, is_replacing));
    } else if (what.is("gang") || what.is("pod")) {
        MUSTER_CHECK(read_workload(rest, is_replacing));
    } else if (!is_replacing && what.is("levels")) {
        MUSTER_CHECK(read_levels(rest));
    } else if (!is_replacing && what.is("lease")) {
        MUSTER_CHECK(read_lease(rest));
    } else if (!is_replacing && what.is("mix")) {
        MUSTER_CHECK(read_policy_mix(rest));
    } else if (!is_replacing && what.is("replace")) {
        if (rest.empty()) {
            return fail(Code::invalid, "'replace' alone; expected node, queue, gang or pod");
        }
        MUSTER_TRY(is_known, read_declaration(rest, "replace"));
        if (!is_known) {
            return fail(
                Code::invalid,
                fmt::format("replace '{}'; expected node, queue, gang or pod", rest[0].text));
        }
    } else {
        return false;
    }
    return true;
}

Result<bool> Reader::read_change(Words words) {
    const Word& what = words[0];
    const Words rest = words.subspan(1);
    if (what.is("set")) {
        MUSTER_CHECK(read_set(rest));
    } else if (what.is("fail") || what.is("heal")) {
        MUSTER_CHECK(read_health(rest, what.is("heal")));
    } else if (what.is("cordon") || what.is("uncordon")) {
        MUSTER_CHECK(read_cordon(rest, what.is("cordon")));
    } else if (what.is("delete")) {
        MUSTER_CHECK(read_delete(rest));
    } else if (what.is("finish") || what.is("lose")) {
        MUSTER_CHECK(read_task_gone(rest, what.is("finish")));
    } else if (what.is("bind")) {
        MUSTER_CHECK(read_bind(rest));
    } else {
        return false;
    }
    return true;
}

Result<bool> Reader::read_run(Words words) {
    const Word& what = words[0];
    const Words rest = words.subspan(1);
    if (what.is("time")) {
        MUSTER_CHECK(read_time(rest));
    } else if (what.is("cycle")) {
        MUSTER_CHECK(read_cycle(rest));
    } else if (what.is("expect")) {
        MUSTER_CHECK(read_expect(rest));
    } else if (what.is("show")) {
        MUSTER_CHECK(read_show(rest));
    } else {
        return false;
    }
    return true;
}

Result<> Reader::read_time(Words words) {
    constexpr std::int64_t now_max = std::int64_t{1} << 52;
    if (words.size() != 1) { return fail(Code::invalid, "expected: time +30s, or time 90s"); }
    const bool is_relative = words[0].text.starts_with('+');
    MUSTER_TRY(duration,
               read_duration(std::string_view(words[0].text).substr(is_relative ? 1 : 0)));
    const std::int64_t next = is_relative ? now_ + duration : duration;
    if (next < now_) {
        return fail(Code::invalid, fmt::format("time falls from {}ms to {}ms", now_, next));
    }
    if (next > now_max) { return fail(Code::limit, "time is too far away"); }
    now_ = next;
    add(Fact(TimeIs{now_}));
    return {};
}

Result<> Reader::read_cycle(Words words) {
    RunCycles cycles;
    if (words.size() > 1) { return fail(Code::invalid, "expected: cycle [N]"); }
    if (!words.empty()) {
        MUSTER_TRY(count, parse_int("cycle", words[0].text, 1, scenario_cycles_max));
        cycles.count = count;
    }
    has_cycled_ = true;
    add(cycles);
    return {};
}

Result<> Reader::read_show(Words words) {
    constexpr std::pair<std::string_view, Shown> names[] = {{"topology", Shown::topology},
                                                            {"queues", Shown::queues},
                                                            {"plan", Shown::plan},
                                                            {"waiting", Shown::waiting},
                                                            {"shapes", Shown::shapes}};
    for (const auto& [name, what] : names) {
        if (words.size() == 1 && words[0].is(name)) {
            add(Show{.what = what, .golden = {}});
            may_have_golden_ = true;
            return {};
        }
    }
    return fail(Code::invalid,
                fmt::format("show '{}'; expected one of: topology, queues, plan, waiting, shapes",
                            words.empty() ? "" : words[0].text));
}

Result<> Reader::read_golden(std::string_view line) {
    if (!may_have_golden_) {
        return fail(Code::invalid, "a '|' line; expected it directly below `show`");
    }
    line.remove_prefix(line.starts_with("| ") ? 2 : 1);
    std::get<Show>(scenario_.commands.back().action).golden.emplace_back(line);
    return {};
}

void Reader::add(Action action) {
    scenario_.commands.push_back({.line = line_, .action = std::move(action)});
}

}  // namespace scenario

}  // namespace muster
