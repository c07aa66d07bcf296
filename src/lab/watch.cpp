#include "lab/watch.h"

#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;
constexpr std::int64_t bookmark_ms = 30'000;

std::string_view name_of_type(StoreEvent::Type type) {
    switch (type) {
        case StoreEvent::Type::added: return "ADDED";
        case StoreEvent::Type::modified: return "MODIFIED";
        case StoreEvent::Type::deleted: return "DELETED";
    }
    return {};
}

class WatchBody final : public net::HttpBody {
public:
    WatchBody(Api& api, WatchOptions options)
        : api_(api),
          options_(std::move(options)),
          view_(fmt::format("{} {} {} {} ", options_.storage, options_.type.version,
                            options_.view.is_table, options_.include)),
          alive_(std::make_shared<WatchBody*>(this)) {
        const ObjectStore& store = api_.store();
        seen_ = options_.with_initial ? store.version() : options_.from;
        if (options_.with_initial) {
            for (const auto& [key, stored] : store.all(options_.storage)) {
                if (is_in_space(key) && options_.wanted.takes(key, stored)) {
                    initial_.emplace_back(key, stored);
                }
            }
        }
        is_initial_told_ = !options_.tells_end_of_initial;
        position_ = store.position_after(options_.storage, std::min(seen_, store.version()));
        listener_ = api_.store().listen(options_.storage,
                                        [this](std::string_view, const StoreEvent&) { wake(); });
        after(options_.end_ms, [](WatchBody& body) { body.is_over_ = true; });
        if (options_.with_bookmarks) { plan_bookmark(); }
    }
    ~WatchBody() override { api_.store().stop_listening(listener_); }
    WatchBody(const WatchBody&) = delete;
    WatchBody& operator=(const WatchBody&) = delete;

    std::optional<std::string> next() override {
        std::string out;
        while (next_initial_ < initial_.size() && out.size() < piece_bytes) {
            write(out, "ADDED", initial_[next_initial_++].second);
        }
        if (next_initial_ < initial_.size()) { return out; }
        if (!std::exchange(is_initial_told_, true)) { bookmark(out, true); }
        while (out.size() < piece_bytes) {
            const ObjectStore& store = api_.store();
            if (!position_ || store.is_forgotten(options_.storage, *position_)) {
                expire(out);
                break;
            }
            const StoreEvent* event = store.event(options_.storage, *position_);
            if (event == nullptr) { break; }
            ++*position_;
            if (event->version <= options_.from) { continue; }
            tell(out, *event);
            seen_ = event->version;
        }
        if (std::exchange(is_bookmark_due_, false)) { bookmark(out, false); }
        if (!out.empty()) { return out; }
        if (is_over_) { return std::nullopt; }
        return out;
    }

    void on_more(std::function<void()> wake) override { wake_ = std::move(wake); }

private:
    [[nodiscard]] bool is_in_space(const Key& key) const {
        return options_.space.empty() || key.first == options_.space;
    }

    void wake() const {
        if (wake_) { wake_(); }
    }

    /// Later, if it still lives then.
    void after(std::int64_t milliseconds, void (*work)(WatchBody&)) {
        const std::weak_ptr<WatchBody*> alive = alive_;
        api_.options().after(milliseconds, [alive, work] {
            if (const auto body = alive.lock()) {
                work(**body);
                (*body)->wake();
            }
        });
    }

    void plan_bookmark() {
        after(bookmark_ms, [](WatchBody& body) {
            body.is_bookmark_due_ = true;
            body.plan_bookmark();
        });
    }

    /// By what the selectors say of it before and now, it came, changed or went.
    void tell(std::string& out, const StoreEvent& event) {
        if (!is_in_space(event.key)) { return; }
        const Wanted& wanted = options_.wanted;
        if (wanted.is_all()) { return write(out, name_of_type(event.type), event.now); }
        const bool is_now =
            event.type != StoreEvent::Type::deleted && wanted.takes(event.key, event.now);
        const bool was =
            event.type != StoreEvent::Type::added && wanted.takes(event.key, event.before);
        if (is_now) { return write(out, was ? "MODIFIED" : "ADDED", event.now); }
        if (was) {
            write(out, "DELETED",
                  event.type == StoreEvent::Type::deleted
                      ? event.now
                      : at_version(event.before, event.version));
        }
    }

    /// What a selector lets go is told as it was, at the version at which it went.
    static Stored at_version(Stored stored, std::uint64_t version) {
        json::value object = json::parse(*stored.text);
        child(object.get_object(), "metadata")["resourceVersion"] = std::to_string(version);
        stored.text = std::make_shared<const std::string>(json::serialize(object));
        return stored;
    }

    void write(std::string& out, std::string_view type, const Stored& stored) {
        if (!options_.view.is_table && !options_.view.is_metadata) {
            out.append(R"({"type":")").append(type).append(R"(","object":)");
            out.append(*stored.text).append("}\n");
            return;
        }
        const bool is_first = std::exchange(is_first_row_, false);
        const std::int64_t now = api_.options().now();
        std::string key = view_;
        key += std::to_string(stored.version);
        key += is_first ? '1' : '0';
        key += type;
        // Tables tell ages in seconds.
        if (options_.view.is_table) { key += std::to_string(now / 1'000); }
        out += *api_.watch_lines().find_or_make(key, [&] {
            const json::value object = json::parse(*stored.text);
            const json::object seen = seen_as(api_.registry(), options_.type, object.get_object(),
                                              options_.view, options_.include, now, is_first);
            return json::serialize(json::object{{"type", type}, {"object", seen}}) + "\n";
        });
    }

    void bookmark(std::string& out, bool is_initial_end) {
        json::object metadata{{"resourceVersion", std::to_string(seen_)}};
        if (is_initial_end) {
            metadata["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
        }
        const json::object object{{"kind", options_.type.kind},
                                  {"apiVersion", options_.type.api_version()},
                                  {"metadata", std::move(metadata)}};
        out += json::serialize(json::object{{"type", "BOOKMARK"}, {"object", object}}) + "\n";
    }

    void expire(std::string& out) {
        const ApiError error =
            gone(fmt::format("too old resource version: {} ({})", seen_, api_.store().version()))
                .value();
        out +=
            json::serialize(json::object{{"type", "ERROR"}, {"object", status_of(error)}}) + "\n";
        is_over_ = true;
        position_ = api_.store().position_after(options_.storage, api_.store().version());
    }

    Api& api_;
    WatchOptions options_;
    std::string view_;  // what its lines depend on beside the object
    std::vector<std::pair<Key, Stored>> initial_;
    std::size_t next_initial_ = 0;
    std::optional<std::size_t> position_;  // of the next event
    std::uint64_t seen_ = 0;
    std::uint64_t listener_ = 0;
    std::function<void()> wake_;
    bool is_initial_told_ = true;
    bool is_bookmark_due_ = false;
    bool is_over_ = false;
    bool is_first_row_ = true;
    std::shared_ptr<WatchBody*> alive_;
};

}  // namespace

std::unique_ptr<net::HttpBody> make_watch(Api& api, WatchOptions options) {
    return std::make_unique<WatchBody>(api, std::move(options));
}

}  // namespace muster::lab
