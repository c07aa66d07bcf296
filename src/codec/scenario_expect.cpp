// Reader: what must have come of it.
#include "base/text.h"
#include "codec/plan_names.h"
#include "codec/scenario_reader.h"
#include "model/limits.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace muster::scenario {

namespace {

constexpr std::string_view forms =
    "expected: expect GANG runs …, expect GANG on NODE …, expect GANG waits …, expect N of GANGS "
    "run, expect no change, or expect refused";

template <class Enum>
Result<Enum> read_enum(const Attribute& attribute, std::string_view name) {
    const auto value = value_of<Enum>(name);
    if (!value) {
        return fail(Code::invalid,
                    fmt::format("{}: unknown '{}'; expected one of: {}", attribute.key.text, name,
                                fmt::join(names_of<Enum>(), ", ")));
    }
    return *value;
}

Result<> read_wait(ExpectWaits& expected, const Attribute& attribute) {
    if (attribute.is("like")) {
        expected.part = attribute.value.text;
    } else if (attribute.is("why")) {
        MUSTER_TRY(why, read_enum<Why>(attribute, attribute.value.text));
        expected.why = why;
    } else if (attribute.is("link")) {
        MUSTER_TRY(link, read_enum<ChainLink>(attribute, attribute.value.text));
        expected.link = link;
    } else if (attribute.is("have")) {
        MUSTER_TRY(have, read_count(attribute, 0, INT64_MAX));
        expected.have = have;
    } else if (attribute.is("needed")) {
        MUSTER_TRY(needed, read_count(attribute, 0, INT64_MAX));
        expected.needed = needed;
    } else if (attribute.is("closest")) {
        expected.closest = attribute.value.text;
    } else if (attribute.has_prefix("cause")) {
        MUSTER_TRY(cause, read_enum<Cause>(attribute, attribute.behind("cause")));
        MUSTER_TRY(nodes, read_count(attribute, 0, INT64_MAX));
        expected.causes.push_back({.cause = cause, .nodes = nodes});
    } else {
        return unknown_key(attribute, "like, why, link, have, needed, closest, cause.NAME");
    }
    return {};
}

std::vector<std::string> names_of_subjects(const std::vector<Subject>& subjects) {
    std::vector<std::string> names;
    for (const Subject& subject : subjects) { names.push_back(subject.workload); }
    return names;
}

}  // namespace

Result<bool> read_devices(ExpectTask& devices, const Attribute& attribute) {
    if (attribute.is("gpus")) {
        std::uint64_t bits = 0;
        for (const Word& item : attribute.value.split(',')) {
            if (attribute.value.text.empty()) { break; }
            MUSTER_TRY(index, read_count({attribute.key, item}, 0,
                                         static_cast<std::int64_t>(gpus_per_node_max) - 1));
            bits |= std::uint64_t{1} << index;
        }
        devices.gpus = bits;
    } else if (attribute.is("mig")) {
        std::vector<MigSlot> slots;
        for (const Word& item : attribute.value.split(',')) {
            const std::size_t colon = std::min(item.find(':'), item.text.size());
            MUSTER_TRY(gpu, read_count({attribute.key, item.part(0, colon)}, 0,
                                       static_cast<std::int64_t>(gpus_per_node_max) - 1));
            const Word behind = colon < item.text.size() ? item.part(colon + 1) : Word{};
            MUSTER_TRY(start, read_count({attribute.key, behind}, 0, 7));
            slots.push_back({static_cast<std::uint8_t>(gpu), static_cast<std::uint8_t>(start)});
        }
        devices.mig = std::move(slots);
    } else if (attribute.is("numa")) {
        MUSTER_TRY(zone, read_count(attribute, -1, static_cast<std::int64_t>(numa_zones_max) - 1));
        devices.numa = zone;
    } else {
        return false;
    }
    return true;
}

