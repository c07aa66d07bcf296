#include "codec/tree.h"

#include "codec/limits.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <map>
#include <utility>

namespace muster {

namespace json = boost::json;

struct Tree {
    json::value value;
    Lines lines;
    bool has_lines = false;
};

void TreeDeleter::operator()(Tree* tree) const { delete tree; }
const json::value& value_of(const Tree& tree) { return tree.value; }
const Lines* lines_of(const Tree& tree) { return tree.has_lines ? &tree.lines : nullptr; }

namespace {

struct Frame {
    std::size_t values = 0;  // where its values start
    std::size_t keys = 0;
    int line = 0;
    bool is_object = false;
};

struct Anchored {
    json::value value;
    Lines lines;
};

/// How much a copy of `value` costs.
void measure(const json::value& value, std::size_t& values, std::size_t& bytes) {
    ++values;
    if (value.is_string()) { bytes += value.get_string().size(); }
    if (value.is_array()) {
        for (const json::value& item : value.get_array()) { measure(item, values, bytes); }
    }
    if (value.is_object()) {
        for (const auto& member : value.get_object()) {
            bytes += member.key().size();
            measure(member.value(), values, bytes);
        }
    }
}

}  // namespace

struct TreeBuilder::Work {
    bool has_lines = false;
    json::storage_ptr storage = json::make_shared_resource<json::monotonic_resource>();
    std::vector<json::value> values;
    std::vector<Lines> lines;  // beside the values
    std::vector<std::string> keys;
    std::vector<bool> merges;  // beside the keys
    std::vector<Frame> frames;
    std::map<std::size_t, Anchored> anchors;
    std::size_t copied_values = 0;
    std::size_t copied_bytes = 0;
    bool has_failed = false;
    int failed_line = 0;
    std::string failed_path;
    std::string failed_message;

    void push(json::value value, int line) {
        if (has_failed) { return; }
        values.push_back(std::move(value));
        if (has_lines) { lines.push_back({line, {}}); }
    }

    std::string path() const {
        std::string out;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const Frame& frame = frames[i];
            const std::size_t end = i + 1 < frames.size() ? frames[i + 1].values : values.size();
            if (!frame.is_object) {
                out += fmt::format("[{}]", end - frame.values);
                continue;
            }
            const std::size_t keys_end = i + 1 < frames.size() ? frames[i + 1].keys : keys.size();
            if (keys_end == frame.keys) { continue; }
            if (!out.empty()) { out += '.'; }
            out += keys[keys_end - 1];
        }
        return out;
    }

    void fail(int line, std::string message) {
        if (has_failed) { return; }
        has_failed = true;
        failed_line = line;
        failed_path = path();
        failed_message = std::move(message);
    }

    void end_object(const Frame& frame);
    void end_list(const Frame& frame);
};

void TreeBuilder::Work::end_list(const Frame& frame) {
    json::array list(storage);
    list.reserve(values.size() - frame.values);
    for (std::size_t i = frame.values; i < values.size(); ++i) {
        list.push_back(std::move(values[i]));
    }
    values.resize(frame.values);
    values.emplace_back(std::move(list));
    if (!has_lines) { return; }
    Lines own{frame.line, {}};
    for (std::size_t i = frame.values; i < lines.size(); ++i) {
        own.children.push_back(std::move(lines[i]));
    }
    lines.resize(frame.values);
    lines.push_back(std::move(own));
}

void TreeBuilder::Work::end_object(const Frame& frame) {
    const std::size_t count = values.size() - frame.values;
    json::object object(storage);
    object.reserve(count);
    Lines own{frame.line, {}};
    std::vector<std::size_t> merged;
    for (std::size_t i = 0; i < count; ++i) {
        if (merges[frame.keys + i]) {
            merged.push_back(frame.values + i);
            continue;
        }
        const std::string& name = keys[frame.keys + i];
        if (!object.emplace(name, std::move(values[frame.values + i])).second) {
            const int line = has_lines ? lines[frame.values + i].line : 0;
            keys.resize(frame.keys + i + 1);  // so that the path ends with this one
            return fail(line, fmt::format("duplicate key \"{}\"", name));
        }
        if (has_lines) { own.children.push_back(std::move(lines[frame.values + i])); }
    }
    for (const std::size_t at : merged) {
        if (!values[at].is_object()) {
            return fail(lines[at].line, "found no mapping under \"<<\", expected one");
        }
        std::size_t child = 0;
        for (auto& member : values[at].get_object()) {
            if (object.emplace(member.key(), std::move(member.value())).second) {
                own.children.push_back(std::move(lines[at].children[child]));
            }
            ++child;
        }
    }
    keys.resize(frame.keys);
    merges.resize(frame.keys);
    values.resize(frame.values);
    values.emplace_back(std::move(object));
    if (!has_lines) { return; }
    lines.resize(frame.values);
    lines.push_back(std::move(own));
}

