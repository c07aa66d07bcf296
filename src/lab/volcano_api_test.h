// A strict little API in memory for the tests of Volcano's controllers: any collection, versions
// that conflict, deletion that waits for a pod to end, watches. Time is virtual.
#pragma once

#include "kube/client.h"
#include "kube/objects.h"
#include "lab/patch.h"
#include "lab/place_test.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::lab::volcano {

class StrictApi final : public kube::Transport {
public:
    using Object = boost::json::object;

    void call(kube::Call call, Done done) override {
        ++calls;
        after(1, [this, call = std::move(call), done = std::move(done)] {
            const kube::Answer given = answer(call);
            if (given.status == 409) { ++conflicts; }
            done(given);
        });
    }

    std::unique_ptr<Stream> stream(kube::Call call, std::function<void(std::string_view)> line,
                                   Done /*done*/) override {
        auto watch = std::make_shared<Watch>();
        watch->collection = place_of(call.target).collection;
        watch->line = std::move(line);
        const std::size_t at = call.target.find("resourceVersion=");
        const int since = at == std::string::npos ? 0 : std::stoi(call.target.substr(at + 16));
        for (const Change& change : changes) {
            if (change.version > since) { send(watch, change); }
        }
        watches.push_back(watch);
        return std::make_unique<Handle>(watch);
    }

    void after(std::int64_t milliseconds, std::function<void()> work) override {
        due.emplace(std::pair(now + milliseconds, ++serial), std::move(work));
    }

    void run_for(std::int64_t milliseconds) {
        const std::int64_t end = now + milliseconds;
        while (!due.empty() && due.begin()->first.first <= end) {
            auto next = due.extract(due.begin());
            now = std::max(now, next.key().first);
            next.mapped()();
        }
        now = end;
    }

    /// Right now, by the hand of a test.
    kube::Answer send(std::string method, std::string target, std::string_view body = "") {
        return answer(
            {.method = std::move(method), .target = std::move(target), .body = std::string(body)});
    }

    const Object* find(const std::string& path) {
        const CallPlace place = place_of(path);
        const auto& all = objects[place.collection];
        const auto at = all.find(place.name);
        return at == all.end() ? nullptr : &at->second;
    }
    std::vector<const Object*> all(const std::string& collection) {
        std::vector<const Object*> out;
        for (const auto& [name, object] : objects[collection]) { out.push_back(&object); }
        return out;
    }
    std::vector<std::string> texts(const std::string& collection, std::string_view path) {
        std::vector<std::string> out;
        for (const Object* object : all(collection)) {
            out.emplace_back(kube::text_at(*object, path));
        }
        return out;
    }
    /// What a kubelet does with a pod that is to end.
    void end_pods() {
        auto& pods = objects["/api/v1/pods"];
        for (auto at = pods.begin(); at != pods.end();) {
            const auto pod = at++;
            if (kube::is_leaving(pod->second)) { drop("/api/v1/pods", pod->first); }
        }
    }

    std::int64_t now = 1'795'946'400'000;  // 2026-11-29T10:00:00Z
    std::int64_t watch_delay = 1;          // how far caches are behind
    int refusals = 0;                      // of the next creations
    int calls = 0;
    int conflicts = 0;

private:
    struct Change {
        int version = 0;
        std::string collection;
        std::string line;
    };
    struct Watch {
        std::string collection;
        std::function<void(std::string_view)> line;
        bool is_open = true;
    };
    struct Handle final : Stream {
        explicit Handle(std::shared_ptr<Watch> of) : watch(std::move(of)) {}
        Handle(const Handle&) = delete;
        Handle& operator=(const Handle&) = delete;
        ~Handle() override { watch->is_open = false; }
        std::shared_ptr<Watch> watch;
    };

    void send(const std::shared_ptr<Watch>& watch, const Change& change) {
        if (watch->collection != change.collection) { return; }
        after(watch_delay, [watch, line = change.line] {
            if (watch->is_open) { watch->line(line); }
        });
    }

    void tell(const std::string& collection, std::string_view type, const Object& object) {
        const Object event{{"type", type}, {"object", object}};
        changes.push_back({version, collection, boost::json::serialize(event)});
        for (const auto& watch : watches) { send(watch, changes.back()); }
    }

    kube::Answer put(const CallPlace& place, Object object, bool is_new) {
        Object& metadata = object["metadata"].as_object();
        metadata["resourceVersion"] = std::to_string(++version);
        objects[place.collection][place.name] = object;
        tell(place.collection, is_new ? "ADDED" : "MODIFIED", object);
        return {.status = is_new ? 201 : 200, .body = boost::json::serialize(object)};
    }

