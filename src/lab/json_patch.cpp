// Work is bounded as the API server bounds it: operations by number, copies by what they weigh.
#include "lab/patch.h"
#include "lab/values.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::size_t operations_max = 10'000;
constexpr std::size_t copied_max = 3 * 1024 * 1024;  // bytes, all copies of a patch together
constexpr std::size_t moved_max = 64 * 1024 * 1024;  // the same of moves

using Tokens = std::span<const std::string>;

Result<std::vector<std::string>> read_pointer(std::string_view text) {
    std::vector<std::string> tokens;
    if (text.empty()) { return tokens; }
    // A server cuts off what stands before the first slash, and knows no other escapes.
    const std::size_t first = text.find('/');
    if (first == std::string_view::npos) {
        return fail(Code::invalid, fmt::format("path \"{}\" has no \"/\"", text));
    }
    for (std::size_t i = first; i < text.size(); ++i) {
        const bool is_escape =
            text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1');
        if (text[i] == '/') {
            tokens.emplace_back();
        } else if (is_escape) {
            tokens.back() += text[++i] == '0' ? '~' : '/';
        } else {
            tokens.back() += text[i];
        }
    }
    return tokens;
}

/// `end` is the highest that is allowed.
Result<std::size_t> read_index(std::string_view token, std::size_t end) {
    std::size_t index = 0;
    const auto [stop, wrong] = std::from_chars(token.data(), token.data() + token.size(), index);
    if (token.empty() || stop != token.data() + token.size() ||
        wrong == std::errc::invalid_argument || (token.size() > 1 && token.front() == '0')) {
        return fail(Code::invalid, fmt::format("\"{}\" is not an index of a list", token));
    }
    if (wrong != std::errc() || index > end) {
        return fail(Code::not_found, fmt::format("index {} is out of range", token));
    }
    return index;
}

Result<std::size_t> read_place(const json::array& list, std::string_view token) {
    if (list.empty()) {
        return fail(Code::not_found, fmt::format("no \"{}\": the list is empty", token));
    }
    if (token == "-") { return fail(Code::not_found, "no item is behind the last one"); }
    return read_index(token, list.size() - 1);
}

Result<json::value*> step(json::value& at, const std::string& token) {
    if (json::object* object = at.if_object()) {
        json::value* found = object->if_contains(token);
        if (found != nullptr) { return found; }
        return fail(Code::not_found, fmt::format("no field \"{}\"", token));
    }
    json::array* list = at.if_array();
    if (list == nullptr) {
        return fail(Code::not_found,
                    fmt::format("no \"{}\": the value is neither object nor list", token));
    }
    MUSTER_TRY(index, read_place(*list, token));
    return &(*list)[index];
}

Result<json::value*> find(json::value& document, Tokens path) {
    json::value* at = &document;
    for (const std::string& token : path) {
        MUSTER_TRY(next, step(*at, token));
        at = next;
    }
    return at;
}

Result<> add(json::value& document, Tokens path, json::value value) {
    if (path.empty()) {
        document = std::move(value);
        return {};
    }
    MUSTER_TRY(parent, find(document, path.first(path.size() - 1)));
    const std::string& token = path.back();
    if (json::object* object = parent->if_object()) {
        object->insert_or_assign(token, std::move(value));
        return {};
    }
    json::array* list = parent->if_array();
    if (list == nullptr) {
        return fail(Code::not_found,
                    fmt::format("cannot add \"{}\": the value is neither object nor list", token));
    }
    std::size_t index = list->size();
    if (token != "-") {
        MUSTER_TRY(given, read_index(token, list->size()));
        index = given;
    }
    list->insert(list->begin() + static_cast<std::ptrdiff_t>(index), std::move(value));
    return {};
}

/// What was there.
Result<json::value> take(json::value& document, Tokens path) {
    if (path.empty()) { return fail(Code::invalid, "the whole document cannot be removed"); }
    MUSTER_TRY(parent, find(document, path.first(path.size() - 1)));
    MUSTER_TRY(found, step(*parent, path.back()));
    json::value value = std::move(*found);
    if (json::object* object = parent->if_object()) {
        object->stable_erase(path.back());
    } else {
        json::array& list = parent->get_array();
        list.erase(list.begin() + (found - list.data()));
    }
    return value;
}

std::size_t weight(const json::value& value) {
    std::size_t bytes = 8;
    if (const json::object* object = value.if_object()) {
        for (const auto& field : *object) { bytes += field.key().size() + weight(field.value()); }
    } else if (const json::array* list = value.if_array()) {
        for (const json::value& item : *list) { bytes += weight(item); }
    } else if (const json::string* text = value.if_string()) {
        bytes += text->size();
    }
    return bytes;
}

struct Operation {
    std::string op;
    std::string path_text;
    std::vector<std::string> path;
    std::vector<std::string> from;
    const json::value* value = nullptr;
};

Result<std::string> text_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    if (found == nullptr) { return fail(Code::invalid, fmt::format("\"{}\" is missing", name)); }
    if (!found->is_string()) {
        return fail(Code::invalid, fmt::format("\"{}\" is not a string", name));
    }
    return std::string(found->get_string());
}