TreeBuilder::TreeBuilder(bool has_lines) : work_(std::make_unique<Work>()) {
    work_->has_lines = has_lines;
}
TreeBuilder::~TreeBuilder() = default;
TreeBuilder::TreeBuilder(TreeBuilder&&) noexcept = default;
TreeBuilder& TreeBuilder::operator=(TreeBuilder&&) noexcept = default;

void TreeBuilder::null(int line) { work_->push(json::value(nullptr, work_->storage), line); }
void TreeBuilder::boolean(bool value, int line) {
    work_->push(json::value(value, work_->storage), line);
}
void TreeBuilder::integer(std::int64_t value, int line) {
    work_->push(json::value(value, work_->storage), line);
}
void TreeBuilder::natural(std::uint64_t value, int line) {
    work_->push(json::value(value, work_->storage), line);
}
void TreeBuilder::real(double value, int line) {
    work_->push(json::value(value, work_->storage), line);
}
void TreeBuilder::string(std::string_view value, int line) {
    work_->push(json::value(json::string_view(value.data(), value.size()), work_->storage), line);
}

void TreeBuilder::begin(bool is_object, int line) {
    Work& work = *work_;
    if (work.has_failed) { return; }
    if (work.frames.size() >= nesting_max) {
        return work.fail(line, fmt::format("nested deeper than {} levels", nesting_max));
    }
    work.frames.push_back({work.values.size(), work.keys.size(), line, is_object});
}

void TreeBuilder::key(std::string_view name, int) {
    if (work_->has_failed) { return; }
    work_->keys.emplace_back(name);
    work_->merges.push_back(false);
}

void TreeBuilder::merge_key(int line) {
    key("<<", line);
    if (!work_->has_failed) { work_->merges.back() = true; }
}

void TreeBuilder::end() {
    Work& work = *work_;
    if (work.has_failed) { return; }
    const Frame frame = work.frames.back();
    if (frame.is_object) {
        work.end_object(frame);
    } else {
        work.end_list(frame);
    }
    work.frames.pop_back();
}

void TreeBuilder::remember(std::size_t anchor) {
    Work& work = *work_;
    if (work.has_failed) { return; }
    measure(work.values.back(), work.copied_values, work.copied_bytes);
    if (work.copied_values > alias_values_max || work.copied_bytes > alias_bytes_max) {
        return work.fail(work.lines.back().line, "aliases expand to too much");
    }
    work.anchors[anchor] = {json::value(work.values.back(), work.storage), work.lines.back()};
}

void TreeBuilder::recall(std::size_t anchor, int line) {
    Work& work = *work_;
    if (work.has_failed) { return; }
    const auto found = work.anchors.find(anchor);
    if (found == work.anchors.end()) { return work.fail(line, "an alias inside its own anchor"); }
    measure(found->second.value, work.copied_values, work.copied_bytes);
    if (work.copied_values > alias_values_max || work.copied_bytes > alias_bytes_max) {
        return work.fail(line, fmt::format("aliases expand to more than {} values or {} bytes",
                                           alias_values_max, alias_bytes_max));
    }
    work.values.emplace_back(found->second.value, work.storage);
    work.lines.push_back(found->second.lines);
}

bool TreeBuilder::wants_key() const {
    if (work_->frames.empty() || !work_->frames.back().is_object) { return false; }
    const Frame& frame = work_->frames.back();
    return work_->keys.size() - frame.keys == work_->values.size() - frame.values;
}

bool TreeBuilder::has_value() const { return !work_->values.empty(); }
bool TreeBuilder::has_failed() const { return work_->has_failed; }
void TreeBuilder::fail_at(int line, std::string message) { work_->fail(line, std::move(message)); }

Result<TreePtr> TreeBuilder::finish(std::string_view file) {
    Work& work = *work_;
    if (work.has_failed) {
        std::string where(file);
        if (work.failed_line > 0) { where += fmt::format(":{}", work.failed_line); }
        if (!work.failed_path.empty()) { where += fmt::format(": {}", work.failed_path); }
        return fail(Code::invalid, fmt::format("{}: {}", where, work.failed_message));
    }
    TreePtr tree(new Tree{std::move(work.values.back()), {}, work.has_lines});
    if (work.has_lines) { tree->lines = std::move(work.lines.back()); }
    work.values.clear();
    work.lines.clear();
    work.anchors.clear();
    return tree;
}

}  // namespace muster
