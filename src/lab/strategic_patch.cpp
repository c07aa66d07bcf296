// The order of work is apimachinery's: `$patch`, `$retainKeys`, lists with a given order, the rest.
#include "lab/patch.h"
#include "lab/values.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view patch_key = "$patch";
constexpr std::string_view retain_key = "$retainKeys";
constexpr std::string_view order_prefix = "$setElementOrder/";
constexpr std::string_view deletion_prefix = "$deleteFromPrimitiveList/";

/// How a field merges. Without a schema objects merge and lists are replaced.
struct FieldMerge {
    std::optional<Schema> schema;
    bool is_merged = false;    // of lists
    bool is_replaced = false;  // of objects
    std::string merge_key;     // empty: a list of plain values
};

FieldMerge merge_of(const std::optional<Schema>& schema, std::string_view name) {
    FieldMerge out;
    if (!schema) { return out; }
    out.schema = schema->property(name);
    if (!out.schema) { out.schema = schema->additional(); }
    if (!out.schema) { return out; }
    out.is_merged = out.schema->has_patch_strategy("merge");
    out.is_replaced = out.schema->has_patch_strategy("replace");
    out.merge_key = out.schema->patch_merge_key();
    return out;
}

bool is_directive(std::string_view name) {
    return name == patch_key || name == retain_key || name.starts_with(order_prefix) ||
           name.starts_with(deletion_prefix);
}

/// What is put where nothing was: without nulls and directives, and without what is itself the
/// target of a directive.
json::value without_directives(json::value value) {
    if (json::object* object = value.if_object()) {
        drop_fields(*object, [&](std::string_view name) {
            const json::value& field = *object->if_contains(name);
            return is_directive(name) || field.is_null() ||
                   (field.is_object() && field.get_object().contains(patch_key));
        });
        for (auto& field : *object) {
            field.value() = without_directives(std::move(field.value()));
        }
    } else if (json::array* list = value.if_array()) {
        json::array kept;
        for (json::value& item : *list) {
            if (item.is_object() && item.get_object().contains(patch_key)) { continue; }
            kept.push_back(without_directives(std::move(item)));
        }
        value = std::move(kept);
    }
    return value;
}

/// What an item is known by; none for one that has no key.
std::optional<std::string> key_of(const json::value& item, const std::string& merge_key) {
    if (merge_key.empty()) { return identity(item); }
    const json::object* object = item.if_object();
    const json::value* key = object == nullptr ? nullptr : object->if_contains(merge_key);
    if (key == nullptr || key->is_null()) { return std::nullopt; }
    return identity(*key);
}

Result<std::string> needed_key(const json::value& item, const FieldMerge& field,
                               std::string_view name) {
    if (auto key = key_of(item, field.merge_key)) { return *key; }
    return fail(Code::invalid, fmt::format("{}: {} does not contain the merge key \"{}\"", name,
                                           shown(item), field.merge_key));
}

Result<std::string> directive_of(const json::object& object) {
    const json::value* found = object.if_contains(patch_key);
    if (found == nullptr) { return std::string(); }
    if (found->is_string() && !found->get_string().empty()) {
        return std::string(found->get_string());
    }
    return fail(Code::invalid, fmt::format("unknown $patch: {}", shown(*found)));
}

tl::unexpected<Error> unknown_directive(std::string_view directive) {
    return fail(Code::invalid,
                fmt::format("unknown $patch \"{}\", expected delete, replace or merge", directive));
}

Result<> merge_object(json::object& live, json::object patch, const std::optional<Schema>& schema);

/// An item of a merged list by what tells it apart.
struct Keyed {
    std::string key;
    json::value item;
};

/// The patch's items in its order among the others in theirs: one of the others comes first only
/// where both were there before, and it stood in front.
json::array interleave(std::vector<Keyed> others, std::vector<Keyed> patched,
                       const std::map<std::string, std::size_t>& live) {
    json::array out;
    std::size_t i = 0;
    for (Keyed& one : patched) {
        const auto place = live.find(one.key);
        for (; i < others.size(); ++i) {
            const auto other = live.find(others[i].key);
            const bool is_first =
                place != live.end() && other != live.end() && other->second < place->second;
            if (!is_first) { break; }
            out.push_back(std::move(others[i].item));
        }
        out.push_back(std::move(one.item));
    }
    for (; i < others.size(); ++i) { out.push_back(std::move(others[i].item)); }
    return out;
}

