#include "lab/apply.h"

#include "lab/field_walk.h"
#include "lab/managed_fields.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// What the system sets in metadata. Nobody owns it.
constexpr std::array<std::string_view, 10> system_fields{
    "uid",           "resourceVersion", "generation",        "creationTimestamp",
    "managedFields", "selfLink",        "deletionTimestamp", "deletionGracePeriodSeconds",
    "clusterName",   "namespace"};

/// Without what nobody owns: how the object is found, and what the system sets.
FieldSet strip(const FieldSet& fields) {
    static const FieldSet never = [] {
        FieldSet metadata;
        metadata.put(FieldStep::field("name"), true, {});
        for (const std::string_view name : system_fields) {
            metadata.put(FieldStep::field(name), true, {});
        }
        FieldSet out;
        out.put(FieldStep::field("apiVersion"), true, {});
        out.put(FieldStep::field("kind"), true, {});
        out.put(FieldStep::field("metadata"), true, std::move(metadata));
        return out;
    }();
    return fields.subtract(never);
}

/// What a request to this subresource can change: the status, or all but it.
FieldSet in_scope(const FieldSet& fields, const Manager& manager) {
    FieldSet out;
    for (const auto& [step, node] : fields.nodes()) {
        const bool is_status = step == FieldStep::field("status");
        if (is_status == (manager.subresource == "status")) {
            out.put(step, node.is_member, node.inside);
        }
    }
    return out;
}

FieldChanges compare_in_scope(const json::value& before, const json::value& after,
                              const FieldType& type, const Manager& manager) {
    const FieldChanges all = compare_fields(before, after, type);
    return {.added = in_scope(all.added, manager),
            .modified = in_scope(all.modified, manager),
            .removed = in_scope(all.removed, manager)};
}

ManagedEntry entry_of(const Manager& manager, bool is_applied) {
    return {.manager = manager.name,
            .is_applied = is_applied,
            .api_version = manager.api_version,
            .subresource = manager.subresource,
            .time = manager.time,
            .fields = {}};
}

/// The entry of the same owner; a new one with no fields when there is none.
ManagedEntry& entry_like(std::vector<ManagedEntry>& entries, ManagedEntry wanted) {
    const auto found =
        std::find_if(entries.begin(), entries.end(),
                     [&wanted](const ManagedEntry& entry) { return entry.is_same_owner(wanted); });
    return found != entries.end() ? *found : entries.emplace_back(std::move(wanted));
}

void drop_empty(std::vector<ManagedEntry>& entries) {
    std::erase_if(entries, [](const ManagedEntry& entry) { return entry.fields.is_empty(); });
}

/// Takes away what the manager applied `last`, does not now, and nobody owns: first all of it, then
/// what somebody owns comes back, then what was inside of it and never the manager's.
json::value prune(const json::value& merged, const FieldSet& last,
                  const std::vector<ManagedEntry>& entries, const FieldType& type) {
    FieldSet owned;
    for (const ManagedEntry& entry : entries) { owned = owned.unite(entry.fields); }
    const FieldSet last_named = with_named_fields(last, type);
    const FieldSet all = with_named_fields(fields_of(merged, type), type);
    const auto kept_in = [&type](const json::value& value) {
        return with_named_fields(fields_of(value, type), type);
    };
    json::value pruned = without_fields(merged, last_named, type);
    const FieldSet kept = kept_in(pruned).unite(with_named_fields(owned, type));
    pruned = without_fields(merged, all.subtract(kept), type);
    return without_fields(merged, all.subtract(kept_in(pruned)).intersect(last_named), type);
}

void keep_system_fields(const json::value& live, json::value& object) {
    const json::object* live_fields = live.if_object();
    const json::value* live_metadata =
        live_fields == nullptr ? nullptr : live_fields->if_contains("metadata");
    if (live_metadata == nullptr || !live_metadata->is_object() || !object.is_object()) { return; }
    json::value& metadata = object.get_object()["metadata"];
    if (!metadata.is_object()) { metadata = json::object(); }
    for (const std::string_view name : system_fields) {
        if (const json::value* found = live_metadata->get_object().if_contains(name)) {
            metadata.get_object()[name] = *found;
        }
    }
}

bool is_same_but_time(std::vector<ManagedEntry> left, std::vector<ManagedEntry> right) {
    const auto by_owner = [](const ManagedEntry& one, const ManagedEntry& other) {
        return std::tie(one.is_applied, one.manager, one.api_version, one.subresource) <
               std::tie(other.is_applied, other.manager, other.api_version, other.subresource);
    };
    std::sort(left.begin(), left.end(), by_owner);
    std::sort(right.begin(), right.end(), by_owner);
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const ManagedEntry& one, const ManagedEntry& other) {
                          return one.is_same_owner(other) && one.fields == other.fields &&
                                 one.api_version == other.api_version;
                      });
}

/// Takes from all but `own` what changed, or names it as conflicts.
void take_from_others(std::vector<ManagedEntry>& entries, const ManagedEntry* own,
                      const FieldChanges& changes, std::vector<FieldConflict>* conflicts) {
    const FieldSet changed = changes.modified.unite(changes.added);
    for (ManagedEntry& entry : entries) {
        if (&entry == own) { continue; }
        if (conflicts != nullptr) {
            for (std::string& path : entry.fields.intersect(changed).paths()) {
                conflicts->push_back({.manager = entry.manager,
                                      .field = std::move(path),
                                      .owner = entry.print_owner()});
            }
        }
        entry.fields = entry.fields.subtract(changed).subtract(changes.removed);
    }
}

