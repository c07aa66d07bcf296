// Reader: gangs, pods and the tree of groups below a gang.
#include "codec/scenario_dealer.h"
#include "codec/scenario_reader.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::scenario {

namespace {

const std::initializer_list<std::string_view> group_lists = {"tolerate", "where", "implied",
                                                             "together", "apart"};

/// Takes `under=K` out of the attributes: the parent as a group's index, the gang itself is 0.
Result<std::optional<std::int32_t>> take_parent(std::vector<Attribute>& attributes,
                                                std::size_t index) {
    const auto found = std::ranges::find_if(
        attributes, [](const Attribute& attribute) { return attribute.is("under"); });
    if (found == attributes.end()) { return std::optional<std::int32_t>{}; }
    MUSTER_TRY(parent, read_count(*found, 0, static_cast<std::int64_t>(index) - 1));
    attributes.erase(found);
    return std::optional(static_cast<std::int32_t>(parent));
}

/// Inner groups have children, all of them needed unless `min=` says fewer.
Result<> settle_minimums(std::vector<GroupSpec>& groups, const std::vector<bool>& is_leaf) {
    std::vector<std::int32_t> children(groups.size());
    std::int64_t tasks = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0) { ++children[static_cast<std::size_t>(groups[i].parent)]; }
        if (is_leaf[i]) { tasks += groups[i].count; }
    }
    if (tasks > static_cast<std::int64_t>(tasks_per_workload_max)) {
        return fail(Code::limit,
                    fmt::format("{} tasks; expected at most {}", tasks, tasks_per_workload_max));
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (is_leaf[i]) { continue; }
        GroupSpec& group = groups[i];
        if (children[i] == 0) {
            return fail(Code::invalid, fmt::format("group '{}' has no role below it", group.name));
        }
        if (group.minimum < 0) { group.minimum = children[i]; }
        if (group.minimum > children[i]) {
            return fail(Code::invalid, fmt::format("group '{}': min={} of {} below it", group.name,
                                                   group.minimum, children[i]));
        }
    }
    return {};
}

Result<> check_names(const std::vector<GroupSpec>& groups) {
    std::set<std::pair<std::int32_t, std::string_view>> seen;
    for (const GroupSpec& group : groups) {
        if (!seen.insert({group.parent, group.name}).second) {
            return fail(Code::invalid, fmt::format("group '{}' stands twice", group.name));
        }
    }
    return {};
}

}  // namespace

Result<> Reader::read_workload(Words words, bool is_replacing) {
    if (words.empty()) { return fail(Code::invalid, "a gang without a name"); }
    MUSTER_TRY(names, expand_list(words[0], scenario_names_max));
    open_ = OpenWorkload{.names = std::move(names),
                         .words = {words.begin() + 1, words.end()},
                         .line = line_,
                         .groups = {},
                         .is_leaf = {},
                         .path = {},
                         .is_replacing = is_replacing};
    return {};
}

Result<> Reader::read_group(const Line& line) {
    if (!open_) { return fail(Code::invalid, "an indented line; expected it below a gang"); }
    const bool is_leaf = line.words[0].is("role");
    if ((!is_leaf && !line.words[0].is("group")) || line.words.size() < 2) {
        return fail(Code::invalid,
                    fmt::format("'{}'; expected role NAME or group NAME", line.words[0].text));
    }
    if (open_->groups.size() + 1 >= groups_per_workload_max) {
        return fail(Code::limit, fmt::format("over {} groups", groups_per_workload_max));
    }
    auto& path = open_->path;
    if (path.empty()) { path.push_back({}); }
    while (path.size() > 1 && path.back().indent >= line.indent) { path.pop_back(); }
    std::size_t& child_indent = path.back().child_indent;
    if (child_indent != 0 && child_indent != line.indent) {
        return fail(Code::invalid, fmt::format("indent of {}; expected {} like the line's siblings",
                                               line.indent, child_indent));
    }
    child_indent = line.indent;

    const std::size_t index = open_->groups.size() + 1;
    GroupSpec group;
    MUSTER_TRY(name, read_name("group", line.words[1]));
    group.name = name;
    MUSTER_TRY(attributes, read_attributes(Words(line.words).subspan(2), group_lists));
    MUSTER_TRY(parent, take_parent(attributes, index));
    group.parent = parent.value_or(static_cast<std::int32_t>(path.back().index));
    if (group.parent != 0 && open_->is_leaf[static_cast<std::size_t>(group.parent) - 1]) {
        return fail(Code::invalid,
                    fmt::format("'{}' below a role; expected it below a group", name));
    }
    if (!is_leaf) { group.minimum = -1; }
    MUSTER_CHECK(change_group(group, is_leaf, attributes));
    open_->groups.push_back(std::move(group));
    open_->is_leaf.push_back(is_leaf);
    path.push_back({.index = index, .indent = line.indent});
    return {};
}

