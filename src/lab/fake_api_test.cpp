#include "lab/fake_api_test.h"

#include "kube/objects.h"
#include "lab/place_test.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace muster::lab {

namespace json = boost::json;
using kube::Answer;
using kube::ObjectName;

namespace {

constexpr std::int64_t start_time = 1'795'946'400'000;  // 2026-11-29T10:00:00Z

void merge(json::value& into, const json::value& patch, bool is_strategic, std::string_view key) {
    if (const json::object* object = patch.if_object()) {
        if (!into.is_object()) { into = json::object(); }
        for (const auto& field : *object) {
            if (field.value().is_null()) {
                into.as_object().erase(field.key());
            } else {
                merge(into.as_object()[field.key()], field.value(), is_strategic, field.key());
            }
        }
        return;
    }
    if (!is_strategic || key != "conditions" || !patch.is_array() || !into.is_array()) {
        into = patch;
        return;
    }
    for (const json::value& one : patch.as_array()) {
        const std::string_view type = kube::text_at(one.as_object(), "type");
        json::array& list = into.as_array();
        const auto same = std::find_if(list.begin(), list.end(), [&](const json::value& other) {
            return kube::text_at(other.as_object(), "type") == type;
        });
        if (same == list.end()) {
            list.push_back(one);
        } else {
            merge(*same, one, false, "");
        }
    }
}

struct Due {
    std::int64_t time = 0;
    std::uint64_t serial = 0;
    std::function<void()> work;
};

struct DueLater {
    bool operator()(const Due& a, const Due& b) const {
        return std::pair(a.time, a.serial) > std::pair(b.time, b.serial);
    }
};

struct Watcher {
    std::string collection;
    std::function<void(std::string_view)> line;
    bool is_open = true;
};

struct WatchHandle : kube::Transport::Stream {
    explicit WatchHandle(std::shared_ptr<Watcher> of) : watcher(std::move(of)) {}
    WatchHandle(const WatchHandle&) = delete;
    WatchHandle& operator=(const WatchHandle&) = delete;
    ~WatchHandle() override { watcher->is_open = false; }
    std::shared_ptr<Watcher> watcher;
};

}  // namespace

struct FakeApi::Impl {
    Answer answer(const kube::Call& call);
    Answer list(const CallPlace& place);
    Answer create(const CallPlace& place, json::object object);
    Answer change(const CallPlace& place, const json::object& patch, bool is_strategic);
    Answer remove(const CallPlace& place, const json::object& options);
    void tell(const std::string& collection, std::string_view type, json::object object);
    void store(const CallPlace& place, json::object object, std::string_view type);
    void later(std::int64_t wait, std::function<void()> work) {
        queue.push({time + wait, ++serial, std::move(work)});
    }

    std::map<std::string, std::map<ObjectName, json::object>> objects;
    std::priority_queue<Due, std::vector<Due>, DueLater> queue;
    std::vector<std::shared_ptr<Watcher>> watchers;
    std::vector<std::pair<int, std::string>> log;  // (version, collection\nline)
    std::int64_t time = 0;
    std::int64_t speed = 1;
    std::uint64_t serial = 0;
    int version = 100;
    int refusals = 0;
    std::int64_t calls = 0;
};

Answer FakeApi::Impl::answer(const kube::Call& call) {
    const CallPlace place = place_of(call.target);
    json::object body;
    if (!call.body.empty()) { body = json::parse(call.body).as_object(); }
    if (call.method == "POST") { return create(place, std::move(body)); }
    if (place.name.second.empty()) { return list(place); }
    const auto& all = objects[place.collection];
    const auto at = all.find(place.name);
    if (at == all.end()) { return {.status = 404, .body = "{}"}; }
    if (call.method == "DELETE") { return remove(place, body); }
    if (call.method == "PATCH") {
        return change(place, body, call.content_type.find("strategic") != std::string::npos);
    }
    return {.status = 200, .body = json::serialize(at->second)};
}

