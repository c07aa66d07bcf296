#include "lab/field_set.h"

#include <fmt/core.h>

#include <compare>

namespace muster::lab {

namespace {

double as_number(const FieldScalar& scalar) {
    const auto* whole = std::get_if<std::int64_t>(&scalar);
    return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(scalar);
}

/// Numbers, then texts, then flags.
std::weak_ordering compare(const FieldScalar& left, const FieldScalar& right) {
    const auto rank = [](const FieldScalar& scalar) {
        return scalar.index() < 2 ? 1 : scalar.index();
    };
    if (rank(left) != rank(right)) { return rank(left) <=> rank(right); }
    if (left.index() == right.index() && !std::holds_alternative<double>(left)) {
        if (left == right) { return std::weak_ordering::equivalent; }
        return left < right ? std::weak_ordering::less : std::weak_ordering::greater;
    }
    const double a = as_number(left);
    const double b = as_number(right);
    if (a == b) { return std::weak_ordering::equivalent; }
    return a < b ? std::weak_ordering::less : std::weak_ordering::greater;
}

std::string print_scalar(const FieldScalar& scalar) {
    if (const auto* text = std::get_if<std::string>(&scalar)) {
        std::string out = "\"";
        for (const char c : *text) {
            if (c == '"' || c == '\\') { out += '\\'; }
            if (c == '\n') {
                out += "\\n";
            } else {
                out += c;
            }
        }
        return out + '"';
    }
    if (const auto* whole = std::get_if<std::int64_t>(&scalar)) {
        return fmt::format("{}", *whole);
    }
    if (const auto* flag = std::get_if<bool>(&scalar)) { return *flag ? "true" : "false"; }
    return fmt::format("{}", std::get<double>(scalar));
}

void gather_paths(const FieldSet& set, const std::string& prefix, std::vector<std::string>& out) {
    for (const auto& [step, node] : set.nodes()) {
        if (node.is_member) { out.push_back(prefix + print_step(step)); }
    }
    for (const auto& [step, node] : set.nodes()) {
        if (!node.inside.is_empty()) { gather_paths(node.inside, prefix + print_step(step), out); }
    }
}

}  // namespace

FieldStep FieldStep::field(std::string_view name) {
    return FieldStep{.kind = Kind::field, .name = std::string(name), .key = {}};
}

FieldStep FieldStep::item(FieldScalar value) {
    FieldStep step{.kind = Kind::value, .name = {}, .key = {}};
    step.key.emplace_back(std::string(), std::move(value));
    return step;
}

FieldStep FieldStep::at(std::size_t index) {
    FieldStep step{.kind = Kind::index, .name = {}, .key = {}};
    step.key.emplace_back(std::string(), static_cast<std::int64_t>(index));
    return step;
}

bool operator<(const FieldStep& left, const FieldStep& right) {
    if (left.kind != right.kind) { return left.kind < right.kind; }
    if (left.kind == FieldStep::Kind::field) { return left.name < right.name; }
    for (std::size_t i = 0; i < left.key.size() && i < right.key.size(); ++i) {
        const auto& [left_name, left_value] = left.key[i];
        const auto& [right_name, right_value] = right.key[i];
        if (left_name != right_name) { return left_name < right_name; }
        const auto order = compare(left_value, right_value);
        if (order != 0) { return order < 0; }
    }
    return left.key.size() < right.key.size();
}

std::string print_step(const FieldStep& step) {
    if (step.kind == FieldStep::Kind::field) { return "." + step.name; }
    std::string out = "[";
    for (const auto& [name, value] : step.key) {
        if (out.size() > 1) { out += ','; }
        out += name;
        if (step.kind != FieldStep::Kind::index) { out += '='; }
        out += print_scalar(value);
    }
    return out + ']';
}

void FieldSet::put(const FieldStep& step, bool is_member, FieldSet inside) {
    if (!is_member && inside.is_empty()) { return; }
    nodes_.insert_or_assign(step, Node{.is_member = is_member, .inside = std::move(inside)});
}

void FieldSet::insert(std::span<const FieldStep> path) {
    if (path.empty()) { return; }
    Node& node = nodes_[path.front()];
    if (path.size() == 1) {
        node.is_member = true;
    } else {
        node.inside.insert(path.subspan(1));
    }
}

bool FieldSet::is_empty() const { return nodes_.empty(); }

const FieldSet::Node* FieldSet::find(const FieldStep& step) const {
    const auto found = nodes_.find(step);
    return found == nodes_.end() ? nullptr : &found->second;
}

bool FieldSet::has(std::span<const FieldStep> path) const {
    const Node* node = path.empty() ? nullptr : find(path.front());
    if (node == nullptr) { return false; }
    return path.size() == 1 ? node->is_member : node->inside.has(path.subspan(1));
}

std::vector<std::string> FieldSet::paths() const {
    std::vector<std::string> out;
    gather_paths(*this, {}, out);
    return out;
}

FieldSet FieldSet::unite(const FieldSet& other) const {
    FieldSet out = *this;
    for (const auto& [step, node] : other.nodes_) {
        Node& mine = out.nodes_[step];
        mine.is_member = mine.is_member || node.is_member;
        mine.inside = mine.inside.unite(node.inside);
    }
    return out;
}

FieldSet FieldSet::intersect(const FieldSet& other) const {
    FieldSet out;
    for (const auto& [step, node] : nodes_) {
        const Node* theirs = other.find(step);
        if (theirs == nullptr) { continue; }
        out.put(step, node.is_member && theirs->is_member, node.inside.intersect(theirs->inside));
    }
    return out;
}

FieldSet FieldSet::subtract(const FieldSet& other) const {
    FieldSet out;
    for (const auto& [step, node] : nodes_) {
        const Node* theirs = other.find(step);
        if (theirs == nullptr) {
            out.nodes_.emplace(step, node);
        } else {
            out.put(step, node.is_member && !theirs->is_member,
                    node.inside.subtract(theirs->inside));
        }
    }
    return out;
}

bool FieldSet::operator==(const FieldSet& other) const { return nodes_ == other.nodes_; }

}  // namespace muster::lab
