// What a scheduler follows of a cluster, kept as text and cut down to what is looked at. Kinds that
// the server does not have are looked for again now and then. Called from the transport's thread.
#pragma once

#include "base/result.h"
#include "dialect/kubernetes.h"
#include "kube/client.h"
#include "kube/cluster_kinds.h"
#include "kube/discovery.h"
#include "kube/link.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::kube {

/// What scheduling looks at of an object, as it is read; none of a pod that leaves before it ran.
std::optional<std::string> scheduling_text(ObjectKind kind, const boost::json::object& object);

/// Texts that many objects have in common, each kept once for as long as one of them is there.
class SharedTexts {
public:
    std::shared_ptr<const std::string> share(std::string text);

private:
    using Known = std::unordered_map<std::string_view, std::weak_ptr<const std::string>>;
    std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

class ClusterObjects {
public:
    /// `look_ms`: kinds that were not there are looked for again so often.
    ClusterObjects(Transport& transport, Pump pump, std::int64_t look_ms = 30'000,
                   std::function<bool()> is_over = {})
        : transport_(transport),
          pump_(std::move(pump)),
          look_ms_(look_ms),
          is_over_(std::move(is_over)) {}

    /// Until everything has been listed once, however long that takes; `timeout` when nothing at
    /// all comes for a minute, `unavailable` when `is_over` says that nobody waits for it any more.
    Result<> start();
    /// True once something that scheduling looks at has changed; waits for it, then a little for
    /// what comes with it.
    bool wait_for_change(std::int64_t patience_ms);
    /// As if something had changed.
    void touch() { is_changed_ = true; }

    /// What scheduling looks at, as JSON; empty when it is not there, or leaves before it ran.
    [[nodiscard]] std::string text(const ObjectKey& key) const;
    [[nodiscard]] bool has_text(const ObjectKey& key) const;
    using Visit = std::function<void(const ObjectKey&, std::string text)>;
    void each(const Visit& visit) const;
    void each_of_frame(const Visit& visit) const;
    /// Those whose text has changed since the last call, with what ties them to others.
    std::map<ObjectKey, dialect::Links> take_changed();
    /// Pods that are not among those, for only that they have a node is new; and the node.
    std::map<ObjectName, std::string> take_bound() { return std::exchange(bound_, {}); }
    /// With its status: of a pod the phase and whether it was scheduled.
    [[nodiscard]] std::optional<boost::json::object> find(const ObjectKey& key) const;
    [[nodiscard]] bool has(const ObjectKey& key) const { return extract(key) != nullptr; }
    /// Those that the server has, under the version that it is asked by.
    [[nodiscard]] const ServedKinds& served() const { return served_; }
    /// Why some kind is not followed right now; empty when all are.
    [[nodiscard]] std::string problem() const;
    /// Pods are followed right now.
    [[nodiscard]] bool hears_pods() const;
    /// Of Volcano's groups those that are other ones since the last call, or whose pods do
    /// something else.
    std::set<ObjectName> take_moved_groups();
    [[nodiscard]] GroupMembers members_of(const ObjectName& group) const;

private:
    void hear(ObjectKind kind, Informer::Change change, const ObjectName& name, const Extract& now,
              const Extract* before);
    void count(ObjectKind kind, const ObjectName& name, const Extract* now, const Extract* before);
    [[nodiscard]] const Extract* extract(const ObjectKey& key) const;
    Result<> look();
    void look_again();
    void follow(const ServedKinds& found);
    Result<> pump_until(const std::function<bool()>& is_done, std::string_view what);
    [[nodiscard]] std::uint64_t pages() const;

    void note_change() {
        is_changed_ = true;
        ++heard_;
    }

    Transport& transport_;
    Pump pump_;
    SharedTexts shared_;
    std::int64_t look_ms_;
    std::function<bool()> is_over_;
    std::int64_t look_at_ = 0;  // the next time
    bool is_looking_ = false;
    std::shared_ptr<int> turn_ = std::make_shared<int>(0);  // answers to an earlier start are old
    ServedKinds served_;
    std::map<ObjectKind, std::unique_ptr<ExtractInformer>> informers_;
    std::map<ObjectKey, dialect::Links> changed_;
    std::map<ObjectName, std::string> bound_;
    std::map<ObjectName, GroupMembers> members_;  // of Volcano's groups, by what pods say
    std::set<ObjectName> moved_groups_;
    bool is_changed_ = false;
    std::uint64_t heard_ = 0;  // changes so far
};

}  // namespace muster::kube
