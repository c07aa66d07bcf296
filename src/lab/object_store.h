// All objects of the lab with what happened to them: each write takes the next resource version,
// and watches read the events of a resource from a version on. Objects are kept as JSON text, for
// that is what most readers want. One thread.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::lab {

/// (namespace, name); the namespace is empty for what has none.
using Key = std::pair<std::string, std::string>;
using Text = std::shared_ptr<const std::string>;
using Labels = std::shared_ptr<const boost::json::object>;

struct Stored {
    Text text;
    Labels labels;  // null when there are none
    std::uint64_t version = 0;
};

struct StoreEvent {
    enum class Type : std::uint8_t { added, modified, deleted };
    Type type = Type::added;
    Key key;
    std::uint64_t version = 0;
    Stored now;     // of one that was deleted: as it was, with the version of its end
    Stored before;  // of one that was modified
};

/// Where objects outlive the process. A write that fails is as if it had not been asked for.
class Disk {
public:
    virtual ~Disk() = default;
    /// `text` is null for an end.
    virtual Result<> write(const std::string& resource, const Key& key, std::uint64_t version,
                           const std::string* text) = 0;
    /// What is written between the two is kept together or, unless it `is_good`, not at all.
    virtual Result<> begin() = 0;
    virtual Result<> end(bool is_good) = 0;
    using Visit =
        std::function<void(std::string resource, Key key, std::uint64_t version, std::string text)>;
    virtual Result<std::uint64_t> read(const Visit& visit) = 0;  // the last version
};

class ObjectStore {
public:
    /// `disk` may be null. Reads what is there.
    static Result<ObjectStore> open(std::unique_ptr<Disk> disk);

    using Objects = std::map<Key, Stored>;
    [[nodiscard]] const Objects& all(std::string_view resource) const;  // "apps/deployments"
    [[nodiscard]] const Stored* find(std::string_view resource, const Key& key) const;
    [[nodiscard]] std::uint64_t version() const { return version_; }
    /// Names of resources that have or had objects.
    [[nodiscard]] std::vector<std::string> resources() const;

    /// Writes metadata.resourceVersion into the object.
    Result<Stored> put(std::string_view resource, const Key& key, boost::json::object& object);
    /// What `work` writes is one write to the disk, which is what many small ones take their time
    /// for. When it fails the disk has none of it, and the store is not to be used any more.
    Result<> write_together(const std::function<Result<>()>& work);
    Result<Stored> remove(std::string_view resource, const Key& key);

    /// Events of a resource after a version; none when some of them are forgotten.
    [[nodiscard]] std::optional<std::size_t> position_after(std::string_view resource,
                                                            std::uint64_t version) const;
    /// Null when there is none yet, or when it is forgotten: `is_forgotten` tells.
    [[nodiscard]] const StoreEvent* event(std::string_view resource, std::size_t position) const;
    [[nodiscard]] bool is_forgotten(std::string_view resource, std::size_t position) const;

    /// Called after each write. Returns a number to stop it by.
    using Listener = std::function<void(std::string_view resource, const StoreEvent& event)>;
    std::uint64_t listen(std::string_view resource, Listener listener);  // "" = all
    void stop_listening(std::uint64_t number);

private:
    struct History {
        std::deque<StoreEvent> events;
        std::size_t first = 0;           // position of the first one that is kept
        std::uint64_t forgotten_to = 0;  // version of the last one that is not
        std::size_t bytes = 0;
    };
    struct Kept {
        Objects objects;
        History history;
        std::map<std::uint64_t, Listener> listeners;
    };

    explicit ObjectStore(std::unique_ptr<Disk> disk) : disk_(std::move(disk)) {}
    void happen(const std::string& resource, Kept& kept, StoreEvent event);
    Kept& kept(std::string_view resource);

    std::unique_ptr<Disk> disk_;
    std::map<std::string, Kept, std::less<>> kept_;
    std::map<std::uint64_t, Listener> listeners_;  // of all resources
    std::uint64_t version_ = 0;
    std::uint64_t opened_at_ = 0;
    std::uint64_t next_listener_ = 1;
};

}  // namespace muster::lab