Answer FakeApi::Impl::list(const CallPlace& place) {
    json::array items;
    for (const auto& [name, object] : objects[place.collection]) {
        json::object item = object;
        item.erase("kind");
        item.erase("apiVersion");
        items.push_back(std::move(item));
    }
    static const std::map<std::string, std::string> kinds{{"pods", "Pod"},
                                                          {"nodes", "Node"},
                                                          {"jobs", "Job"},
                                                          {"events", "Event"},
                                                          {"cronjobs", "CronJob"},
                                                          {"replicasets", "ReplicaSet"},
                                                          {"deployments", "Deployment"},
                                                          {"statefulsets", "StatefulSet"}};
    const std::size_t slash = place.collection.rfind('/');
    const std::size_t root = place.collection.starts_with("/apis/") ? 6 : 5;
    const json::object out{{"kind", kinds.at(place.collection.substr(slash + 1)) + "List"},
                           {"apiVersion", place.collection.substr(root, slash - root)},
                           {"metadata", {{"resourceVersion", std::to_string(version)}}},
                           {"items", std::move(items)}};
    return {.status = 200, .body = json::serialize(out)};
}

void FakeApi::Impl::tell(const std::string& collection, std::string_view type,
                         json::object object) {
    const json::object event{{"type", type}, {"object", std::move(object)}};
    const std::string line = json::serialize(event);
    for (const auto& watcher : watchers) {
        if (watcher->collection != collection) { continue; }
        later(1, [watcher, line] {
            if (watcher->is_open) { watcher->line(line); }
        });
    }
    log.emplace_back(version, collection + "\n" + line);
}

void FakeApi::Impl::store(const CallPlace& place, json::object object, std::string_view type) {
    object["metadata"].as_object()["resourceVersion"] = std::to_string(++version);
    objects[place.collection][place.name] = object;
    tell(place.collection, type, std::move(object));
}

Answer FakeApi::Impl::create(const CallPlace& place, json::object object) {
    if (place.rest == "eviction") { return remove(place, {}); }
    if (place.rest == "binding") {
        const json::object patch{{"spec", {{"nodeName", kube::text_at(object, "target.name")}}}};
        return change({place.collection, place.name, ""}, patch, false);
    }
    if (refusals > 0) {
        --refusals;
        return {.status = 403, .body = R"({"kind":"Status","message":"exceeded quota"})"};
    }
    json::object& metadata = object["metadata"].as_object();
    std::string name(kube::text_at(object, "metadata.name"));
    if (name.empty()) {
        name = fmt::format("{}{:05}", kube::text_at(object, "metadata.generateName"), ++serial);
    }
    CallPlace at = place;
    at.name.second = name;
    if (objects[at.collection].contains(at.name)) { return {.status = 409, .body = "{}"}; }
    metadata["name"] = name;
    if (!at.name.first.empty()) { metadata["namespace"] = at.name.first; }
    metadata["uid"] = fmt::format("uid-{}", ++serial);
    metadata["generation"] = 1;
    metadata["creationTimestamp"] = kube::time_text(start_time + time * speed);
    if (at.collection == "/api/v1/pods" && !kube::object_at(object, "status")) {
        object["status"] = json::object{{"phase", "Pending"}};
    }
    store(at, object, "ADDED");
    return {.status = 201, .body = json::serialize(objects[at.collection][at.name])};
}

Answer FakeApi::Impl::change(const CallPlace& place, const json::object& patch, bool is_strategic) {
    auto& all = objects[place.collection];
    const auto at = all.find(place.name);
    if (at == all.end()) { return {.status = 404, .body = "{}"}; }
    const std::string_view uid = kube::uid_of(patch);
    if (!uid.empty() && uid != kube::uid_of(at->second)) { return {.status = 409, .body = "{}"}; }
    json::value changed = at->second;
    json::object wanted = patch;
    wanted.erase(place.rest == "status" ? "spec" : "status");
    merge(changed, wanted, is_strategic, "");
    json::object& object = changed.as_object();
    if (object == at->second) { return {.status = 200, .body = json::serialize(changed)}; }
    const json::object* spec = kube::object_at(object, "spec");
    const json::object* before = kube::object_at(at->second, "spec");
    if (spec != nullptr && (before == nullptr || *spec != *before)) {
        object["metadata"].as_object()["generation"] =
            kube::int_at(at->second, "metadata.generation") + 1;
    }
    store(place, object, "MODIFIED");
    return {.status = 200, .body = json::serialize(all[place.name])};
}

