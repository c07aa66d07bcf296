#include "lab/json_path.h"

#include "base/text.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <string>

namespace muster::lab {

namespace json = boost::json;

namespace {

using Found = std::vector<const json::value*>;

constexpr std::size_t path_bytes_max = 4096;

tl::unexpected<Error> no_path(std::string_view path, std::string_view why) {
    return fail(Code::invalid, fmt::format("found the path \"{}\", expected {}", path, why));
}

Found children(const Found& parents, std::string_view key) {
    Found out;
    for (const json::value* parent : parents) {
        const json::object* object = parent->if_object();
        if (const json::value* child = object == nullptr ? nullptr : object->if_contains(key)) {
            out.push_back(child);
        }
    }
    return out;
}

Found all_children(const Found& parents) {
    Found out;
    for (const json::value* parent : parents) {
        if (const json::array* list = parent->if_array()) {
            for (const json::value& one : *list) { out.push_back(&one); }
        } else if (const json::object* object = parent->if_object()) {
            for (const auto& [key, value] : *object) { out.push_back(&value); }
        }
    }
    return out;
}

Found elements(const Found& parents, std::int64_t index) {
    Found out;
    for (const json::value* parent : parents) {
        const json::array* list = parent->if_array();
        if (list == nullptr) { continue; }
        const auto size = static_cast<std::int64_t>(list->size());
        const std::int64_t at = index < 0 ? index + size : index;
        if (at >= 0 && at < size) { out.push_back(&(*list)[static_cast<std::size_t>(at)]); }
    }
    return out;
}

/// "a", 'a', 1 or true, as JSON has it.
json::value literal(std::string_view text) {
    if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
        text.back() == text.front()) {
        return json::value(text.substr(1, text.size() - 2));
    }
    boost::system::error_code wrong;
    json::value out = json::parse(text, wrong);
    return wrong ? json::value(text) : out;
}

/// A name up to the next dot or bracket; a backslash takes what follows as it is.
std::string take_name(std::string_view& rest) {
    std::string out;
    while (!rest.empty() && std::string_view(".[]").find(rest.front()) == std::string_view::npos) {
        if (rest.front() == '\\' && rest.size() > 1) { rest.remove_prefix(1); }
        out += rest.front();
        rest.remove_prefix(1);
    }
    return out;
}

/// Up to the bracket that closes, past those in quotes and in between. None when there is none.
std::string_view take_brackets(std::string_view& rest) {
    char quote = 0;
    int depth = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const char c = rest[i];
        if (quote != 0) {
            if (c == quote) { quote = 0; }
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '[') {
            ++depth;
        } else if (c == ']' && --depth == 0) {
            const std::string_view out = rest.substr(1, i - 1);
            rest.remove_prefix(i + 1);
            return out;
        }
    }
    return {};
}

Result<Found> walk(Found at, std::string_view path, bool has_filter);

/// `@.type=="Ready"`, `@.ready!=true`, `@.name`.
Result<Found> filtered(const Found& parents, std::string_view text) {
    const std::size_t equal = text.find("==");
    const std::size_t differ = text.find("!=");
    const std::size_t split_at = std::min(equal, differ);
    const std::string_view left = trim(text.substr(0, split_at));
    if (!left.starts_with('@')) { return no_path(text, "a filter that begins with @"); }
    Found out;
    for (const json::value* one : all_children(parents)) {
        MUSTER_TRY(found, walk({one}, left.substr(1), true));
        bool is_in = !found.empty();
        if (split_at != std::string_view::npos) {
            const bool is_equal =
                !found.empty() && *found.front() == literal(trim(text.substr(split_at + 2)));
            is_in = differ < equal ? !found.empty() && !is_equal : is_equal;
        }
        if (is_in) { out.push_back(one); }
    }
    return out;
}

Result<Found> walk(Found at, std::string_view path, bool has_filter) {
    std::string_view rest = path;
    while (!rest.empty()) {
        if (rest.front() == '.') {
            rest.remove_prefix(1);
            if (rest.empty() || rest.front() == '[') { continue; }
            const std::string name = take_name(rest);
            if (name.empty()) { return no_path(path, "a name between the dots"); }
            at = name == "*" ? all_children(at) : children(at, name);
            continue;
        }
        if (rest.front() != '[') { return no_path(path, "a dot or a bracket first"); }
        const std::string_view inside = trim(take_brackets(rest));
        if (inside == "*") {
            at = all_children(at);
        } else if (inside.size() >= 2 && (inside.front() == '\'' || inside.front() == '"')) {
            at = children(at, inside.substr(1, inside.size() - 2));
        } else if (inside.starts_with("?(") && inside.ends_with(')') && !has_filter) {
            MUSTER_TRY(kept, filtered(at, inside.substr(2, inside.size() - 3)));
            at = std::move(kept);
        } else {
            const bool is_negative = inside.starts_with('-');
            const auto index = parse_int(inside.substr(is_negative ? 1 : 0));
            if (!index) { return no_path(path, "an index, a name, * or a filter in brackets"); }
            at = elements(at, is_negative ? -*index : *index);
        }
    }
    return at;
}

}  // namespace

Result<std::vector<const json::value*>> select_path(const json::object& root,
                                                    std::string_view path) {
    if (path.size() > path_bytes_max) {
        return fail(Code::limit, fmt::format("a path of {} bytes, expected at most {}", path.size(),
                                             path_bytes_max));
    }
    std::string_view rest = path;
    if (rest.starts_with('{') && rest.ends_with('}')) { rest = rest.substr(1, rest.size() - 2); }
    if (rest.starts_with('$')) { rest.remove_prefix(1); }
    if (rest.starts_with(".[")) { rest.remove_prefix(1); }
    std::string name;
    if (rest.starts_with("['") || rest.starts_with("[\"")) {
        const std::string_view inside = take_brackets(rest);
        if (inside.size() >= 2) { name = inside.substr(1, inside.size() - 2); }
    } else if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        name = take_name(rest);
    }
    if (name.empty()) { return no_path(path, "a name first"); }
    const json::value* first = root.if_contains(name);
    return walk(first == nullptr ? Found() : Found{first}, rest, false);
}

}  // namespace muster::lab
