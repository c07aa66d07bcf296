#include "lab/managed_fields.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::ptrdiff_t updates_max = 10;

std::string text_of(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string())
                                                  : std::string();
}

Result<ManagedEntry> read_entry(const json::value& value) {
    const json::object* object = value.if_object();
    if (object == nullptr) { return fail(Code::invalid, "expected an object"); }
    ManagedEntry entry{.manager = text_of(*object, "manager"),
                       .is_applied = text_of(*object, "operation") == "Apply",
                       .api_version = text_of(*object, "apiVersion"),
                       .subresource = text_of(*object, "subresource"),
                       .time = text_of(*object, "time"),
                       .fields = {}};
    if (!entry.is_applied && text_of(*object, "operation") != "Update") {
        return fail(Code::invalid, "operation must be `Apply` or `Update`");
    }
    if (entry.api_version.empty()) { return fail(Code::invalid, "apiVersion must not be empty"); }
    if (text_of(*object, "fieldsType") != "FieldsV1") {
        return fail(Code::invalid, "fieldsType must be `FieldsV1`");
    }
    if (const json::value* fields = object->if_contains("fieldsV1");
        fields != nullptr && !fields->is_null()) {
        MUSTER_TRY(set, FieldSet::parse(*fields));
        entry.fields = std::move(set);
    }
    return entry;
}

json::value write_entry(const ManagedEntry& entry) {
    json::object out;
    out["manager"] = entry.manager;
    out["operation"] = entry.is_applied ? "Apply" : "Update";
    out["apiVersion"] = entry.api_version;
    if (!entry.time.empty()) { out["time"] = entry.time; }
    out["fieldsType"] = "FieldsV1";
    out["fieldsV1"] = entry.fields.write();
    if (!entry.subresource.empty()) { out["subresource"] = entry.subresource; }
    return out;
}

}  // namespace

bool ManagedEntry::is_same_owner(const ManagedEntry& other) const {
    return manager == other.manager && is_applied == other.is_applied &&
           subresource == other.subresource && (is_applied || api_version == other.api_version);
}

std::string ManagedEntry::print_owner() const {
    std::string out = fmt::format("\"{}\"", manager);
    if (!subresource.empty()) { out += fmt::format(" with subresource \"{}\"", subresource); }
    if (!is_applied) { out += " using " + api_version; }
    return out;
}

const json::value* managed_fields_in(const json::value& object) {
    const json::object* fields = object.if_object();
    const json::value* metadata = fields == nullptr ? nullptr : fields->if_contains("metadata");
    if (metadata == nullptr || !metadata->is_object()) { return nullptr; }
    return metadata->get_object().if_contains("managedFields");
}

Result<std::vector<ManagedEntry>> read_managed_fields(const json::value& object) {
    std::vector<ManagedEntry> out;
    const json::value* list = managed_fields_in(object);
    if (list == nullptr || list->is_null()) { return out; }
    if (!list->is_array()) { return fail(Code::invalid, "managedFields: expected a list"); }
    for (const json::value& value : list->get_array()) {
        Result<ManagedEntry> entry = read_entry(value);
        if (!entry) { return tl::unexpected(std::move(entry).error().wrap("managedFields")); }
        out.push_back(*std::move(entry));
    }
    return out;
}

void write_managed_fields(json::value& object, std::vector<ManagedEntry> entries) {
    json::object* fields = object.if_object();
    json::value* metadata = fields == nullptr ? nullptr : fields->if_contains("metadata");
    if (metadata == nullptr || !metadata->is_object()) { return; }
    if (entries.empty()) {
        json::object& all = metadata->get_object();
        if (const auto at = all.find("managedFields"); at != all.end()) { all.stable_erase(at); }
        return;
    }
    std::sort(
        entries.begin(), entries.end(), [](const ManagedEntry& left, const ManagedEntry& right) {
            // Times are all of one form and zone, so that their texts are in order too.
            return std::tie(right.is_applied, left.time, left.manager, left.api_version,
                            left.subresource) < std::tie(left.is_applied, right.time, right.manager,
                                                         right.api_version, right.subresource);
        });
    json::array list;
    for (const ManagedEntry& entry : entries) { list.push_back(write_entry(entry)); }
    metadata->get_object()["managedFields"] = std::move(list);
}

void merge_oldest_updates(std::vector<ManagedEntry>& entries) {
    std::vector<std::size_t> updates;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!entries[i].is_applied) { updates.push_back(i); }
    }
    auto surplus = std::ssize(updates) - updates_max;
    if (surplus <= 0) { return; }
    std::sort(updates.begin(), updates.end(), [&entries](std::size_t a, std::size_t b) {
        return std::tie(entries[a].time, a) < std::tie(entries[b].time, b);
    });
    std::map<std::string, std::size_t> oldest;  // by version
    std::vector<bool> is_merged(entries.size());
    for (const std::size_t i : updates) {
        if (surplus == 0) { break; }
        const auto [at, is_first] = oldest.try_emplace(entries[i].api_version, i);
        if (is_first) { continue; }
        ManagedEntry& into = entries[at->second];
        into.manager = "ancient-changes";
        into.subresource.clear();
        into.fields = into.fields.unite(entries[i].fields);
        into.time = entries[i].time;
        is_merged[i] = true;
        --surplus;
    }
    std::vector<ManagedEntry> left;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!is_merged[i]) { left.push_back(std::move(entries[i])); }
    }
    entries = std::move(left);
}

}  // namespace muster::lab
