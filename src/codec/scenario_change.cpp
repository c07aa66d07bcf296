// Reader: what happens to nodes, queues, gangs and tasks that are there.
#include "base/text.h"
#include "codec/scenario_reader.h"
#include "model/limits.h"
#include "model/rest_of_gang.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace muster::scenario {

namespace {

/// "unknown node 'x'; known: a, b, c …"
template <class Map>
tl::unexpected<Error> unknown(std::string_view what, std::string_view name, const Map& map) {
    constexpr std::size_t shown_max = 12;
    std::vector<std::string_view> known;
    for (const auto& [key, value] : map) {
        if (known.size() == shown_max) {
            known.push_back("…");
            break;
        }
        known.push_back(key);
    }
    return fail(Code::invalid,
                fmt::format("unknown {} '{}'; known: {}", what, name, fmt::join(known, ", ")));
}

std::int64_t task_count(const WorkloadSpec& workload) {
    std::vector<bool> has_children(workload.groups.size());
    for (const GroupSpec& group : workload.groups) {
        if (group.parent >= 0) { has_children[static_cast<std::size_t>(group.parent)] = true; }
    }
    std::int64_t tasks = 0;
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        if (!has_children[i]) { tasks += workload.groups[i].count; }
    }
    return tasks;
}

}  // namespace

Result<std::vector<std::string>> Reader::known_nodes(const Word& word) const {
    MUSTER_TRY(names, expand_list(word, scenario_names_max));
    for (const std::string& name : names) {
        if (!nodes_.contains(name)) { return unknown("node", name, nodes_); }
    }
    return std::move(names);
}

Result<std::vector<Subject>> Reader::read_subjects(const Word& word, bool is_alive) const {
    MUSTER_TRY(names, expand_list(word, scenario_names_max));
    std::vector<Subject> subjects;
    for (const std::string& name : names) {
        Subject subject{.workload = name};
        const std::size_t slash = name.rfind('/');
        if (!workloads_.contains(name) && slash != std::string::npos) {
            subject.workload = name.substr(0, slash);
            subject.is_task = true;
        }
        const auto known = workloads_.find(subject.workload);
        if (known == workloads_.end()) { return unknown("gang", name, workloads_); }
        if (is_alive && !alive_.contains(subject.workload)) {
            return fail(Code::invalid, fmt::format("gang '{}' is gone", subject.workload));
        }
        if (subject.is_task) {
            MUSTER_TRY(task, parse_int(name, std::string_view(name).substr(slash + 1), 0,
                                       task_count(known->second) - 1));
            subject.task = static_cast<std::uint32_t>(task);
        }
        subjects.push_back(std::move(subject));
    }
    return subjects;
}

Result<> Reader::read_set(Words words) {
    if (words.size() < 2) {
        return fail(Code::invalid, "expected: set [node|queue|gang] NAME key=value …");
    }
    const bool has_kind = words[1].find('=') == std::string::npos;
    if (!has_kind || words[0].is("node")) { return set_node(words.subspan(has_kind ? 1 : 0)); }
    if (words[0].is("queue")) { return set_queue(words.subspan(1)); }
    if (words[0].is("gang") || words[0].is("pod")) { return set_workload(words.subspan(1)); }
    return fail(Code::invalid,
                fmt::format("set '{}'; expected node, queue or gang", words[0].text));
}

Result<> Reader::set_node(Words words) {
    MUSTER_TRY(names, known_nodes(words[0]));
    MUSTER_TRY(attributes, read_attributes(words.subspan(1), {"taint"}));
    for (const std::string& name : names) {
        NodeSpec& node = nodes_.at(name);
        MUSTER_CHECK(change_node(node, attributes, levels_));
        add(Fact(NodeSet{node}));
    }
    return {};
}

Result<> Reader::set_queue(Words words) {
    const auto found = queues_.find(words[0].text);
    if (found == queues_.end()) { return unknown("queue", words[0].text, queues_); }
    QueueSpec queue = found->second;
    MUSTER_TRY(attributes, read_attributes(words.subspan(1), {}));
    MUSTER_CHECK(change_queue(queue, attributes));
    MUSTER_CHECK(check_queue_tree(queue));
    found->second = queue;
    add(Fact(QueueSet{std::move(queue)}));
    return {};
}

/// `fail node a`, `fail gpu a:3`, `fail gpu a:0,1`.
Result<> Reader::read_health(Words words, bool is_healthy) {
    if (words.size() != 2 || (!words[0].is("node") && !words[0].is("gpu"))) {
        return fail(Code::invalid, "expected: fail node NAME, or fail gpu NODE:INDEX");
    }
    if (words[0].is("node")) {
        MUSTER_TRY(names, known_nodes(words[1]));
        for (const std::string& name : names) {
            NodeSpec& node = nodes_.at(name);
            node.is_ready = is_healthy;
            add(Fact(NodeSet{node}));
        }
        return {};
    }
    const std::size_t colon = words[1].find(':');
    if (colon == std::string::npos) {
        return fail(Code::invalid, fmt::format("gpu '{}'; expected NODE:INDEX", words[1].text));
    }
    MUSTER_TRY(names, known_nodes(words[1].part(0, colon)));
    for (const std::string& name : names) {
        NodeSpec& node = nodes_.at(name);
        for (const Word& item : words[1].part(colon + 1).split(',')) {
            MUSTER_TRY(index, parse_int("gpu of " + name, item.text, 0,
                                        static_cast<std::int64_t>(node.gpus.size()) - 1));
            node.gpus[static_cast<std::size_t>(index)].is_healthy = is_healthy;
            add(Fact(GpuHealth{name, static_cast<std::uint32_t>(index), is_healthy}));
        }
    }
    return {};
}

