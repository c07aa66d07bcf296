// What a scheduler follows of a cluster, kept as text and cut down to what is looked at. Kinds that
// the server does not have when it is asked first are left out. Called from the transport's thread.
#pragma once

#include "base/result.h"
#include "dialect/kubernetes.h"
#include "kube/client.h"

#include <boost/json/fwd.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

/// In the order in which they are read.
enum class ObjectKind : std::uint8_t {
    node,
    pod,
    priority_class,
    batch_job,
    volcano_job,
    volcano_queue,
    hypernode,
    volcano_group,
    upstream_group,
    composite_group,
    plugin_group,
};
inline constexpr std::size_t object_kind_count = 11;

/// How a kind is called.
struct KindName {
    Resource resource;
    std::string kind;

    [[nodiscard]] std::string api_version() const;
};
const KindName& name_of(ObjectKind kind);
/// What all the others are read against.
bool is_frame(ObjectKind kind);

struct ObjectKey {
    ObjectKind kind = ObjectKind::node;
    ObjectName name;

    auto operator<=>(const ObjectKey&) const = default;
    [[nodiscard]] std::string text() const;  // "Pod team/train-0"
};

/// Runs the transport's loop: returns when some of its work was done, or after so many ms.
using Pump = std::function<void(std::int64_t milliseconds)>;

class ClusterObjects {
public:
    ClusterObjects(Transport& transport, Pump pump)
        : transport_(transport),
          pump_(std::move(pump)) {}

    /// Until everything has been listed once; `timeout` when that takes too long.
    Result<> start();
    /// True once something that scheduling looks at has changed; waits for it, then a little for
    /// what comes with it.
    bool wait_for_change(std::int64_t patience_ms);
    /// As if something had changed.
    void touch() { is_changed_ = true; }

    /// What scheduling looks at, as JSON; empty when it is not there, or leaves before it ran.
    [[nodiscard]] std::string_view text(const ObjectKey& key) const;
    using Visit = std::function<void(const ObjectKey&, std::string_view text)>;
    void each(const Visit& visit) const;
    /// Those whose text has changed since the last call, with what ties them to others.
    std::map<ObjectKey, dialect::Links> take_changed();
    /// With its status: of a pod the phase and whether it was scheduled.
    [[nodiscard]] std::optional<boost::json::object> find(const ObjectKey& key) const;
    [[nodiscard]] bool has(const ObjectKey& key) const { return extract(key) != nullptr; }
    /// Volcano's groups that were seen first since the last call.
    std::set<ObjectName> take_new_groups();
    [[nodiscard]] Transport& transport() { return transport_; }

private:
    void hear(ObjectKind kind, Informer::Change change, const ObjectName& name, const Extract& now,
              const Extract* before);
    [[nodiscard]] const Extract* extract(const ObjectKey& key) const;
    Result<> discover();
    Result<> pump_until(const std::function<bool()>& is_done, std::string_view what);

    Transport& transport_;
    Pump pump_;
    std::set<ObjectKind> served_;
    std::map<ObjectKind, std::unique_ptr<ExtractInformer>> informers_;
    std::map<ObjectKey, dialect::Links> changed_;
    std::set<ObjectName> new_groups_;
    bool is_changed_ = false;
};

}  // namespace muster::kube
