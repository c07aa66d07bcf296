#include "lab/workload_objects.h"

#include "base/text.h"
#include "kube/objects.h"

#include <boost/json.hpp>

#include <algorithm>
#include <vector>

namespace muster::lab {

namespace json = boost::json;
using kube::text_at;

namespace {

constexpr std::uint64_t fnv_prime = 0x100000001b3;

void hash_text(std::uint64_t& hash, std::string_view text) {
    for (const char c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * fnv_prime; }
    hash = (hash ^ 0xff) * fnv_prime;
}

void hash_value(std::uint64_t& hash, const json::value& value) {
    if (const json::array* list = value.if_array()) {
        hash_text(hash, "[");
        for (const json::value& one : *list) { hash_value(hash, one); }
        return hash_text(hash, "]");
    }
    const json::object* object = value.if_object();
    if (object == nullptr) { return hash_text(hash, json::serialize(value)); }
    std::vector<std::string_view> keys;
    for (const auto& field : *object) { keys.emplace_back(field.key()); }
    std::sort(keys.begin(), keys.end());
    hash_text(hash, "{");
    for (const std::string_view key : keys) {
        hash_text(hash, key);
        hash_value(hash, object->at(key));
    }
    hash_text(hash, "}");
}

}  // namespace

json::object pod_of_template(const json::object& owner) {
    json::object pod{{"apiVersion", "v1"}, {"kind", "Pod"}};
    json::object metadata;
    if (const json::object* given = kube::object_at(owner, "spec.template.metadata")) {
        for (const char* key : {"labels", "annotations", "finalizers"}) {
            if (const json::value* value = given->if_contains(key)) { metadata[key] = *value; }
        }
    }
    const std::string_view name = text_at(owner, "metadata.name");
    metadata["generateName"] = std::string(name) + "-";
    metadata["namespace"] = text_at(owner, "metadata.namespace");
    metadata["ownerReferences"] = json::array{kube::owner_reference(owner)};
    pod["metadata"] = std::move(metadata);
    const json::object* spec = kube::object_at(owner, "spec.template.spec");
    pod["spec"] = spec ? *spec : json::object();
    return pod;
}

void put_in(json::object& object, std::string_view map, std::string_view key,
            std::string_view value) {
    json::value& metadata = object["metadata"];
    if (!metadata.is_object()) { metadata = json::object(); }
    json::value& inner = metadata.as_object()[map];
    if (!inner.is_object()) { inner = json::object(); }
    inner.as_object()[key] = value;
}

std::optional<kube::ObjectName> controller_name(const json::object& object, std::string_view kind) {
    const json::object* owner = kube::controller_of(object);
    if (owner == nullptr || text_at(*owner, "kind") != kind) { return std::nullopt; }
    return kube::ObjectName{text_at(object, "metadata.namespace"), text_at(*owner, "name")};
}

std::vector<const json::object*> controlled_by(const json::object& owner,
                                               const kube::Informer& cache) {
    std::vector<const json::object*> out;
    const kube::ObjectName name = kube::name_of(owner);
    const kube::ObjectName first{name.first, name.second + "-"};
    const auto& all = cache.objects();
    for (auto at = all.lower_bound(first); at != all.end(); ++at) {
        const bool is_near =
            at->first.first == name.first && at->first.second.starts_with(first.second);
        if (!is_near) { break; }
        const json::object* its = kube::controller_of(at->second);
        if (its && text_at(*its, "uid") == kube::uid_of(owner)) { out.push_back(&at->second); }
    }
    return out;
}

bool is_over(const json::object& pod) {
    const std::string_view phase = text_at(pod, "status.phase");
    return phase == "Succeeded" || phase == "Failed";
}

bool is_standing(const json::object& pod) { return !is_over(pod) && !kube::is_leaving(pod); }

bool is_available(const json::object& pod, std::int64_t seconds, std::int64_t now) {
    if (kube::condition_of(pod, "Ready") != "True") { return false; }
    if (seconds <= 0) { return true; }
    for (const json::value& one : *kube::array_at(pod, "status.conditions")) {
        const json::object* condition = one.if_object();
        if (condition == nullptr || text_at(*condition, "type") != "Ready") { continue; }
        const std::int64_t since = kube::read_time(text_at(*condition, "lastTransitionTime"));
        return since >= 0 && since + seconds * 1000 <= now;
    }
    return false;
}

void set_condition(json::array& conditions, const ConditionUpdate& update, std::int64_t now) {
    json::object made{{"type", update.type},
                      {"status", update.status},
                      {"reason", update.reason},
                      {"message", update.message},
                      {"lastTransitionTime", kube::time_text(now)}};
    for (json::value& one : conditions) {
        json::object* condition = one.if_object();
        if (condition == nullptr || text_at(*condition, "type") != update.type) { continue; }
        if (text_at(*condition, "status") == update.status) {
            for (const char* key : {"reason", "message"}) { (*condition)[key] = made[key]; }
        } else {
            *condition = std::move(made);
        }
        return;
    }
    conditions.push_back(std::move(made));
}

void drop_condition(json::array& conditions, std::string_view type) {
    json::array kept;
    for (json::value& one : conditions) {
        if (one.is_object() && text_at(one.get_object(), "type") == type) { continue; }
        kept.push_back(std::move(one));
    }
    conditions = std::move(kept);
}

json::array conditions_in(const json::object& object) {
    const json::array* conditions = kube::array_at(object, "status.conditions");
    return conditions ? *conditions : json::array();
}

json::value count_or_none(std::int64_t count) {
    return count == 0 ? json::value() : json::value(count);
}

void write_status(kube::Transport& transport, const kube::Resource& resource,
                  const json::object& object, json::object status) {
    const json::object* current = kube::object_at(object, "status");
    const bool is_same = std::all_of(status.begin(), status.end(), [&](const auto& field) {
        const json::value* now = current ? current->if_contains(field.key()) : nullptr;
        return now ? *now == field.value() : field.value().is_null();
    });
    if (is_same) { return; }
    const json::object patch{{"metadata", {{"uid", kube::uid_of(object)}}},
                             {"status", std::move(status)}};
    kube::patch_object(
        transport, {.resource = resource, .name = kube::name_of(object), .rest = "status"}, patch);
}

std::int64_t share_of(const json::value* value, std::int64_t whole, bool rounds_up,
                      std::string_view otherwise) {
    std::string_view text = otherwise;
    if (value != nullptr) {
        if (const std::int64_t* number = value->if_int64()) {
            return std::max<std::int64_t>(*number, 0);
        }
        if (const json::string* given = value->if_string()) { text = *given; }
    }
    if (!text.ends_with('%')) { return 0; }
    text.remove_suffix(1);
    const auto percent = parse_int("percentage", text, 0, 1'000'000);
    return percent ? (whole * *percent + (rounds_up ? 99 : 0)) / 100 : 0;
}

std::string template_hash(const json::value& value) {
    std::uint64_t hash = 0xcbf29ce484222325;
    hash_value(hash, value);
    constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
    std::string out;
    for (int i = 0; i < 10; ++i) {
        out += letters[hash % letters.size()];
        hash /= letters.size();
    }
    return out;
}

}  // namespace muster::lab