Result<> Reader::read_cordon(Words words, bool is_cordoned) {
    if (words.size() != 1) { return fail(Code::invalid, "expected: cordon NODE"); }
    MUSTER_TRY(names, known_nodes(words[0]));
    for (const std::string& name : names) {
        NodeSpec& node = nodes_.at(name);
        node.is_cordoned = is_cordoned;
        add(Fact(NodeSet{node}));
    }
    return {};
}

Result<> Reader::read_delete(Words words) {
    if (words.size() != 2) { return fail(Code::invalid, "expected: delete node|queue|gang NAME"); }
    if (words[0].is("node")) {
        MUSTER_TRY(names, known_nodes(words[1]));
        for (const std::string& name : names) {
            if (nodes_.erase(name) == 0) { return unknown("node", name, nodes_); }
            add(Fact(NodeGone{name}));
        }
        return {};
    }
    if (words[0].is("queue")) {
        if (words[1].text == "default") {
            return fail(Code::invalid, "queue 'default' always exists; expected another one");
        }
        if (queues_.erase(words[1].text) == 0) { return unknown("queue", words[1].text, queues_); }
        add(Fact(QueueGone{words[1].text}));
        return {};
    }
    if (!words[0].is("gang") && !words[0].is("pod")) {
        return fail(Code::invalid,
                    fmt::format("delete '{}'; expected node, queue or gang", words[0].text));
    }
    MUSTER_TRY(subjects, read_subjects(words[1], true));
    for (const Subject& subject : subjects) {
        if (subject.is_task) {
            return fail(Code::invalid, "delete of a task; expected lose or finish");
        }
        if (alive_.erase(subject.workload) == 0) {
            return fail(Code::invalid, fmt::format("gang '{}' stands twice", subject.workload));
        }
        add(Fact(WorkloadGone{subject.workload}));
    }
    return {};
}

/// `finish train`, `finish gang train`, `finish train/0`, `lose train/0`, `lose train/rest`.
Result<> Reader::read_task_gone(Words words, bool is_finished) {
    if (words.size() == 2 && (words[0].is("gang") || words[0].is("pod"))) {
        words = words.subspan(1);
    }
    if (words.size() != 1) {
        return fail(Code::invalid, "expected: finish GANG, finish GANG/TASK or lose GANG/TASK");
    }
    constexpr std::string_view rest = "/rest";
    if (!is_finished && words[0].text.ends_with(rest) && !workloads_.contains(words[0].text)) {
        std::string name(words[0].text.substr(0, words[0].text.size() - rest.size()));
        if (!alive_.contains(name)) { return unknown("gang", name, workloads_); }
        add(Fact(TaskGone{std::move(name), rest_of_gang, false}));
        return {};
    }
    MUSTER_TRY(subjects, read_subjects(words[0], true));
    for (const Subject& subject : subjects) {
        if (subject.is_task) {
            add(Fact(TaskGone{subject.workload, subject.task, is_finished}));
        } else if (!is_finished) {
            return fail(Code::invalid,
                        fmt::format("lose '{}'; expected GANG/TASK", subject.workload));
        } else if (alive_.erase(subject.workload) == 0) {
            return fail(Code::invalid, fmt::format("gang '{}' stands twice", subject.workload));
        } else {
            add(Fact(WorkloadGone{subject.workload}));
        }
    }
    return {};
}

/// `bind train/0 a [gpus=0,1] [mig=0:4] [numa=0]`: the cluster says that it runs there.
Result<> Reader::read_bind(Words words) {
    if (words.size() < 2) {
        return fail(Code::invalid, "expected: bind GANG/TASK NODE [gpus=0,1]");
    }
    MUSTER_TRY(subjects, read_subjects(words[0], true));
    MUSTER_TRY(nodes, known_nodes(words[1]));
    if (subjects.size() != 1 || !subjects[0].is_task || nodes.size() != 1) {
        return fail(Code::invalid, "bind of many; expected one GANG/TASK and one NODE");
    }
    MUSTER_TRY(attributes, read_attributes(words.subspan(2), {}));
    TaskBound bound{.workload = subjects[0].workload,
                    .task = subjects[0].task,
                    .node = nodes[0],
                    .has_devices = !attributes.empty(),
                    .devices = {}};
    ExpectTask devices;
    for (const Attribute& attribute : attributes) {
        MUSTER_TRY(is_known, read_devices(devices, attribute));
        if (!is_known) { return unknown_key(attribute, "gpus, mig, numa"); }
    }
    bound.devices.gpus = devices.gpus.value_or(0);
    bound.devices.mig = devices.mig.value_or(std::vector<MigSlot>{});
    bound.devices.numa = static_cast<std::int8_t>(devices.numa.value_or(-1));
    add(Fact(std::move(bound)));
    return {};
}

}  // namespace muster::scenario