/// Puts a merged list into order; `keys` are those of the patch, in its order.
json::array in_patch_order(json::array merged, const std::vector<std::string>& keys,
                           const std::map<std::string, std::size_t>& live,
                           const std::function<std::string(const json::value&)>& key_of_item) {
    std::vector<Keyed> others;
    std::map<std::string, json::value> found;
    const std::set<std::string> named(keys.begin(), keys.end());
    for (json::value& item : merged) {
        std::string key = key_of_item(item);
        if (named.contains(key) && !found.contains(key)) {
            found.emplace(std::move(key), std::move(item));
        } else {
            others.push_back({.key = std::move(key), .item = std::move(item)});
        }
    }
    std::vector<Keyed> patched;
    for (const std::string& key : keys) {
        const auto item = found.find(key);
        if (item == found.end()) { continue; }
        patched.push_back({.key = key, .item = std::move(item->second)});
        found.erase(item);
    }
    return interleave(std::move(others), std::move(patched), live);
}

Result<> merge_plain_list(json::array& live, json::array patch, std::string_view name) {
    std::map<std::string, std::size_t> places;
    for (const json::value& item : live) { places.emplace(identity(item), places.size()); }
    std::vector<std::string> keys;
    for (const json::value& item : patch) { keys.push_back(identity(item)); }
    std::set<std::string> seen;
    json::array merged;
    for (json::array* list : {&live, &patch}) {
        for (json::value& item : *list) {
            if (item.is_structured()) {
                return fail(Code::invalid,
                            fmt::format("{}: cannot merge without a merge key", name));
            }
            if (seen.insert(identity(item)).second) { merged.push_back(std::move(item)); }
        }
    }
    live = in_patch_order(std::move(merged), keys, places,
                          [](const json::value& item) { return identity(item); });
    return {};
}

/// The patch's items without those that are directives, which are carried out on `live`.
Result<json::array> carry_out_item_directives(json::array& live, json::array patch,
                                              const FieldMerge& field, std::string_view name) {
    json::array plain;
    std::set<std::string> deleted;
    bool is_replaced = false;
    for (json::value& item : patch) {
        if (!item.is_object()) {
            return fail(Code::invalid, fmt::format("{}: expected objects with \"{}\", found {}",
                                                   name, field.merge_key, shown(item)));
        }
        MUSTER_TRY(directive, directive_of(item.get_object()));
        if (directive.empty() || directive == "merge") {
            item.get_object().stable_erase(patch_key);
            plain.push_back(std::move(item));
        } else if (directive == "replace") {
            is_replaced = true;
        } else if (directive == "delete") {
            MUSTER_TRY(key, needed_key(item, field, name));
            deleted.insert(key);
        } else {
            return unknown_directive(directive);
        }
    }
    if (is_replaced) { live.clear(); }
    if (deleted.empty()) { return plain; }
    json::array kept;
    for (json::value& item : live) {
        const auto key = key_of(item, field.merge_key);
        if (!key || !deleted.contains(*key)) { kept.push_back(std::move(item)); }
    }
    live = std::move(kept);
    return plain;
}

Result<> merge_keyed_list(json::array& live, json::array patch, const FieldMerge& field,
                          std::string_view name) {
    MUSTER_TRY(items, carry_out_item_directives(live, std::move(patch), field, name));
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < live.size(); ++i) {
        if (const auto key = key_of(live[i], field.merge_key)) { places.emplace(*key, i); }
    }
    const std::map<std::string, std::size_t> before = places;
    std::vector<std::string> keys;
    const std::optional<Schema> item_schema = field.schema->items();
    for (json::value& item : items) {
        MUSTER_TRY(key, needed_key(item, field, name));
        keys.push_back(key);
        const auto [place, is_new] = places.emplace(key, live.size());
        if (is_new) {
            live.push_back(without_directives(std::move(item)));
        } else {
            MUSTER_CHECK(merge_object(live[place->second].get_object(),
                                      std::move(item.get_object()), item_schema));
        }
    }
    live = in_patch_order(std::move(live), keys, before, [&](const json::value& item) {
        return key_of(item, field.merge_key).value_or(identity(item));
    });
    return {};
}

Result<> merge_list(json::array& live, json::array patch, const FieldMerge& field,
                    std::string_view name) {
    if (!field.is_merged) {
        live = without_directives(std::move(patch)).get_array();
        return {};
    }
    return field.merge_key.empty() ? merge_plain_list(live, std::move(patch), name)
                                   : merge_keyed_list(live, std::move(patch), field, name);
}

