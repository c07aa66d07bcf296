#include "kube/events.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <unordered_map>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::size_t events_known_max = 4096;  // then counting starts anew

const Resource& events() {
    static const Resource resource{.group = "", .version = "v1", .plural = "events"};
    return resource;
}

struct Sighting {
    ObjectName name;
    std::int64_t count = 1;
    bool is_busy = true;  // a call is under way
};

}  // namespace

struct EventRecorder::Impl : std::enable_shared_from_this<EventRecorder::Impl> {
    Impl(Transport& over, Now clock, std::string who)
        : transport(over),
          now(std::move(clock)),
          component(std::move(who)) {}

    void count(const std::string& key, Sighting& seen);
    Transport::Done then(const std::string& key, std::int64_t written);

    Transport& transport;
    Now now;
    std::string component;
    std::unordered_map<std::string, Sighting> known;
    std::uint64_t serial = 0;
};

EventRecorder::EventRecorder(Transport& transport, Now now, std::string component)
    : impl_(std::make_shared<Impl>(transport, std::move(now), std::move(component))) {}
EventRecorder::~EventRecorder() = default;
EventRecorder::EventRecorder(EventRecorder&&) noexcept = default;
EventRecorder& EventRecorder::operator=(EventRecorder&&) noexcept = default;

void EventRecorder::record(const json::object& about, std::string_view type,
                           std::string_view reason, std::string_view message,
                           std::string_view host) {
    Impl& impl = *impl_;
    const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", uid_of(about),
                                        text_at(about, "metadata.name"), type, reason, message);
    if (const auto at = impl.known.find(key); at != impl.known.end()) {
        ++at->second.count;
        return impl.count(key, at->second);
    }
    if (impl.known.size() >= events_known_max) { impl.known.clear(); }
    const std::int64_t now = impl.now();
    const ObjectName subject = name_of(about);
    const std::string space = subject.first.empty() ? "default" : subject.first;
    const std::string name =
        fmt::format("{}.{:x}", subject.second,
                    static_cast<std::uint64_t>(now) * 1'000'000 + ++impl.serial % 1'000'000);
    json::object source{{"component", impl.component}};
    if (!host.empty()) { source["host"] = host; }
    json::object involved{{"apiVersion", text_at(about, "apiVersion")},
                          {"kind", text_at(about, "kind")},
                          {"name", subject.second},
                          {"uid", uid_of(about)}};
    if (!subject.first.empty()) { involved["namespace"] = subject.first; }
    const json::object event{{"apiVersion", "v1"},
                             {"kind", "Event"},
                             {"metadata", {{"name", name}, {"namespace", space}}},
                             {"involvedObject", std::move(involved)},
                             {"type", type},
                             {"reason", reason},
                             {"message", message},
                             {"source", std::move(source)},
                             {"reportingComponent", impl.component},
                             {"reportingInstance", host},
                             {"firstTimestamp", time_text(now)},
                             {"lastTimestamp", time_text(now)},
                             {"count", 1}};
    impl.known.emplace(key, Sighting{.name = {space, name}});
    create_object(impl.transport, events(), space, event, impl.then(key, 1));
}

/// One call at a time, so that counts do not overtake each other.
void EventRecorder::Impl::count(const std::string& key, Sighting& seen) {
    if (seen.is_busy) { return; }
    seen.is_busy = true;
    const json::object patch{{"count", seen.count}, {"lastTimestamp", time_text(now())}};
    patch_object(transport, {.resource = events(), .name = seen.name, .rest = ""}, patch,
                 then(key, seen.count));
}

Transport::Done EventRecorder::Impl::then(const std::string& key, std::int64_t written) {
    return [weak = weak_from_this(), key, written](const Result<Answer>& answer) {
        const auto self = weak.lock();
        if (!self) { return; }
        const auto at = self->known.find(key);
        if (at == self->known.end()) { return; }
        // An event that could not be written or has expired is a new one next time.
        if (!answer || !answer->is_ok()) {
            self->known.erase(at);
            return;
        }
        at->second.is_busy = false;
        if (at->second.count != written) { self->count(key, at->second); }
    };
}

}  // namespace muster::kube
