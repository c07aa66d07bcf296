// Reader: levels, nodes and queues.
#include "codec/scenario_dealer.h"
#include "codec/scenario_reader.h"
#include "model/limits.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::scenario {

namespace {

const std::initializer_list<std::string_view> node_lists = {"taint"};

Result<std::vector<std::string>> read_new_names(std::string_view what,
                                                std::span<const Word> words) {
    if (words.empty()) { return fail(Code::invalid, fmt::format("'{}' without a name", what)); }
    MUSTER_TRY(names, expand_list(words[0], scenario_names_max));
    for (const std::string& name : names) {
        if (name.size() > name_bytes_max) {
            return fail(Code::limit, fmt::format("{} name has {} bytes; expected at most {}", what,
                                                 name.size(), name_bytes_max));
        }
    }
    return std::move(names);
}

}  // namespace

Result<> Reader::read_levels(Words words) {
    TopologySet topology;
    for (const Word& word : words) {
        const std::size_t equals = word.find('=');
        MUSTER_TRY(name, read_name("level", word.part(0, equals)));
        Level level{.name = name, .key = name};
        if (equals != std::string::npos) {
            MUSTER_TRY(key, read_name("level key", word.part(equals + 1)));
            level.key = key;
        }
        if (std::ranges::find(topology.levels, level.name, &Level::name) != topology.levels.end()) {
            return fail(Code::invalid, fmt::format("level '{}' stands twice", level.name));
        }
        topology.levels.push_back(std::move(level));
    }
    if (topology.levels.size() > topology_levels_max) {
        return fail(Code::limit, fmt::format("{} levels; expected at most {}",
                                             topology.levels.size(), topology_levels_max));
    }
    levels_ = topology.levels;
    has_levels_ = true;
    add(Fact(std::move(topology)));
    return {};
}

Result<> Reader::read_node(Words words, bool is_replacing) {
    MUSTER_TRY(names, read_new_names("node", words));
    MUSTER_TRY(dealer, Dealer::read(words.subspan(1), names.size(), node_lists));
    if (!has_levels_ && std::ranges::any_of(words.subspan(1), [](const Word& word) {
            return word.part(0, word.find('=')).is("rack");
        })) {
        const Word rack{.text = "rack", .quoted = std::vector<bool>(4), .is_quoted = false};
        MUSTER_CHECK(read_levels({&rack, 1}));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (nodes_.contains(names[i]) != is_replacing) {
            return name_is_wrong("node", names[i], is_replacing);
        }
        NodeSpec node;
        node.name = names[i];
        MUSTER_CHECK(change_node(node, dealer.of(i), levels_));
        nodes_[node.name] = node;
        add(Fact(NodeSet{std::move(node)}));
    }
    return {};
}

Result<> Reader::read_queue(Words words, bool is_replacing) {
    MUSTER_TRY(names, read_new_names("queue", words));
    MUSTER_TRY(dealer, Dealer::read(words.subspan(1), names.size(), {}));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const bool is_first_default = names[i] == "default" && !is_replacing;
        if (!is_first_default && queues_.contains(names[i]) != is_replacing) {
            return name_is_wrong("queue", names[i], is_replacing);
        }
        QueueSpec queue;
        queue.name = names[i];
        MUSTER_CHECK(change_queue(queue, dealer.of(i)));
        MUSTER_CHECK(check_queue_tree(queue));
        queues_[queue.name] = queue;
        add(Fact(QueueSet{std::move(queue)}));
    }
    return {};
}

Result<> Reader::check_queue_tree(const QueueSpec& queue) const {
    std::string path = queue.name;
    std::string_view at = queue.parent;
    for (std::size_t depth = 1; !at.empty(); ++depth) {
        path += " → " + std::string(at);
        if (at == queue.name) { return fail(Code::invalid, "queue tree has a cycle: " + path); }
        if (depth >= queue_depth_max) {
            return fail(Code::limit,
                        fmt::format("queue tree is over {} deep: {}", queue_depth_max, path));
        }
        const auto parent = queues_.find(std::string(at));
        if (parent == queues_.end()) {
            std::vector<std::string_view> known;
            for (const auto& [name, spec] : queues_) { known.push_back(name); }
            return fail(Code::invalid, fmt::format("unknown parent queue '{}'; known: {}", at,
                                                   fmt::join(known, ", ")));
        }
        at = parent->second.parent;
    }
    return {};
}

Result<> Reader::read_policy_mix(Words words) {
    if (has_cycled_) {
        return fail(Code::invalid, "mix behind a cycle; expected it before the first");
    }
    MUSTER_TRY(attributes, read_attributes(words, {}));
    MUSTER_TRY(entry, read_mix(attributes));
    scenario_.policy.mix.push_back(std::move(entry));
    return {};
}

}  // namespace muster::scenario