/// The patch's items are all in the order, and stand there in the same sequence.
Result<> check_order(const json::array& patch, const std::map<std::string, std::size_t>& order,
                     const FieldMerge& field, std::string_view name) {
    if (order.empty()) { return {}; }
    std::size_t next = 0;
    for (const json::value& item : patch) {
        if (item.is_object() && item.get_object().contains(patch_key)) { continue; }
        MUSTER_TRY(key, needed_key(item, field, name));
        const auto place = order.find(key);
        if (place == order.end() || place->second < next) {
            return fail(Code::invalid,
                        fmt::format("{}: the order of the patch's items does not match {}{}", name,
                                    order_prefix, name));
        }
        next = place->second;
    }
    return {};
}

using Places = std::map<std::string, std::size_t>;
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

Places places_of(const json::array& list, const std::string& merge_key) {
    Places places;
    for (const json::value& item : list) {
        if (const auto key = key_of(item, merge_key)) { places.emplace(*key, places.size()); }
    }
    return places;
}

std::size_t place_in(const Places& places, const json::value& item, const std::string& merge_key) {
    const auto key = key_of(item, merge_key);
    const auto found = key ? places.find(*key) : places.end();
    return found == places.end() ? nowhere : found->second;
}

/// Items of the order in that order. Each of the others stands in front of the first item of the
/// order that it stood in front of in the live list.
json::array in_order(json::array merged, const Places& live, const Places& order,
                     const std::string& merge_key) {
    struct Placed {
        std::size_t place;  // in the order; of the others in the live list
        std::size_t index;
        auto operator<=>(const Placed&) const = default;
    };
    std::vector<Placed> ordered;
    std::vector<Placed> others;
    for (std::size_t i = 0; i < merged.size(); ++i) {
        const std::size_t place = place_in(order, merged[i], merge_key);
        if (place != nowhere) {
            ordered.push_back({place, i});
        } else {
            others.push_back({place_in(live, merged[i], merge_key), i});
        }
    }
    std::ranges::sort(ordered);
    std::ranges::sort(others);

    json::array out;
    auto other = others.begin();
    for (const Placed& item : ordered) {
        const std::size_t place = place_in(live, merged[item.index], merge_key);
        while (place != nowhere && other != others.end() && other->place < place) {
            out.push_back(std::move(merged[(other++)->index]));
        }
        out.push_back(std::move(merged[item.index]));
    }
    while (other != others.end()) { out.push_back(std::move(merged[(other++)->index])); }
    return out;
}

/// Merges the lists whose order the patch gives, and takes them out of the patch.
Result<> merge_ordered_lists(json::object& live, json::object& patch,
                             const std::optional<Schema>& schema) {
    std::vector<std::string> names;
    for (const auto& field : patch) {
        const std::string_view key = field.key();
        if (key.starts_with(order_prefix)) { names.emplace_back(key.substr(order_prefix.size())); }
    }
    for (const std::string& name : names) {
        const json::value given = *patch.if_contains(std::string(order_prefix) + name);
        const json::value* patched = patch.if_contains(name);
        if (!given.is_array() ||
            (patched != nullptr && !patched->is_null() && !patched->is_array())) {
            return fail(Code::invalid, fmt::format("{}{}: expected lists", order_prefix, name));
        }
        json::value* there = live.if_contains(name);
        if (there != nullptr && !there->is_array()) { there = nullptr; }
        if (patched != nullptr && patched->is_null()) { continue; }
        if (there == nullptr && patched == nullptr) { continue; }

        const FieldMerge field = merge_of(schema, name);
        for (const json::value& item : given.get_array()) {
            MUSTER_TRY(key, needed_key(item, field, name));
            static_cast<void>(key);
        }
        const Places order = places_of(given.get_array(), field.merge_key);
        json::array merged = there == nullptr ? json::array() : there->get_array();
        const Places before = places_of(merged, field.merge_key);
        if (patched != nullptr) {
            MUSTER_CHECK(check_order(patched->get_array(), order, field, name));
            if (there == nullptr) {
                merged = without_directives(*patched).get_array();
            } else {
                MUSTER_CHECK(merge_list(merged, patched->get_array(), field, name));
            }
        }
        live[name] = in_order(std::move(merged), before, order, field.merge_key);
        patch.stable_erase(name);
    }
    drop_fields(patch, [](std::string_view name) { return name.starts_with(order_prefix); });
    return {};
}

