#include "lab/object_store.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

// What watches may fall behind: enough for ten thousand pods that start at once.
constexpr std::size_t events_max = 200'000;
constexpr std::size_t event_bytes_max = std::size_t{256} << 20;

Labels labels_of(const json::object& object) {
    const json::value* metadata = object.if_contains("metadata");
    if (metadata == nullptr || !metadata->is_object()) { return nullptr; }
    const json::value* labels = metadata->get_object().if_contains("labels");
    if (labels == nullptr || !labels->is_object()) { return nullptr; }
    return std::make_shared<const json::object>(labels->get_object());
}

void set_version(json::object& object, std::uint64_t version) {
    json::value& metadata = object["metadata"];
    if (!metadata.is_object()) { metadata = json::object(); }
    metadata.get_object()["resourceVersion"] = std::to_string(version);
}

Stored stored_of(const json::object& object, std::uint64_t version) {
    return {.text = std::make_shared<const std::string>(json::serialize(object)),
            .labels = labels_of(object),
            .version = version};
}

}  // namespace

Result<ObjectStore> ObjectStore::open(std::unique_ptr<Disk> disk) {
    ObjectStore store(std::move(disk));
    if (store.disk_ == nullptr) { return store; }
    std::string wrong;
    auto last = store.disk_->read(
        [&](std::string resource, Key key, std::uint64_t version, std::string text) {
            boost::system::error_code failed;
            const json::value object = json::parse(text, failed);
            if (failed || !object.is_object()) {
                wrong = fmt::format("{} {}/{} is no JSON object", resource, key.first, key.second);
                return;
            }
            store.kept(resource).objects[std::move(key)] = {
                .text = std::make_shared<const std::string>(std::move(text)),
                .labels = labels_of(object.get_object()),
                .version = version};
        });
    if (!last) { return tl::unexpected(std::move(last.error())); }
    if (!wrong.empty()) { return fail(Code::corrupt, wrong); }
    store.version_ = store.opened_at_ = *last;
    for (auto& [name, kept] : store.kept_) { kept.history.forgotten_to = *last; }
    return store;
}

ObjectStore::Kept& ObjectStore::kept(std::string_view resource) {
    const auto found = kept_.find(resource);
    if (found != kept_.end()) { return found->second; }
    Kept& made = kept_[std::string(resource)];
    made.history.forgotten_to = opened_at_;
    return made;
}

const ObjectStore::Objects& ObjectStore::all(std::string_view resource) const {
    static const Objects none;
    const auto found = kept_.find(resource);
    return found == kept_.end() ? none : found->second.objects;
}

const Stored* ObjectStore::find(std::string_view resource, const Key& key) const {
    const Objects& objects = all(resource);
    const auto found = objects.find(key);
    return found == objects.end() ? nullptr : &found->second;
}

std::vector<std::string> ObjectStore::resources() const {
    std::vector<std::string> out;
    out.reserve(kept_.size());
    for (const auto& [name, kept] : kept_) { out.push_back(name); }
    return out;
}

Result<Stored> ObjectStore::put(std::string_view resource, const Key& key, json::object& object) {
    set_version(object, version_ + 1);
    Stored now = stored_of(object, version_ + 1);
    const std::string name(resource);
    if (disk_ != nullptr) { MUSTER_CHECK(disk_->write(name, key, version_ + 1, now.text.get())); }
    ++version_;
    Kept& of = kept(resource);
    const auto [at, is_new] = of.objects.try_emplace(key);
    Stored before = std::exchange(at->second, now);
    happen(name, of,
           {.type = is_new ? StoreEvent::Type::added : StoreEvent::Type::modified,
            .key = key,
            .version = version_,
            .now = now,
            .before = std::move(before)});
    return now;
}

Result<> ObjectStore::write_together(const std::function<Result<>()>& work) {
    if (disk_ == nullptr) { return work(); }
    MUSTER_CHECK(disk_->begin());
    Result<> done = work();
    const Result<> ended = disk_->end(done.has_value());
    return done ? ended : done;
}

Result<Stored> ObjectStore::remove(std::string_view resource, const Key& key) {
    Kept& of = kept(resource);
    const auto found = of.objects.find(key);
    if (found == of.objects.end()) {
        return fail(Code::not_found, fmt::format("{} {}/{}", resource, key.first, key.second));
    }
    const std::string name(resource);
    if (disk_ != nullptr) { MUSTER_CHECK(disk_->write(name, key, version_ + 1, nullptr)); }
    ++version_;
    // Watches see the last state under the version of its end.
    json::object last = json::parse(*found->second.text).get_object();
    set_version(last, version_);
    Stored now = stored_of(last, version_);
    Stored before = std::move(found->second);
    of.objects.erase(found);
    happen(name, of,
           {.type = StoreEvent::Type::deleted,
            .key = key,
            .version = version_,
            .now = now,
            .before = std::move(before)});
    return now;
}

void ObjectStore::happen(const std::string& resource, Kept& kept, StoreEvent event) {
    History& history = kept.history;
    history.bytes += event.now.text->size();
    history.events.push_back(std::move(event));
    while (history.events.size() > events_max || history.bytes > event_bytes_max) {
        history.bytes -= history.events.front().now.text->size();
        history.forgotten_to = history.events.front().version;
        history.events.pop_front();
        ++history.first;
    }
    // By number: a listener may come or go while others are called; events stay where they are.
    const StoreEvent last = history.events.back();
    const auto tell = [&](std::map<std::uint64_t, Listener>& all) {
        for (auto at = all.begin(); at != all.end();) {
            const std::uint64_t number = at->first;
            const Listener listener = at->second;
            listener(resource, last);
            at = all.upper_bound(number);
        }
    };
    tell(kept.listeners);
    tell(listeners_);
}

std::optional<std::size_t> ObjectStore::position_after(std::string_view resource,
                                                       std::uint64_t version) const {
    const auto found = kept_.find(resource);
    if (found == kept_.end()) {
        if (version < opened_at_) { return std::nullopt; }
        return 0;
    }
    const History& history = found->second.history;
    if (version < history.forgotten_to) { return std::nullopt; }
    const auto at = std::upper_bound(
        history.events.begin(), history.events.end(), version,
        [](std::uint64_t wanted, const StoreEvent& event) { return wanted < event.version; });
    return history.first + static_cast<std::size_t>(at - history.events.begin());
}

const StoreEvent* ObjectStore::event(std::string_view resource, std::size_t position) const {
    const auto found = kept_.find(resource);
    if (found == kept_.end()) { return nullptr; }
    const History& history = found->second.history;
    if (position < history.first || position - history.first >= history.events.size()) {
        return nullptr;
    }
    return &history.events[position - history.first];
}

bool ObjectStore::is_forgotten(std::string_view resource, std::size_t position) const {
    const auto found = kept_.find(resource);
    return found != kept_.end() && position < found->second.history.first;
}

std::uint64_t ObjectStore::listen(std::string_view resource, Listener listener) {
    auto& all = resource.empty() ? listeners_ : kept(resource).listeners;
    all.emplace(next_listener_, std::move(listener));
    return next_listener_++;
}

void ObjectStore::stop_listening(std::uint64_t number) {
    listeners_.erase(number);
    for (auto& [name, kept] : kept_) { kept.listeners.erase(number); }
}

}  // namespace muster::lab