    void drop(const std::string& collection, const kube::ObjectName& name) {
        Object last = objects[collection][name];
        last["metadata"].as_object()["resourceVersion"] = std::to_string(++version);
        objects[collection].erase(name);
        tell(collection, "DELETED", last);
    }

    kube::Answer answer(const kube::Call& call) {
        const CallPlace place = place_of(call.target);
        Object body;
        if (!call.body.empty()) { body = boost::json::parse(call.body).as_object(); }
        if (call.method == "POST") { return create(place, std::move(body)); }
        if (place.name.second.empty()) { return list(place); }
        const auto& all_of = objects[place.collection];
        const auto at = all_of.find(place.name);
        if (at == all_of.end()) { return {.status = 404, .body = "{}"}; }
        const Object there = at->second;
        if (call.method == "DELETE") { return remove(place, there, body); }
        if (call.method == "GET") { return {.status = 200, .body = boost::json::serialize(there)}; }
        const std::string_view seen = kube::text_at(body, "metadata.resourceVersion");
        if (!seen.empty() && seen != kube::text_at(there, "metadata.resourceVersion")) {
            return {.status = 409, .body = "{}"};
        }
        // Only the status, or all but it.
        boost::json::value changed = there;
        const std::string_view untouched = place.rest == "status" ? "spec" : "status";
        if (call.method == "PATCH") {
            changed = merge_patch(std::move(changed), body);
        } else {
            changed = body;
        }
        if (const auto* kept = there.if_contains(untouched)) {
            changed.as_object()[untouched] = *kept;
        } else {
            changed.as_object().erase(untouched);
        }
        changed.as_object()["metadata"].as_object()["resourceVersion"] =
            kube::text_at(there, "metadata.resourceVersion");
        if (changed == boost::json::value(there)) {
            return {.status = 200, .body = boost::json::serialize(there)};
        }
        return put(place, changed.as_object(), false);
    }

    kube::Answer list(const CallPlace& place) {
        boost::json::array items;
        for (const auto& [name, object] : objects[place.collection]) { items.emplace_back(object); }
        const std::size_t slash = place.collection.rfind('/');
        const std::size_t root = place.collection.starts_with("/apis/") ? 6 : 5;
        Object out{{"kind", "ThingList"},
                   {"apiVersion", place.collection.substr(root, slash - root)},
                   {"items", std::move(items)}};
        out["metadata"] = Object{{"resourceVersion", std::to_string(version)}};
        return {.status = 200, .body = boost::json::serialize(out)};
    }

    kube::Answer create(CallPlace place, Object object) {
        if (refusals > 0) {
            --refusals;
            return {.status = 403, .body = "{}"};
        }
        place.name.second = std::string(kube::text_at(object, "metadata.name"));
        if (place.name.second.empty()) {
            place.name.second =
                fmt::format("{}{}", kube::text_at(object, "metadata.generateName"), ++serial);
        }
        if (objects[place.collection].contains(place.name)) {
            return {.status = 409, .body = "{}"};
        }
        Object& metadata = object["metadata"].as_object();
        metadata["name"] = place.name.second;
        if (!place.name.first.empty()) { metadata["namespace"] = place.name.first; }
        metadata["uid"] = fmt::format("uid-{}", ++serial);
        metadata["creationTimestamp"] = kube::time_text(now);
        object.erase("status");
        if (place.collection == "/api/v1/pods") { object["status"] = Object{{"phase", "Pending"}}; }
        return put(place, std::move(object), true);
    }

    kube::Answer remove(const CallPlace& place, Object there, const Object& options) {
        const std::string_view uid = kube::text_at(options, "preconditions.uid");
        if (!uid.empty() && uid != kube::uid_of(there)) { return {.status = 409, .body = "{}"}; }
        if (place.collection != "/api/v1/pods") {
            drop(place.collection, place.name);
        } else if (!kube::is_leaving(there)) {
            there["metadata"].as_object()["deletionTimestamp"] = kube::time_text(now);
            put(place, std::move(there), false);
        }
        return {.status = 200, .body = "{}"};
    }

    std::map<std::string, std::map<kube::ObjectName, Object>> objects;
    std::multimap<std::pair<std::int64_t, std::uint64_t>, std::function<void()>> due;
    std::vector<std::shared_ptr<Watch>> watches;
    std::vector<Change> changes;
    std::uint64_t serial = 0;
    int version = 100;
};

}  // namespace muster::lab::volcano