Result<> Reader::end_workload() {
    if (!open_) { return {}; }
    const OpenWorkload open = *std::exchange(open_, std::nullopt);
    line_ = open.line;
    const bool is_flat = open.groups.empty();
    MUSTER_TRY(dealer, Dealer::read(open.words, open.names.size(), group_lists));
    for (std::size_t at = 0; at < open.names.size(); ++at) {
        const std::string& name = open.names[at];
        if (alive_.contains(name) != open.is_replacing) {
            return name_is_wrong("gang", name, open.is_replacing);
        }
        WorkloadSpec workload;
        MUSTER_TRY(known, read_name("gang", {.text = name, .quoted = {}, .is_quoted = false}));
        workload.name = known;
        workload.submitted = now_;
        const std::vector<Attribute> attributes = dealer.of(at);
        std::vector<Attribute> of_group;
        GroupSpec root;
        root.name = name;
        if (!is_flat) { root.minimum = -1; }
        for (const Attribute& attribute : attributes) {
            MUSTER_TRY(is_whole, change_workload(workload, attribute));
            if (is_whole) { continue; }
            if (attribute.is("as")) {
                root.name = attribute.value.text;
            } else {
                of_group.push_back(attribute);
            }
        }
        MUSTER_CHECK(change_group(root, is_flat, of_group));
        workload.groups = {std::move(root)};
        workload.groups.insert(workload.groups.end(), open.groups.begin(), open.groups.end());
        std::vector<bool> is_leaf = {is_flat};
        is_leaf.insert(is_leaf.end(), open.is_leaf.begin(), open.is_leaf.end());
        MUSTER_CHECK(settle_minimums(workload.groups, is_leaf));
        MUSTER_CHECK(check_names(workload.groups));
        if (!workload.linked.empty() &&
            std::ranges::find(workload.linked, name) == workload.linked.end()) {
            workload.linked.insert(workload.linked.begin(), name);
        }
        MUSTER_CHECK(declare(std::move(workload)));
    }
    return {};
}

Result<> Reader::declare(WorkloadSpec workload) {
    alive_.insert(workload.name);
    workloads_[workload.name] = workload;
    add(Fact(WorkloadSet{std::move(workload)}));
    return {};
}

Result<> Reader::set_workload(Words words) {
    if (words.empty()) { return fail(Code::invalid, "expected: set gang NAME key=value …"); }
    MUSTER_TRY(subjects, read_subjects(words[0], true));
    MUSTER_TRY(attributes, read_attributes(words.subspan(1), group_lists));
    for (const Subject& subject : subjects) {
        WorkloadSpec workload = workloads_.at(subject.workload);
        if (subject.is_task) {
            return fail(Code::invalid, "set of a task; expected a gang's name");
        }
        std::vector<Attribute> of_group;
        for (const Attribute& attribute : attributes) {
            MUSTER_TRY(is_whole, change_workload(workload, attribute));
            if (!is_whole) { of_group.push_back(attribute); }
        }
        MUSTER_CHECK(change_group(workload.groups[0], workload.groups.size() == 1, of_group));
        MUSTER_CHECK(declare(std::move(workload)));
    }
    return {};
}

}  // namespace muster::scenario