Result<> Reader::read_expect(Words words) {
    if (words.empty()) { return fail(Code::invalid, std::string(forms)); }
    if (words.size() == 2 && words[0].is("no") && words[1].is("change")) {
        add(ExpectNoChange{});
        return {};
    }
    if (words[0].is("refused") && words.size() <= 2) {
        add(ExpectRefused{.part = words.size() == 2 ? words[1].text : ""});
        return {};
    }
    if (words.size() == 4 && words[1].is("of") && words[3].is("run")) {
        MUSTER_TRY(subjects, read_subjects(words[2], false));
        MUSTER_TRY(count, parse_int("expect", words[0].text, 0,
                                    static_cast<std::int64_t>(subjects.size())));
        for (const Subject& subject : subjects) {
            if (subject.is_task) { return fail(Code::invalid, "expected gangs, not tasks"); }
        }
        add(ExpectCount{.count = count, .workloads = names_of_subjects(subjects)});
        return {};
    }
    if (words.size() < 2) { return fail(Code::invalid, std::string(forms)); }
    MUSTER_TRY(subjects, read_subjects(words[0], false));
    const bool is_task = subjects.front().is_task;
    for (const Subject& subject : subjects) {
        if (subject.is_task != is_task) {
            return fail(Code::invalid, "gangs and tasks in one line; expected one kind");
        }
    }
    if (is_task) { return read_expect_tasks(subjects, words.subspan(1)); }
    if (words[1].is("waits") || words[1].is("wait")) {
        return read_expect_waits(subjects, words.subspan(2));
    }
    if (words[1].is("runs") || words[1].is("run")) {
        return read_expect_runs(subjects, words.subspan(2));
    }
    if (words[1].is("on")) { return read_expect_runs(subjects, words.subspan(1)); }
    return fail(Code::invalid, fmt::format("'{}'; {}", words[1].text, forms));
}

Result<> Reader::read_expect_runs(const std::vector<Subject>& subjects, Words words) {
    ExpectRuns expected;
    expected.workloads = names_of_subjects(subjects);
    std::vector<Word> plain;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool is_pair = words[i].is("in") || words[i].is("on");
        if (is_pair && i + 1 == words.size()) {
            return fail(Code::invalid,
                        fmt::format("'{}' at the end; expected a name behind it", words[i].text));
        }
        if (words[i].is("in") && !expected.domain) {
            expected.domain = words[++i].text;
        } else if (words[i].is("on") && !expected.nodes) {
            MUSTER_TRY(nodes, known_nodes(words[++i]));
            std::ranges::sort(nodes);
            expected.nodes = std::move(nodes);
        } else {
            plain.push_back(words[i]);
        }
    }
    MUSTER_TRY(attributes, read_attributes(plain, {}));
    for (const Attribute& attribute : attributes) {
        if (attribute.is("tasks")) {
            MUSTER_TRY(tasks, read_count(attribute, 0, INT64_MAX));
            expected.tasks = tasks;
        } else if (attribute.is("crossings")) {
            MUSTER_TRY(crossings, read_count(attribute, 0, INT32_MAX));
            expected.crossings = crossings;
        } else {
            return unknown_key(attribute, "tasks, crossings; or the words: in DOMAIN, on NODES");
        }
    }
    add(std::move(expected));
    return {};
}

Result<> Reader::read_expect_tasks(const std::vector<Subject>& subjects, Words words) {
    ExpectTask expected;
    std::vector<std::string> nodes = {""};
    const bool is_waiting = words[0].is("waits") || words[0].is("wait");
    if (!is_waiting) {
        if (!words[0].is("on") || words.size() < 2) {
            return fail(Code::invalid, "expected: expect GANG/TASK on NODE, or GANG/TASK waits");
        }
        MUSTER_TRY(known, known_nodes(words[1]));
        nodes = std::move(known);
        if (nodes.empty() || subjects.size() % nodes.size() != 0) {
            return fail(Code::invalid, fmt::format("{} nodes for {} tasks; expected a divisor",
                                                   nodes.size(), subjects.size()));
        }
    }
    MUSTER_TRY(attributes, read_attributes(words.subspan(is_waiting ? 1 : 2), {}));
    for (const Attribute& attribute : attributes) {
        MUSTER_TRY(is_known, read_devices(expected, attribute));
        if (!is_known || is_waiting) {
            return unknown_key(attribute, "gpus, mig, numa of a placed task");
        }
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        expected.workload = subjects[i].workload;
        expected.task = subjects[i].task;
        expected.node = nodes[i * nodes.size() / subjects.size()];
        add(expected);
    }
    return {};
}

Result<> Reader::read_expect_waits(const std::vector<Subject>& subjects, Words words) {
    ExpectWaits expected;
    expected.workloads = names_of_subjects(subjects);
    if (!words.empty() && words[0].is_quoted) {
        expected.text = words[0].text;
        words = words.subspan(1);
    }
    MUSTER_TRY(attributes, read_attributes(words, {}));
    for (const Attribute& attribute : attributes) { MUSTER_CHECK(read_wait(expected, attribute)); }
    add(std::move(expected));
    return {};
}

}  // namespace muster::scenario
