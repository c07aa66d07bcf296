#include "lab/collector.h"

#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view client = "garbage-collector";

bool has_finalizer(const json::object& object, std::string_view name) {
    const json::value* found = value_at(object, "metadata.finalizers");
    if (found == nullptr || !found->is_array()) { return false; }
    return std::any_of(found->get_array().begin(), found->get_array().end(),
                       [&](const json::value& one) {
                           return one.is_string() && std::string_view(one.get_string()) == name;
                       });
}

/// Its finalizers without that one, as a merge patch.
json::object without_finalizer(const json::object& object, std::string_view name) {
    json::array left;
    for (const json::value& one : value_at(object, "metadata.finalizers")->get_array()) {
        if (!one.is_string() || std::string_view(one.get_string()) != name) { left.push_back(one); }
    }
    return {{"metadata", {{"finalizers", std::move(left)}}}};
}

}  // namespace

Collector::Collector(Api& api, std::function<void()> wake) : api_(api), wake_(std::move(wake)) {
    for (const std::string& resource : api_.store().resources()) {
        for (const auto& [key, stored] : api_.store().all(resource)) {
            const json::value object = json::parse(*stored.text);
            index({resource, key}, object.get_object());
            due_.insert({resource, key});
        }
    }
    listener_ = api_.store().listen("", [this](std::string_view resource, const StoreEvent& event) {
        notice(resource, event);
    });
}

Collector::~Collector() { api_.store().stop_listening(listener_); }

void Collector::notice(std::string_view resource, const StoreEvent& event) {
    if (resource == "events" || resource == "coordination.k8s.io/leases") { return; }
    const Id id{std::string(resource), event.key};
    const json::value object = json::parse(*event.now.text);
    if (event.type == StoreEvent::Type::deleted) {
        const std::string uid(text_at(object.get_object(), "metadata.uid"));
        uids_.erase(uid);
        ended_.insert(uid);
        for (const std::string& owner : owners_[id]) {
            dependents_[owner].erase(id);
            if (const auto found = uids_.find(owner); found != uids_.end()) {
                due_.insert(found->second);
            }
        }
        owners_.erase(id);
        if (!id.second.first.empty()) { due_.insert({"namespaces", {"", id.second.first}}); }
    } else {
        index(id, object.get_object());
        if (is_leaving(object.get_object()) || event.type == StoreEvent::Type::added) {
            due_.insert(id);
        }
    }
    if (wake_ && (!due_.empty() || !ended_.empty())) { wake_(); }
}

void Collector::index(const Id& id, const json::object& object) {
    uids_[std::string(text_at(object, "metadata.uid"))] = id;
    std::set<std::string> owners;
    if (const json::value* found = value_at(object, "metadata.ownerReferences");
        found != nullptr && found->is_array()) {
        for (const json::value& one : found->get_array()) {
            if (one.is_object()) { owners.emplace(text_at(one.get_object(), "uid")); }
        }
    }
    for (const std::string& owner : owners_[id]) {
        if (!owners.contains(owner)) { dependents_[owner].erase(id); }
    }
    for (const std::string& owner : owners) { dependents_[owner].insert(id); }
    owners_[id] = std::move(owners);
}

void Collector::collect() {
    while (!ended_.empty() || !due_.empty()) {
        for (const std::string& uid : std::exchange(ended_, {})) { owner_gone(uid); }
        for (const Id& id : std::exchange(due_, {})) { look_at(id); }
    }
}

void Collector::owner_gone(const std::string& uid) {
    const auto found = dependents_.find(uid);
    if (found == dependents_.end()) { return; }
    const std::set<Id> orphans = found->second;
    for (const Id& id : orphans) { due_.insert(id); }
}

void Collector::look_at(const Id& id) {
    const Stored* stored = api_.store().find(id.first, id.second);
    if (stored == nullptr) { return; }
    const json::value parsed = json::parse(*stored->text);
    const json::object& object = parsed.get_object();
    const std::string uid(text_at(object, "metadata.uid"));
    if (const auto owners = owners_.find(id); owners != owners_.end() && !owners->second.empty()) {
        const bool has_one = std::any_of(owners->second.begin(), owners->second.end(),
                                         [&](const std::string& owner) { return is_there(owner); });
        if (!has_one && !is_leaving(object)) { return remove(id, "Background"); }
    }
    if (!is_leaving(object)) { return; }
    if (id.first == "namespaces") { return finish_namespace(id.second.second); }
    const std::set<Id> dependents = dependents_[uid];
    if (has_finalizer(object, "orphan")) {
        for (const Id& dependent : dependents) {
            patch(dependent, {{"metadata", {{"ownerReferences", nullptr}}}});
        }
        patch(id, without_finalizer(object, "orphan"));
    } else if (has_finalizer(object, "foregroundDeletion")) {
        bool is_any_left = false;
        for (const Id& dependent : dependents) {
            if (api_.store().find(dependent.first, dependent.second) == nullptr) { continue; }
            is_any_left = true;
            const json::value its =
                json::parse(*api_.store().find(dependent.first, dependent.second)->text);
            if (!is_leaving(its.get_object())) {
                remove(dependent, "Foreground");
                if (api_.store().find(dependent.first, dependent.second) == nullptr) {
                    due_.insert(id);
                }
            }
        }
        if (!is_any_left) { patch(id, without_finalizer(object, "foregroundDeletion")); }
    }
}

/// Everything in it first, then itself.
void Collector::finish_namespace(const std::string& name) {
    bool is_any_left = false;
    for (const std::string& resource : api_.store().resources()) {
        const ResourceType* type = api_.registry().stored(resource);
        if (type == nullptr || !type->is_namespaced) { continue; }
        std::vector<Key> keys;
        const auto& all = api_.store().all(resource);
        for (auto one = all.lower_bound({name, ""}); one != all.end() && one->first.first == name;
             ++one) {
            keys.push_back(one->first);
        }
        for (const Key& key : keys) {
            const Stored* stored = api_.store().find(resource, key);
            if (stored == nullptr) { continue; }
            const json::value object = json::parse(*stored->text);
            if (!is_leaving(object.get_object())) { remove({resource, key}); }
            is_any_left = is_any_left || api_.store().find(resource, key) != nullptr;
        }
    }
    const ResourceType* type = api_.registry().find("", "v1", "namespaces");
    if (!is_any_left && type != nullptr) { static_cast<void>(api_.erase(*type, {"", name})); }
}

std::optional<kube::Resource> Collector::resource_of(const Id& id) const {
    const ResourceType* type = api_.registry().stored(id.first);
    if (type == nullptr) { return std::nullopt; }
    return kube::Resource{type->group, type->version, type->plural};
}

void Collector::remove(const Id& id, const std::string& propagation) {
    const auto resource = resource_of(id);
    if (!resource) { return; }
    static_cast<void>(api_.handle(
        kube::delete_call(*resource, id.second, {.uid = {}, .propagation = propagation}), client));
}

void Collector::patch(const Id& id, const json::object& change) {
    const auto resource = resource_of(id);
    if (!resource) { return; }
    static_cast<void>(api_.handle(
        kube::patch_call({.resource = *resource, .name = id.second, .rest = {}}, change), client));
}

}  // namespace muster::lab