bool is_reset(const json::value& object) {
    const json::value* list = managed_fields_in(object);
    if (list == nullptr || !list->is_array()) { return false; }
    const json::array& entries = list->get_array();
    return entries.empty() || (entries.size() == 1 && entries[0] == json::object());
}

/// The client may write managedFields itself; who does not know them leaves them as they were.
std::vector<ManagedEntry> entries_of_update(const json::value& before, const json::value& after,
                                            const Manager& manager) {
    if (manager.subresource.empty()) {
        if (is_reset(after)) { return {}; }
        Result<std::vector<ManagedEntry>> sent = read_managed_fields(after);
        if (sent && !sent->empty()) { return *std::move(sent); }
    }
    Result<std::vector<ManagedEntry>> had = read_managed_fields(before);
    return had ? *std::move(had) : std::vector<ManagedEntry>();
}

bool is_stored(const json::value& object) {
    const json::value* uid = nullptr;
    if (const json::object* fields = object.if_object()) {
        const json::value* metadata = fields->if_contains("metadata");
        if (metadata != nullptr && metadata->is_object()) {
            uid = metadata->get_object().if_contains("uid");
        }
    }
    return uid != nullptr && uid->is_string() && !uid->get_string().empty();
}

}  // namespace

Result<json::value> apply_configuration(const json::value& live, const json::value& applied,
                                        const Schema& schema, const Manager& manager, bool force,
                                        std::vector<FieldConflict>& conflicts) {
    conflicts.clear();
    if (!applied.is_object()) { return fail(Code::invalid, "expected an object"); }
    if (const json::value* sent = managed_fields_in(applied); sent != nullptr && !sent->is_null()) {
        return fail(Code::invalid, "metadata.managedFields must be nil");
    }
    const FieldType type = FieldType::of_object(schema);
    MUSTER_CHECK(check_lists(applied, type, ""));
    MUSTER_TRY(had, read_managed_fields(live));
    std::vector<ManagedEntry> entries = had;
    if (entries.empty() && live.is_object()) {
        ManagedEntry first = entry_of(manager, false);
        first.manager = "before-first-apply";
        const FieldChanges all = compare_in_scope(empty_object(schema), live, type, manager);
        first.fields = strip(all.added.unite(all.modified));
        if (!first.fields.is_empty()) { entries.push_back(std::move(first)); }
    }

    json::value merged = merge_fields(live, applied, type);
    ManagedEntry& own = entry_like(entries, entry_of(manager, true));
    const FieldSet last = std::exchange(own.fields, in_scope(fields_of(applied, type), manager));
    own.api_version = manager.api_version;
    own.time = manager.time;
    if (!last.is_empty()) {
        // Again, for a map that is emptied now but applied as an empty one.
        merged = merge_fields(prune(merged, last, entries, type), applied, type);
    }

    const FieldChanges changes = compare_in_scope(live, merged, type, manager);
    take_from_others(entries, &own, changes, force ? nullptr : &conflicts);
    if (!conflicts.empty()) { return fail(Code::conflict, conflict_text(conflicts)); }
    own.fields = strip(own.fields);
    drop_empty(entries);

    drop_nulls(merged, type);
    keep_system_fields(live, merged);
    const bool has_changes = !strip(changes.added).is_empty() ||
                             !strip(changes.modified).is_empty() ||
                             !strip(changes.removed).is_empty();
    // Otherwise the times stay as they are too, and with them the whole object.
    if (has_changes || !is_same_but_time(had, entries)) {
        write_managed_fields(merged, std::move(entries));
    }
    return merged;
}

void note_update(const json::value& before, json::value& after, const Schema& schema,
                 const Manager& manager) {
    std::vector<ManagedEntry> entries = entries_of_update(before, after, manager);
    if (entries.empty() && is_stored(before)) {  // nobody has asked who owns what
        write_managed_fields(after, {});
        return;
    }
    const FieldType type = FieldType::of_object(schema);
    const json::value blank = before.is_object() ? json::value() : empty_object(schema);
    const FieldChanges changes =
        compare_in_scope(before.is_object() ? before : blank, after, type, manager);
    take_from_others(entries, nullptr, changes, nullptr);
    FieldSet changed = strip(changes.added.unite(changes.modified));
    if (!changed.is_empty()) {
        ManagedEntry& own = entry_like(entries, entry_of(manager, false));
        own.fields = own.fields.unite(changed);
        own.time = manager.time;
    }
    drop_empty(entries);
    merge_oldest_updates(entries);
    write_managed_fields(after, std::move(entries));
}

std::string conflict_text(const std::vector<FieldConflict>& conflicts) {
    if (conflicts.size() == 1) {
        return fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].owner,
                           conflicts[0].field);
    }
    std::map<std::string, std::vector<std::string>> by_owner;
    for (const FieldConflict& conflict : conflicts) {
        by_owner[conflict.owner].push_back(conflict.field);
    }
    std::string out = fmt::format("Apply failed with {} conflicts: ", conflicts.size());
    bool is_first = true;
    for (const auto& [owner, fields] : by_owner) {
        out += fmt::format("{}conflicts with {}:", is_first ? "" : "\n", owner);
        is_first = false;
        for (const std::string& field : fields) { out += "\n- " + field; }
    }
    return out;
}

}  // namespace muster::lab