Result<Operation> read_operation(const json::value& json) {
    const json::object* object = json.if_object();
    if (object == nullptr) { return fail(Code::invalid, "expected an object"); }
    Operation out;
    MUSTER_TRY(op, text_member(*object, "op"));
    out.op = op;
    MUSTER_TRY(path_text, text_member(*object, "path"));
    out.path_text = path_text;
    MUSTER_TRY(path, read_pointer(path_text));
    out.path = std::move(path);
    if (op == "move" || op == "copy") {
        MUSTER_TRY(from_text, text_member(*object, "from"));
        MUSTER_TRY(from, read_pointer(from_text));
        out.from = std::move(from);
    } else if (op == "add" || op == "replace" || op == "test") {
        static const json::value nothing;  // a server takes a value that is missing for null
        const json::value* value = object->if_contains("value");
        out.value = value == nullptr ? &nothing : value;
    } else if (op != "remove") {
        return fail(
            Code::invalid,
            fmt::format("\"op\" is \"{}\", expected add, remove, replace, move, copy or test", op));
    }
    return out;
}

class JsonPatcher {
public:
    explicit JsonPatcher(json::value document) : document_(std::move(document)) {}

    Result<> run(const Operation& operation) {
        const Tokens path = operation.path;
        if (operation.op == "remove") {
            MUSTER_TRY(removed, take(document_, path));
            static_cast<void>(removed);
            return {};
        }
        if (operation.op == "test") { return test(path, *operation.value); }
        if (operation.op == "copy") { return copy(operation.from, path); }
        if (operation.op == "move") { return move(operation.from, path); }
        if (!is_within(*operation.value, levels_left(path))) { return too_deep(); }
        if (operation.op == "add" || is_missing_member(path)) {
            return add(document_, path, *operation.value);
        }
        MUSTER_TRY(target, find(document_, path));
        *target = *operation.value;
        return {};
    }

    json::value result() && { return std::move(document_); }

private:
    static int levels_left(Tokens path) {
        return levels_max -
               static_cast<int>(std::min<std::size_t>(path.size(), std::size_t{levels_max}));
    }

    static tl::unexpected<Error> too_deep() {
        return fail(Code::limit, fmt::format("values nest deeper than {} levels", levels_max));
    }

    /// Of an object that is there: to a server it is as good as null.
    bool is_missing_member(Tokens path) {
        if (path.empty()) { return false; }
        const auto parent = find(document_, path.first(path.size() - 1));
        return parent && (*parent)->is_object() && !(*parent)->get_object().contains(path.back());
    }

    Result<> test(Tokens path, const json::value& expected) {
        if (expected.is_null() && is_missing_member(path)) { return {}; }
        MUSTER_TRY(found, find(document_, path));
        if (same_value(*found, expected)) { return {}; }
        return fail(Code::conflict, fmt::format("test failed: found {}, expected {}", shown(*found),
                                                shown(expected)));
    }

    Result<> copy(Tokens from, Tokens path) {
        if (is_missing_member(from)) { return add(document_, path, nullptr); }
        MUSTER_TRY(source, find(document_, from));
        copied_ += weight(*source);
        if (copied_ > copied_max) {
            return fail(Code::limit, fmt::format("copies weigh over {} bytes", copied_max));
        }
        if (!is_within(*source, levels_left(path))) { return too_deep(); }
        return add(document_, path, json::value(*source));
    }

    Result<> move(Tokens from, Tokens path) {
        if (from.size() < path.size() && std::ranges::equal(from, path.first(from.size()))) {
            return fail(Code::invalid, "a value cannot be moved into itself");
        }
        MUSTER_TRY(source, find(document_, from));
        if (std::ranges::equal(from, path)) { return {}; }
        moved_ += weight(*source);
        if (moved_ > moved_max) {
            return fail(Code::limit, fmt::format("moves weigh over {} bytes", moved_max));
        }
        if (!is_within(*source, levels_left(path))) { return too_deep(); }
        MUSTER_TRY(value, take(document_, from));
        return add(document_, path, std::move(value));
    }

    json::value document_;
    std::size_t copied_ = 0;
    std::size_t moved_ = 0;
};

}  // namespace

Result<json::value> json_patch(json::value document, const json::value& patch) {
    const json::array* operations = patch.if_array();
    if (operations == nullptr) {
        return fail(Code::invalid, "a JSON patch is a list of operations");
    }
    if (operations->size() > operations_max) {
        return fail(Code::limit,
                    fmt::format("{} operations are over the {} that a JSON patch may have",
                                operations->size(), operations_max));
    }
    if (!is_within(document, levels_max)) {
        return fail(Code::limit,
                    fmt::format("the document nests deeper than {} levels", levels_max));
    }
    JsonPatcher patcher(std::move(document));
    for (std::size_t i = 0; i < operations->size(); ++i) {
        auto operation = read_operation((*operations)[i]);
        if (!operation) {
            return tl::unexpected<Error>(
                std::move(operation).error().wrap(fmt::format("operation {}", i)));
        }
        if (auto done = patcher.run(*operation); !done) {
            return tl::unexpected<Error>(std::move(done).error().wrap(
                fmt::format("operation {} ({} \"{}\")", i, operation->op, operation->path_text)));
        }
    }
    return std::move(patcher).result();
}

}  // namespace muster::lab
