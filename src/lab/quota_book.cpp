#include "lab/quota_book.h"

#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view quotas = "resourcequotas";

/// An object of which nothing but its being there counts is not read.
json::object read_for(std::string_view resource, const std::string& text) {
    if (!has_inner_usage(resource)) { return {}; }
    return json::parse(text).get_object();
}

}  // namespace

QuotaBook::QuotaBook(ObjectStore& store) : store_(store) {
    for (const auto& [key, stored] : store_.all(quotas)) {
        read(key, json::parse(*stored.text).get_object());
    }
    listener_ = store_.listen("", [this](std::string_view resource, const StoreEvent& event) {
        notice(resource, event);
    });
}

QuotaBook::~QuotaBook() { store_.stop_listening(listener_); }

void QuotaBook::notice(std::string_view resource, const StoreEvent& event) {
    const bool is_gone = event.type == StoreEvent::Type::deleted;
    if (resource == quotas && is_gone) {
        quotas_.erase(event.key);
        changed_.erase(event.key);
    }
    const bool is_counted = event.type != StoreEvent::Type::modified || has_inner_usage(resource);
    const std::string& space = event.key.first;
    for (auto at = quotas_.lower_bound({space, ""});
         is_counted && at != quotas_.end() && at->first.first == space; ++at) {
        const ResourceList before = at->second.used;
        if (is_gone) {
            count(at->second, resource, *event.now.text, true);
        } else {
            if (event.before.text) { count(at->second, resource, *event.before.text, true); }
            count(at->second, resource, *event.now.text, false);
        }
        if (before != at->second.used) { changed_.insert(at->first); }
    }
    if (resource == quotas && !is_gone) {
        read(event.key, json::parse(*event.now.text).get_object());
    }
}

/// A quota that is new or bounds something else is counted from what is there.
void QuotaBook::read(const Key& key, const json::object& quota) {
    QuotaSpec spec = read_quota(quota);
    const auto [at, is_new] = quotas_.try_emplace(key);
    if (!is_new && at->second.spec == spec) { return; }
    changed_.insert(key);
    Quota& mine = at->second;
    mine = {.spec = std::move(spec), .used = {}};
    for (const auto& [name, bound] : mine.spec.hard) { mine.used[name] = {}; }
    for (const std::string& resource : store_.resources()) {
        const auto& all = store_.all(resource);
        for (auto one = all.lower_bound({key.first, ""});
             one != all.end() && one->first.first == key.first; ++one) {
            count(mine, resource, *one->second.text, false);
        }
    }
}

void QuotaBook::count(Quota& quota, std::string_view resource, const std::string& text,
                      bool is_taken) {
    const json::object object = read_for(resource, text);
    if (!is_in_scope(quota.spec, resource, object)) { return; }
    for (const auto& [name, amount] : counted(quota.spec, usage_of(resource, object))) {
        if (is_taken) {
            take(quota.used[name], amount);
        } else {
            add(quota.used[name], amount);
        }
    }
}

std::string QuotaBook::refusal(std::string_view resource, std::string_view space,
                               const json::object& object) const {
    const std::string name(space);
    for (auto at = quotas_.lower_bound({name, ""}); at != quotas_.end() && at->first.first == name;
         ++at) {
        const auto& [spec, used] = at->second;
        if (!is_in_scope(spec, resource, object)) { continue; }
        if (resource == "pods") {
            if (const std::string missing = missing_amounts(spec, object); !missing.empty()) {
                return fmt::format("failed quota: {}: must specify {}", at->first.second, missing);
            }
        }
        ResourceList over;
        ResourceList had;
        ResourceList bounds;
        for (const auto& [what, amount] : counted(spec, usage_of(resource, object))) {
            Quantity then = used.at(what);
            add(then, amount);
            const Quantity& bound = spec.hard.at(what);
            if (amount.milli == 0 || then <= bound) { continue; }
            over[what] = amount;
            had[what] = used.at(what);
            bounds[what] = bound;
        }
        if (!over.empty()) {
            return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}",
                               at->first.second, text_of(over), text_of(had), text_of(bounds));
        }
    }
    return {};
}

void QuotaBook::settle() {
    for (const Key& key : std::exchange(changed_, {})) {
        if (!write_status(key)) { changed_.insert(key); }
    }
}

/// False when the disk did not take it.
bool QuotaBook::write_status(const Key& key) {
    const Stored* stored = store_.find(quotas, key);
    const auto mine = quotas_.find(key);
    if (stored == nullptr || mine == quotas_.end()) { return true; }
    json::object quota = json::parse(*stored->text).get_object();
    json::object status{{"hard", list_of(mine->second.spec.hard)},
                        {"used", list_of(mine->second.used)}};
    const json::value* had = quota.if_contains("status");
    if (had != nullptr && *had == json::value(status)) { return true; }
    quota["status"] = std::move(status);
    return store_.put(quotas, key, quota).has_value();
}

}  // namespace muster::lab