Answer FakeApi::Impl::remove(const CallPlace& place, const json::object& options) {
    auto& all = objects[place.collection];
    const auto at = all.find(place.name);
    const std::string_view uid = kube::text_at(options, "preconditions.uid");
    if (!uid.empty() && uid != kube::uid_of(at->second)) { return {.status = 409, .body = "{}"}; }
    const bool is_bound =
        place.collection == "/api/v1/pods" && !kube::text_at(at->second, "spec.nodeName").empty();
    const std::int64_t grace =
        kube::int_at(options, "gracePeriodSeconds",
                     kube::int_at(at->second, "spec.terminationGracePeriodSeconds", 30));
    if (is_bound && grace > 0) {
        if (!kube::is_leaving(at->second)) {
            json::object object = at->second;
            json::object& metadata = object["metadata"].as_object();
            metadata["deletionTimestamp"] = kube::time_text(start_time + time * speed);
            metadata["deletionGracePeriodSeconds"] = grace;
            store(place, std::move(object), "MODIFIED");
        }
        return {.status = 200, .body = "{}"};
    }
    json::object object = at->second;
    object["metadata"].as_object()["resourceVersion"] = std::to_string(++version);
    all.erase(at);
    tell(place.collection, "DELETED", std::move(object));
    return {.status = 200, .body = "{}"};
}

FakeApi::FakeApi(std::int64_t speed) : impl_(std::make_unique<Impl>()) { impl_->speed = speed; }
FakeApi::~FakeApi() = default;

void FakeApi::call(kube::Call call, Done done) {
    impl_->later(1, [this, sent = std::move(call), then = std::move(done)] {
        ++impl_->calls;
        then(impl_->answer(sent));
    });
}

std::unique_ptr<kube::Transport::Stream> FakeApi::stream(kube::Call call,
                                                         std::function<void(std::string_view)> line,
                                                         Done) {
    auto watcher = std::make_shared<Watcher>();
    watcher->collection = place_of(call.target).collection;
    watcher->line = std::move(line);
    impl_->watchers.push_back(watcher);
    const std::size_t at = call.target.find("resourceVersion=");
    const int since = std::stoi(call.target.substr(at + 16));
    for (const auto& [version, text] : impl_->log) {
        const std::size_t cut = text.find('\n');
        if (version <= since || text.substr(0, cut) != watcher->collection) { continue; }
        impl_->later(1, [watcher, missed = text.substr(cut + 1)] {
            if (watcher->is_open) { watcher->line(missed); }
        });
    }
    return std::make_unique<WatchHandle>(watcher);
}

void FakeApi::after(std::int64_t milliseconds, std::function<void()> work) {
    impl_->later(milliseconds, std::move(work));
}

LabClock FakeApi::clock() {
    return {.now = [this] { return start_time + impl_->time * impl_->speed; },
            .speed = impl_->speed};
}

void FakeApi::run_for(std::int64_t milliseconds) {
    const std::int64_t end = impl_->time + milliseconds;
    while (!impl_->queue.empty() && impl_->queue.top().time <= end) {
        Due due = impl_->queue.top();
        impl_->queue.pop();
        impl_->time = due.time;
        due.work();
    }
    impl_->time = end;
}

const json::object* FakeApi::find(const std::string& path) const {
    const CallPlace place = place_of(path);
    const auto& all = impl_->objects[place.collection];
    const auto at = all.find(place.name);
    return at == all.end() ? nullptr : &at->second;
}

std::vector<const json::object*> FakeApi::all(const std::string& path) const {
    std::vector<const json::object*> out;
    for (const auto& [name, object] : impl_->objects[path]) { out.push_back(&object); }
    return out;
}

std::vector<std::string> FakeApi::texts(const std::string& path, std::string_view field) const {
    std::vector<std::string> out;
    for (const json::object* object : all(path)) {
        out.emplace_back(kube::text_at(*object, field));
    }
    return out;
}

int FakeApi::send(const std::string& method, const std::string& target, std::string_view body,
                  const std::string& content_type) {
    return impl_
        ->answer({.method = method,
                  .target = target,
                  .content_type = content_type,
                  .body = std::string(body)})
        .status;
}

void FakeApi::refuse_creates(int count) { impl_->refusals = count; }
std::int64_t FakeApi::calls() const { return impl_->calls; }

}  // namespace muster::lab
