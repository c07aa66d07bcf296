// Tests only: a Kubernetes API in memory, as far as a scheduler uses it, behind a Transport. All
// is answered when the test pumps, in order.
#pragma once

#include "kube/client.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::kube {

namespace json = boost::json;

class FakeApi {
public:
    struct Watcher {
        std::string collection;
        std::function<void(std::string_view)> line;
        bool is_open = true;
    };

    /// "/api/v1/pods" and the like; the kind is the object's own.
    void put(const std::string& collection, json::object object) {
        const ObjectName name = name_of(object);
        object["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
        const bool is_new = !collections[collection].contains(name);
        collections[collection][name] = object;
        tell(collection, is_new ? "ADDED" : "MODIFIED", object);
    }
    void erase(const std::string& collection, const ObjectName& name) {
        const auto taken = collections[collection].extract(name);
        if (taken.empty()) { return; }
        json::object object = taken.mapped();
        object["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
        tell(collection, "DELETED", object);
    }
    json::object& at(const std::string& collection, const ObjectName& name) {
        return collections[collection][name];
    }
    void pump() {
        for (std::size_t left = work.size(); left > 0; --left) {
            auto next = std::move(work.front());
            work.pop_front();
            next();
        }
    }
    Answer handle(const Call& call);
    /// Of all namespaces, whichever the target names.
    static std::string collection_of(const std::string& target) {
        return parse(target).collection();
    }

    std::map<std::string, std::map<ObjectName, json::object>> collections;
    std::set<std::string> served;  // collections of groups other than the core
    std::vector<std::shared_ptr<Watcher>> watchers;
    std::deque<std::function<void()>> work;
    std::vector<Call> changes;                             // calls other than GET
    std::function<bool(const Call&)> is_lost = {};         // on its way to the server
    std::function<bool(const Call&)> is_answer_lost = {};  // on its way back
    std::function<std::optional<Answer>(const Call&)> refuses = {};
    std::vector<std::function<void()>> later;  // what waits for time to pass
    bool is_watch_deaf = false;                // changes are not told

private:
    struct Path {
        std::string prefix;  // "/apis/apps/v1"
        std::string space;
        std::string plural;
        std::string name;
        std::string rest;

        [[nodiscard]] std::string collection() const { return prefix + "/" + plural; }
    };
    static Path parse(std::string target) {
        target = target.substr(0, target.find('?'));
        std::vector<std::string> parts;
        for (std::size_t i = 1; i < target.size();) {
            const std::size_t end = std::min(target.find('/', i), target.size());
            parts.push_back(target.substr(i, end - i));
            i = end + 1;
        }
        parts.resize(parts.size() + 8);
        Path out;
        std::size_t i = parts[0] == "api" ? 2 : 3;
        for (std::size_t k = 0; k < i; ++k) { out.prefix += "/" + parts[k]; }
        if (parts[i] == "namespaces" && !parts[i + 2].empty()) {
            out.space = parts[i + 1];
            i += 2;
        }
        out.plural = parts[i];
        out.name = parts[i + 1];
        out.rest = parts[i + 2];
        return out;
    }

    void tell(const std::string& collection, std::string_view type, const json::object& object) {
        if (is_watch_deaf) { return; }
        const std::string text = json::serialize(json::object{{"type", type}, {"object", object}});
        for (const auto& watcher : watchers) {
            if (watcher->collection != collection) { continue; }
            work.emplace_back([watcher, text] {
                if (watcher->is_open) { watcher->line(text); }
            });
        }
    }
    static void merge(json::object& to, const json::object& from, bool is_strategic) {
        for (const auto& [key, value] : from) {
            if (value.is_null()) {
                to.erase(key);
            } else if (value.is_object()) {
                json::value& inner = to[key];
                if (!inner.is_object()) { inner.emplace_object(); }
                merge(inner.get_object(), value.get_object(), is_strategic);
            } else if (is_strategic && key == "conditions") {
                json::value& list = to[key];
                if (!list.is_array()) { list.emplace_array(); }
                for (const json::value& one : value.as_array()) {
                    const auto type = text_at(one.as_object(), "type");
                    const auto same = std::find_if(
                        list.as_array().begin(), list.as_array().end(), [&](const json::value& v) {
                            return text_at(v.as_object(), "type") == type;
                        });
                    if (same == list.as_array().end()) {
                        list.as_array().push_back(one);
                    } else {
                        *same = one;
                    }
                }
            } else {
                to[key] = value;
            }
        }
    }
    Answer change(const Call& call, const Path& path);

    std::int64_t version_ = 100;
};

inline Answer FakeApi::handle(const Call& call) {
    const Path path = parse(call.target);
    if (call.method != "GET") { return change(call, path); }
    if (call.target == "/apis") {
        std::set<std::string> names;
        for (const std::string& one : served) { names.insert(parse(one).prefix.substr(6)); }
        json::array list;
        std::string last;
        for (const std::string& name : names) {
            std::string group = name.substr(0, name.find('/'));
            if (group != last) { list.push_back(json::object{{"name", group}}); }
            last = std::move(group);
        }
        return {.status = 200, .body = json::serialize(json::object{{"groups", std::move(list)}})};
    }
    if (path.plural.empty()) {
        json::array resources;
        for (const std::string& one : served) {
            if (one.starts_with(path.prefix + "/")) {
                resources.push_back(json::object{{"name", one.substr(path.prefix.size() + 1)}});
            }
        }
        if (resources.empty()) { return {.status = 404, .body = "{}"}; }
        return {.status = 200,
                .body = json::serialize(json::object{{"resources", std::move(resources)}})};
    }
    json::array items;
    for (const auto& [name, object] : collections[path.collection()]) { items.push_back(object); }
    return {.status = 200,
            .body = json::serialize(
                json::object{{"kind", "List"},
                             {"apiVersion", "v1"},
                             {"metadata", {{"resourceVersion", std::to_string(version_)}}},
                             {"items", std::move(items)}})};
}

inline Answer FakeApi::change(const Call& call, const Path& path) {
    changes.push_back(call);
    const json::value parsed = json::parse(call.body);
    const json::object& body = parsed.as_object();
    if (call.method == "POST" && path.name.empty()) {
        put(path.collection(), body);
        return {.status = 201, .body = call.body};
    }
    auto& objects = collections[path.collection()];
    const auto found = objects.find({path.space, path.name});
    if (found == objects.end()) { return {.status = 404, .body = "{}"}; }
    json::object object = found->second;
    for (const std::string_view where :
         {"metadata.uid", "deleteOptions.preconditions.uid", "preconditions.uid"}) {
        const std::string_view uid = text_at(body, where);
        if (!uid.empty() && uid != uid_of(object)) { return {.status = 409, .body = "{}"}; }
    }
    if (path.rest == "binding") {
        json::object& spec = object["spec"].as_object();
        if (spec.contains("nodeName")) { return {.status = 409, .body = "{}"}; }
        spec["nodeName"] = text_at(body, "target.name");
        put(path.collection(), std::move(object));
        return {.status = 201, .body = "{}"};
    }
    if (path.rest == "eviction" || call.method == "DELETE") {
        erase(path.collection(), {path.space, path.name});
        return {.status = 201, .body = "{}"};
    }
    if (call.method != "PATCH") { return {.status = 405, .body = "{}"}; }
    merge(object, body, call.content_type.find("strategic") != std::string::npos);
    put(path.collection(), std::move(object));
    return {.status = 200, .body = "{}"};
}

class FakeTransport final : public Transport {
public:
    explicit FakeTransport(FakeApi& api) : api_(api) {}

    void call(Call call, Done done) override {
        api_.work.emplace_back([this, call = std::move(call), done = std::move(done),
                                alive = std::weak_ptr<int>(alive_)] {
            if (alive.expired()) { return; }
            if (api_.is_lost && api_.is_lost(call)) { return; }
            const auto refusal = api_.refuses ? api_.refuses(call) : std::nullopt;
            const Answer answer = refusal ? *refusal : api_.handle(call);
            if (api_.is_answer_lost && api_.is_answer_lost(call)) {
                return done(fail(Code::unavailable, "the connection was cut"));
            }
            done(answer);
        });
    }
    std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                   Done /*done*/) override {
        auto watcher = std::make_shared<FakeApi::Watcher>();
        watcher->collection = FakeApi::collection_of(call.target);
        watcher->line = std::move(line);
        api_.watchers.push_back(watcher);
        return std::make_unique<Watching>(std::move(watcher));
    }
    void after(std::int64_t /*milliseconds*/, std::function<void()> work) override {
        api_.later.push_back(std::move(work));
    }

private:
    struct Watching final : Stream {
        explicit Watching(std::shared_ptr<FakeApi::Watcher> of) : watcher(std::move(of)) {}
        Watching(const Watching&) = delete;
        Watching& operator=(const Watching&) = delete;
        ~Watching() override { watcher->is_open = false; }
        std::shared_ptr<FakeApi::Watcher> watcher;
    };

    FakeApi& api_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace muster::kube
