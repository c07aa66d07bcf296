#include "codec/document.h"

#include "codec/limits.h"
#include "codec/tree.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster {

namespace json = boost::json;

struct Documents::Owned {
    std::string file;
    std::string name_space;
    std::vector<TreePtr> trees;
};

namespace {

std::string_view member_text(const json::object& object, std::string_view key) {
    const json::value* member = object.if_contains(json::string_view(key.data(), key.size()));
    const json::string* text = member != nullptr ? member->if_string() : nullptr;
    return text != nullptr ? std::string_view(text->data(), text->size()) : std::string_view();
}

bool is_word(std::string_view key) {
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
}

void append_key(std::string& path, std::string_view key) {
    if (!is_word(key)) {
        path += fmt::format("[\"{}\"]", key);
        return;
    }
    if (!path.empty()) { path += '.'; }
    path += key;
}

/// Finds `wanted` below `value`, and the way there.
bool find_value(const json::value& value, const json::value* wanted, const Lines* lines,
                Place& place) {
    if (lines != nullptr) { place.line = lines->line; }
    if (&value == wanted) { return true; }
    const std::size_t length = place.path.size();
    std::size_t index = 0;
    const auto child_lines = [&] {
        return lines != nullptr && index < lines->children.size() ? &lines->children[index]
                                                                  : nullptr;
    };
    if (const json::object* object = value.if_object()) {
        for (const auto& member : *object) {
            append_key(place.path, {member.key().data(), member.key().size()});
            if (find_value(member.value(), wanted, child_lines(), place)) { return true; }
            place.path.resize(length);
            ++index;
        }
    }
    if (const json::array* list = value.if_array()) {
        for (const json::value& item : *list) {
            place.path += fmt::format("[{}]", index);
            if (find_value(item, wanted, child_lines(), place)) { return true; }
            place.path.resize(length);
            ++index;
        }
    }
    return false;
}

/// Splits lists into their items; what is left has to be an object.
Result<> flatten(Document document, std::size_t depth, std::vector<Document>& out) {
    const json::object* object = document.root->if_object();
    if (object == nullptr) {
        return fail(
            Code::invalid,
            fmt::format(
                "{}: found no mapping, expected one, such as an object with kind and apiVersion",
                document.place_of(*document.root).text()));
    }
    if (const std::string_view kind = member_text(*object, "kind"); !kind.empty()) {
        document.kind = kind;
    }
    if (const std::string_view version = member_text(*object, "apiVersion"); !version.empty()) {
        document.api_version = version;
    }
    const json::value* items = object->if_contains("items");
    if (!document.kind.ends_with("List") || items == nullptr || items->is_null()) {
        const bool is_empty_list = document.kind.ends_with("List") && !object->contains("spec");
        if (!is_empty_list) { out.push_back(std::move(document)); }
        return {};
    }
    const json::array* list = items->if_array();
    if (list == nullptr) {
        return fail(Code::invalid, fmt::format("{}: found no list, expected the items of a {}",
                                               document.place_of(*items).text(), document.kind));
    }
    if (depth >= list_nesting_max) {
        return fail(Code::limit, fmt::format("{}: lists nested deeper than {}",
                                             document.place_of(*items).text(), list_nesting_max));
    }
    const Lines* item_lines = nullptr;
    if (document.lines != nullptr) {
        const auto index = static_cast<std::size_t>(object->find("items") - object->begin());
        item_lines = &document.lines->children[index];
    }
    const std::string_view kind =
        document.kind.substr(0, document.kind.size() - std::string_view("List").size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        Document item = document;
        item.kind = kind;
        item.root = &(*list)[i];
        if (item_lines != nullptr) { item.lines = &item_lines->children[i]; }
        item.prefix =
            fmt::format("{}{}items[{}]", document.prefix, document.prefix.empty() ? "" : ".", i);
        MUSTER_CHECK(flatten(std::move(item), depth + 1, out));
    }
    return {};
}

}  // namespace

std::string Place::text() const {
    std::string out = file;
    if (line > 0) { out += fmt::format(":{}", line); }
    if (!path.empty()) { out += fmt::format(": {}", path); }
    return out;
}

Place Document::place_of(const json::value& value) const {
    Place place{.file = std::string(file), .line = 0, .path = prefix};
    find_value(*root, &value, lines, place);
    return place;
}

Documents::Documents() = default;
Documents::~Documents() = default;
Documents::Documents(Documents&&) noexcept = default;
Documents& Documents::operator=(Documents&&) noexcept = default;

Result<> Documents::add(const SourceText& source) {
    if (source.text.size() > text_bytes_max) {
        return fail(Code::limit, fmt::format("{}: {} bytes, expected at most {}", source.name,
                                             source.text.size(), text_bytes_max));
    }
    std::string_view text = source.text;
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
        const auto line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        return fail(Code::invalid,
                    fmt::format("{}:{}: found a NUL byte, expected text", source.name, line));
    }
    if (text.starts_with("\xEF\xBB\xBF")) { text.remove_prefix(3); }
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) { return {}; }
    const bool is_json = text[first] == '{' || text[first] == '[';

    MUSTER_TRY(trees,
               is_json ? parse_json(source.name, text) : parse_yaml(source.name, source.text));
    auto owned = std::make_unique<Owned>(Owned{source.name, source.name_space, std::move(trees)});
    std::vector<Document> found;
    for (const TreePtr& tree : owned->trees) {
        if (value_of(*tree).is_null()) { continue; }
        Document document;
        document.file = owned->file;
        document.name_space = owned->name_space;
        document.root = &value_of(*tree);
        document.lines = lines_of(*tree);
        MUSTER_CHECK(flatten(std::move(document), 0, found));
    }
    owned_.push_back(std::move(owned));
    all_.insert(all_.end(), std::make_move_iterator(found.begin()),
                std::make_move_iterator(found.end()));
    return {};
}

Result<Documents> read_documents(std::span<const SourceText> sources) {
    Documents documents;
    for (const SourceText& source : sources) { MUSTER_CHECK(documents.add(source)); }
    return documents;
}

}  // namespace muster