/// A union keeps only the fields that the patch names.
Result<> retain_keys(json::object& live, json::object& patch) {
    const json::value* given = patch.if_contains(retain_key);
    if (given == nullptr) { return {}; }
    if (!given->is_array()) { return fail(Code::invalid, "$retainKeys: expected a list of names"); }
    std::set<std::string, std::less<>> names;
    for (const json::value& name : given->get_array()) {
        if (!name.is_string()) {
            return fail(Code::invalid, fmt::format("$retainKeys: {} is not a name", shown(name)));
        }
        names.emplace(name.get_string());
    }
    for (const auto& field : patch) {
        if (field.value().is_null() || is_directive(field.key())) { continue; }
        if (!names.contains(std::string_view(field.key()))) {
            return fail(Code::invalid, fmt::format("$retainKeys does not name \"{}\", which the "
                                                   "patch sets",
                                                   std::string_view(field.key())));
        }
    }
    drop_fields(live, [&](std::string_view name) { return !names.contains(name); });
    patch.stable_erase(retain_key);
    return {};
}

Result<> delete_from_list(json::object& live, std::string_view name, const json::value& deleted,
                          const std::optional<Schema>& schema) {
    if (!deleted.is_array()) {
        return fail(Code::invalid, fmt::format("{}{}: expected a list", deletion_prefix, name));
    }
    const FieldMerge field = merge_of(schema, name);
    if (!field.is_merged || !field.merge_key.empty()) {
        return fail(Code::invalid, fmt::format("{}{}: not a list of plain values that merges",
                                               deletion_prefix, name));
    }
    json::value* there = live.if_contains(name);
    if (there == nullptr || !there->is_array()) { return {}; }
    std::set<std::string> gone;
    for (const json::value& item : deleted.get_array()) { gone.insert(identity(item)); }
    json::array kept;
    for (json::value& item : there->get_array()) {
        if (!gone.contains(identity(item))) { kept.push_back(std::move(item)); }
    }
    *there = std::move(kept);
    return {};
}

Result<> merge_field(json::object& live, std::string_view name, json::value change,
                     const std::optional<Schema>& schema) {
    if (name.starts_with(deletion_prefix)) {
        return delete_from_list(live, name.substr(deletion_prefix.size()), change, schema);
    }
    json::value* there = live.if_contains(name);
    if (there == nullptr || there->kind() != change.kind() || !change.is_structured()) {
        if (change.is_object() && change.get_object().contains(patch_key)) {
            live.erase(name);
        } else {
            live[name] = without_directives(std::move(change));
        }
        return {};
    }
    const FieldMerge field = merge_of(schema, name);
    if (change.is_array()) {
        return merge_list(there->get_array(), std::move(change.get_array()), field, name);
    }
    if (field.is_replaced) {
        *there = without_directives(std::move(change));
        return {};
    }
    return merge_object(there->get_object(), std::move(change.get_object()), field.schema);
}

Result<> merge_object(json::object& live, json::object patch, const std::optional<Schema>& schema) {
    MUSTER_TRY(directive, directive_of(patch));
    patch.stable_erase(patch_key);
    if (directive == "delete") {
        live.clear();
        return {};
    }
    if (directive == "replace") {
        live = without_directives(std::move(patch)).get_object();
        return {};
    }
    if (!directive.empty() && directive != "merge") { return unknown_directive(directive); }

    MUSTER_CHECK(retain_keys(live, patch));
    MUSTER_CHECK(merge_ordered_lists(live, patch, schema));
    drop_fields(live, [&](std::string_view name) {
        const json::value* change = patch.if_contains(name);
        return change != nullptr && change->is_null();
    });
    for (auto& field : patch) {
        if (field.value().is_null()) { continue; }
        MUSTER_CHECK(merge_field(live, field.key(), std::move(field.value()), schema));
    }
    return {};
}

}  // namespace

Result<json::value> strategic_patch(json::value document, const json::value& patch,
                                    const Schema& schema) {
    if (!patch.is_object()) { return fail(Code::invalid, "a strategic merge patch is an object"); }
    if (!document.is_object()) {
        return fail(Code::invalid, "only an object takes a strategic merge patch");
    }
    if (!is_within(patch, levels_max)) {
        return fail(Code::limit, fmt::format("the patch nests deeper than {} levels", levels_max));
    }
    MUSTER_CHECK(merge_object(document.get_object(), patch.get_object(), schema));
    return document;
}

}  // namespace muster::lab
