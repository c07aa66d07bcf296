// What a cluster cleans up by itself: dependents of owners that are gone, owners that wait for
// their dependents, all that stands in a namespace which is leaving, events of long ago, and the
// numbers of disruption budgets.
#pragma once

#include "lab/api.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace muster::lab {

class Collector {
public:
    /// `wake` is called when there is something to do, within the write that made it so.
    explicit Collector(Api& api, std::function<void()> wake = {});
    ~Collector();
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    /// Does what has become due since the last call; called by the loop, never within a request.
    void collect();

private:
    using Id = std::pair<std::string, Key>;  // storage name and key

    void notice(std::string_view resource, const StoreEvent& event);
    void index(const Id& id, const boost::json::object& object);
    void look_at(const Id& id);
    void owner_gone(const std::string& uid);
    void finish_namespace(const std::string& name);
    [[nodiscard]] bool is_there(const std::string& uid) const { return uids_.contains(uid); }
    void remove(const Id& id, const std::string& propagation = "");
    void patch(const Id& id, const boost::json::object& change);
    [[nodiscard]] std::optional<kube::Resource> resource_of(const Id& id) const;

    Api& api_;
    std::function<void()> wake_;
    std::uint64_t listener_ = 0;
    std::map<std::string, Id, std::less<>> uids_;
    std::map<std::string, std::set<Id>> dependents_;  // by the owner's uid
    std::map<Id, std::set<std::string>> owners_;
    std::set<Id> due_;
    std::set<std::string> ended_;  // uids
};

}  // namespace muster::lab
