#include "kube/cluster_objects.h"

#include "kube/group_members.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::int64_t silence_ms_max = 60'000;  // of a cluster that is listed
/// Objects that are applied together are heard together: until nothing has come for so long. What
/// goes on coming waits no longer than the other, since each time that a gang is looked at costs.
constexpr std::int64_t gather_ms = 5;
constexpr std::int64_t gather_ms_max = 50;

std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void copy(const json::object& from, std::initializer_list<std::string_view> keys,
          json::object& to) {
    for (const std::string_view key : keys) {
        if (const json::value* value = from.if_contains(key)) { to[key] = *value; }
    }
}

/// What no scheduler asks about, and most of a pod's text.
constexpr std::array<std::string_view, 18> container_rest{"args",
                                                          "command",
                                                          "env",
                                                          "envFrom",
                                                          "image",
                                                          "imagePullPolicy",
                                                          "lifecycle",
                                                          "livenessProbe",
                                                          "readinessProbe",
                                                          "securityContext",
                                                          "startupProbe",
                                                          "stdin",
                                                          "terminationMessagePath",
                                                          "terminationMessagePolicy",
                                                          "tty",
                                                          "volumeDevices",
                                                          "volumeMounts",
                                                          "workingDir"};

json::value bare_containers(const json::value& list) {
    json::value out = list;
    if (!out.is_array()) { return out; }
    for (json::value& one : out.get_array()) {
        if (json::object* container = one.if_object()) {
            for (const std::string_view key : container_rest) { container->erase(key); }
        }
    }
    return out;
}

bool is_final(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

/// Those that an API server copies from the node when a pod is bound (its PodTopologyLabels): as if
/// the pod had become another one by that.
void drop_node_labels(json::object& metadata) {
    json::value* labels = metadata.if_contains("labels");
    if (labels == nullptr || !labels->is_object()) { return; }
    for (const char* key : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
        if (const auto at = labels->get_object().find(key); at != labels->get_object().end()) {
            labels->get_object().stable_erase(at);
        }
    }
    if (labels->get_object().empty()) { metadata.stable_erase(metadata.find("labels")); }
}

/// Heartbeats and what other controllers write are nothing that scheduling looks at.
json::object status_of(ObjectKind kind, const json::object& status) {
    json::object out;
    if (kind == ObjectKind::pod) {
        // Of others the node says more.
        if (is_final(text_at(status, "phase"))) { copy(status, {"phase"}, out); }
        copy(status, {"nominatedNodeName"}, out);
    }
    if (kind == ObjectKind::claim || kind == ObjectKind::volume) { copy(status, {"phase"}, out); }
    if (kind == ObjectKind::batch_job || kind == ObjectKind::volcano_job) {
        copy(status, {"state", "conditions", "completionTime"}, out);
    }
    if (kind == ObjectKind::job_set) { copy(status, {"conditions", "restarts"}, out); }
    if (kind != ObjectKind::node) { return out; }
    copy(status, {"capacity", "allocatable"}, out);
    const json::array* conditions = array_at(status, "conditions");
    if (conditions == nullptr) { return out; }
    json::array& kept = out["conditions"].emplace_array();
    for (const json::value& condition : *conditions) {
        const json::object* from = condition.if_object();
        if (from == nullptr) { continue; }
        json::object to;
        copy(*from, {"type", "status"}, to);
        kept.emplace_back(std::move(to));
    }
    return out;
}

void copy_around(const json::object& object, json::object& out) {
    copy(object, {"provisioner", "volumeBindingMode", "allowedTopologies"}, out);
    const json::object* spec = object_at(object, "spec");
    if (spec == nullptr) { return; }
    copy(*spec,
         {"accessModes", "capacity", "claimRef", "drivers", "nodeAffinity", "resources", "selector",
          "storageClassName", "volumeMode", "volumeName"},
         out["spec"].emplace_object());
    if (const std::string_view driver = text_at(*spec, "csi.driver"); !driver.empty()) {
        out["spec"].get_object()["csi"] = json::object{{"driver", driver}};
    }
}

json::object trimmed(ObjectKind kind, const json::object& object) {
    json::object out(object.storage());  // which has room without asking for it
    out["apiVersion"] = name_of(kind).api_version();
    out["kind"] = name_of(kind).kind;
    for (const auto& [key, value] : object) {
        if (key == "apiVersion" || key == "kind" || key == "metadata" || key == "status") {
            continue;
        }
        if (!is_around(kind)) { out[key] = value; }
    }
    if (is_around(kind)) { copy_around(object, out); }
    if (json::value* spec = out.if_contains("spec");
        kind == ObjectKind::pod && spec != nullptr && spec->is_object()) {
        for (const std::string_view list : {"containers", "initContainers"}) {
            json::value* of = spec->get_object().if_contains(list);
            if (of != nullptr) { *of = bare_containers(*of); }
        }
    }
    if (const json::object* metadata = object_at(object, "metadata")) {
        json::object& to = out["metadata"].emplace_object();
        copy(*metadata,
             {"name", "namespace", "uid", "labels", "annotations", "creationTimestamp",
              "ownerReferences"},
             to);
        if (kind == ObjectKind::pod) { drop_node_labels(to); }
        if (is_around(kind)) {
            copy(*metadata, {"deletionTimestamp"}, to);
            to.erase("ownerReferences");
            if (kind == ObjectKind::volume) { copy(*metadata, {"resourceVersion"}, to); }
        }
        if (json::value* notes = to.if_contains("annotations");
            notes != nullptr && notes->is_object()) {
            notes->get_object().erase("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    if (const json::object* status = object_at(object, "status")) {
        out["status"] = status_of(kind, *status);
    }
    return out;
}

/// What the scheduler writes itself and would read in vain if it stood in the text.
json::object written_status(ObjectKind kind, const json::object& status) {
    if (kind == ObjectKind::node || is_around(kind)) { return {}; }
    if (kind != ObjectKind::pod) { return status; }
    json::object out;
    copy(status, {"phase"}, out);
    const json::array* conditions = array_at(status, "conditions");
    if (conditions == nullptr) { return out; }
    json::array kept;
    for (const json::value& condition : *conditions) {
        if (!condition.is_object()) { continue; }
        const std::string_view type = text_at(condition.get_object(), "type");
        if (text_at(condition.get_object(), "status") != "False") { continue; }
        // That it is ready goes without saying; budgets ask for those that are not.
        if (type == "Ready" && text_at(status, "phase") == "Running") {
            kept.push_back(json::object{{"type", "Ready"}, {"status", "False"}});
        }
        // Once it has a node it is true, which goes without saying.
        if (type == "PodScheduled") { kept.push_back(condition); }
    }
    if (!kept.empty()) { out["conditions"] = std::move(kept); }
    return out;
}

/// A pod that is deleted before it runs asks for nothing any more.
bool is_leaving_unbound(ObjectKind kind, const json::object& object) {
    return kind == ObjectKind::pod && is_leaving(object) &&
           text_at(object, "spec.nodeName").empty();
}

/// Of a pod's spec what is its own and no other's of its kind.
constexpr std::array<std::string_view, 4> own_fields{"nodeName", "hostname", "subdomain",
                                                     "volumes"};

/// The text in two pieces: what a pod has in common with its siblings is most of it.
void split(json::object pod, SharedTexts& shared, Extract& out) {
    json::value* spec = pod.if_contains("spec");
    if (spec == nullptr || !spec->is_object()) {
        out.text = json::serialize(pod);
        return;
    }
    json::object rest = std::move(spec->get_object());
    json::object own(pod.storage());
    for (const std::string_view field : own_fields) {
        if (const auto at = rest.find(field); at != rest.end()) {
            own[field] = std::move(at->value());
            rest.stable_erase(at);  // bound or not, the rest is the same text
        }
    }
    const bool has_both = !own.empty() && !rest.empty();
    pod.erase("spec");
    pod["spec"] = std::move(own);  // behind all others
    out.text = json::serialize(pod);
    out.text.resize(out.text.size() - 2);  // what closes it is of the other piece
    if (has_both) { out.text += ','; }
    out.text.shrink_to_fit();
    out.shared = shared.share(json::serialize(rest).substr(1) + '}');
}

/// The node, when that it stands in the pod's own piece is all that is new; else empty.
std::string_view node_put_in(std::string_view before, std::string_view now) {
    constexpr std::string_view opening = R"("spec":{)";
    constexpr std::string_view key = R"("nodeName":")";
    const std::size_t spec = now.find(fmt::format("{}{}", opening, key));
    if (spec == std::string_view::npos) { return {}; }
    const std::size_t begin = spec + opening.size();
    const std::size_t name = begin + key.size();
    const std::size_t end = now.find(R"(",)", name);
    if (end == std::string_view::npos) { return {}; }
    const bool is_all = before.substr(0, begin) == now.substr(0, begin) &&
                        before.substr(std::min(begin, before.size())) == now.substr(end + 2);
    return is_all ? now.substr(name, end - name) : std::string_view();
}

Extract extract_of(ObjectKind kind, const json::object& object, SharedTexts& shared) {
    Extract out;
    if (kind == ObjectKind::pod) {
        const std::string_view group = volcano_group_of(object);
        if (!group.empty()) { out.group = shared.share(std::string(group)); }
        out.standing = standing_of(object);
    }
    if (kind != ObjectKind::pod) {
        out.text = json::serialize(trimmed(kind, object));
    } else if (!is_leaving_unbound(kind, object)) {
        split(trimmed(kind, object), shared, out);
    }
    if (const json::object* status = object_at(object, "status")) {
        const json::object written = written_status(kind, *status);
        if (!written.empty()) { out.more = json::serialize(written); }
    }
    return out;
}

std::string whole_text(const Extract& of) {
    return of.shared != nullptr ? of.text + *of.shared : of.text;
}

dialect::Links links_of_text(ObjectKind kind, std::string_view text) {
    const KindName& of = name_of(kind);
    boost::system::error_code error;
    json::monotonic_resource pool;
    const json::value root = json::parse(text, error, &pool);
    if (error || !root.is_object()) { return {}; }
    const std::string version = of.api_version();
    return dialect::links_of({.file = {},
                              .kind = of.kind,
                              .api_version = version,
                              .root = &root,
                              .lines = nullptr,
                              .prefix = {}});
}

}  // namespace

std::optional<std::string> scheduling_text(ObjectKind kind, const json::object& object) {
    if (is_leaving_unbound(kind, object)) { return std::nullopt; }
    return json::serialize(trimmed(kind, object));
}

Result<> ClusterObjects::pump_until(const std::function<bool()>& is_done, std::string_view what) {
    std::int64_t end = now_ms() + silence_ms_max;
    std::uint64_t heard = pages();
    while (!is_done()) {
        if (is_over_ && is_over_()) {
            return fail(Code::unavailable, fmt::format("{} are not waited for any more", what));
        }
        if (const std::uint64_t now = pages(); now != std::exchange(heard, now)) {
            end = now_ms() + silence_ms_max;
        }
        if (now_ms() >= end) {
            return fail(Code::timeout,
                        fmt::format("{}: nothing came for {} s{}{}", what, silence_ms_max / 1'000,
                                    problem().empty() ? "" : ": ", problem()));
        }
        pump_(100);
    }
    return {};
}

std::uint64_t ClusterObjects::pages() const {
    std::uint64_t sum = 0;
    for (const auto& [kind, informer] : informers_) { sum += informer->pages(); }
    return sum;
}

Result<> ClusterObjects::look() {
    const auto found = std::make_shared<std::optional<Result<ServedKinds>>>();
    discover(transport_, all_kinds(),
             [found](Result<ServedKinds> kinds) { *found = std::move(kinds); });
    MUSTER_CHECK(pump_until([&] { return found->has_value(); }, "the API's kinds"));
    if (!**found) { return tl::unexpected(std::move(**found).error()); }
    follow(***found);
    return {};
}

/// What fails is tried the next time.
void ClusterObjects::look_again() {
    std::set<ObjectKind> missing = all_kinds();
    for (const auto& [kind, resource] : served_) { missing.erase(kind); }
    if (missing.empty() || is_looking_ || now_ms() < look_at_) { return; }
    is_looking_ = true;
    discover(transport_, std::move(missing),
             [this, alive = std::weak_ptr(turn_)](const Result<ServedKinds>& kinds) {
                 if (alive.expired()) { return; }
                 is_looking_ = false;
                 look_at_ = now_ms() + look_ms_;
                 if (kinds) { follow(*kinds); }
             });
}

void ClusterObjects::follow(const ServedKinds& found) {
    for (const auto& [kind, resource] : found) {
        if (!served_.emplace(kind, resource).second) { continue; }
        auto informer = std::make_unique<ExtractInformer>(
            transport_, resource,
            [this, of = kind](const json::object& object) {
                return extract_of(of, object, shared_);
            },
            [this, of = kind](Informer::Change change, const ObjectName& name, const Extract& now,
                              const Extract* before) { hear(of, change, name, now, before); });
        informer->start();
        informers_.emplace(kind, std::move(informer));
    }
}

Result<> ClusterObjects::start() {
    turn_ = std::make_shared<int>(0);
    is_looking_ = false;
    informers_.clear();
    changed_.clear();
    bound_.clear();
    members_.clear();
    moved_groups_.clear();
    served_.clear();
    MUSTER_CHECK(look());
    look_at_ = now_ms() + look_ms_;
    const auto are_synced = [&] {
        for (const auto& [kind, informer] : informers_) {
            if (!informer->is_synced()) { return false; }
        }
        return true;
    };
    return pump_until(are_synced, "the cluster's objects");
}

void ClusterObjects::hear(ObjectKind kind, Informer::Change change, const ObjectName& name,
                          const Extract& now, const Extract* before) {
    const ObjectKey key{kind, name};
    const bool was_there = before != nullptr && !before->text.empty();
    count(kind, name, change == Informer::Change::gone ? nullptr : &now, before);
    const auto note = [&](dialect::Links links) {
        if (kind == ObjectKind::pod) { bound_.erase(name); }
        changed_[key] = std::move(links);
        note_change();
    };
    if (change == Informer::Change::gone || now.text.empty()) {
        if (was_there) { note({}); }
        return;
    }
    if (was_there && before->shared == now.shared) {
        if (before->text == now.text) { return; }
        const std::string_view node =
            kind == ObjectKind::pod ? node_put_in(before->text, now.text) : std::string_view();
        if (!node.empty() && !changed_.contains(key)) {
            bound_[name] = node;
            return note_change();
        }
    }
    const bool has_links = !is_frame(kind) && !is_around(kind);
    note(has_links ? links_of_text(kind, whole_text(now)) : dialect::Links{});
}

/// Keeps up what the members of Volcano's groups are doing.
void ClusterObjects::count(ObjectKind kind, const ObjectName& name, const Extract* now,
                           const Extract* before) {
    if (kind == ObjectKind::volcano_group) { moved_groups_.insert(name); }
    if (kind != ObjectKind::pod) { return; }
    const auto add = [&](const Extract* pod, std::int64_t by) {
        if (pod == nullptr || pod->group == nullptr) { return; }
        const auto group = members_.try_emplace({name.first, *pod->group}).first;
        group->second.count(pod->standing, by);
        moved_groups_.insert(group->first);
        if (group->second == GroupMembers{}) { members_.erase(group); }
    };
    const bool is_same = now != nullptr && before != nullptr && now->group == before->group &&
                         now->standing == before->standing;
    if (is_same) { return; }
    add(before, -1);
    add(now, 1);
}

GroupMembers ClusterObjects::members_of(const ObjectName& group) const {
    const auto found = members_.find(group);
    return found == members_.end() ? GroupMembers{} : found->second;
}

bool ClusterObjects::wait_for_change(std::int64_t patience_ms) {
    const std::int64_t end = now_ms() + patience_ms;
    const bool was_changed = is_changed_;
    look_again();
    pump_(0);
    for (std::int64_t left = end - now_ms(); !is_changed_ && left > 0; left = end - now_ms()) {
        pump_(left);
    }
    if (!was_changed && is_changed_) {
        const std::int64_t begun = now_ms();
        std::int64_t quiet_at = begun + gather_ms;
        for (std::int64_t left = gather_ms; left > 0; left = quiet_at - now_ms()) {
            const std::uint64_t heard = heard_;
            pump_(left);
            if (heard_ != heard) {
                quiet_at = std::min(now_ms() + gather_ms, begun + gather_ms_max);
            }
        }
    }
    return std::exchange(is_changed_, false);
}

const Extract* ClusterObjects::extract(const ObjectKey& key) const {
    const auto informer = informers_.find(key.kind);
    if (informer == informers_.end()) { return nullptr; }
    const auto& objects = informer->second->objects();
    const auto found = objects.find(key.name);
    return found == objects.end() ? nullptr : &found->second;
}

std::string ClusterObjects::text(const ObjectKey& key) const {
    const Extract* found = extract(key);
    return found != nullptr ? whole_text(*found) : std::string();
}

bool ClusterObjects::has_text(const ObjectKey& key) const {
    const Extract* found = extract(key);
    return found != nullptr && !found->text.empty();
}

namespace {

void visit_all(ObjectKind kind, const ExtractInformer& informer,
               const ClusterObjects::Visit& visit) {
    for (const auto& [name, extract] : informer.objects()) {
        if (!extract.text.empty()) { visit({kind, name}, whole_text(extract)); }
    }
}

}  // namespace

void ClusterObjects::each(const Visit& visit) const {
    for (const auto& [kind, informer] : informers_) { visit_all(kind, *informer, visit); }
}

void ClusterObjects::each_of_frame(const Visit& visit) const {
    for (const auto& [kind, informer] : informers_) {
        if (is_frame(kind)) { visit_all(kind, *informer, visit); }
    }
}

std::shared_ptr<const std::string> SharedTexts::share(std::string text) {
    if (const auto at = known_->find(text); at != known_->end()) { return at->second.lock(); }
    const auto forget = [known = std::weak_ptr(known_)](const std::string* gone) {
        if (const auto left = known.lock()) { left->erase(*gone); }
        delete gone;
    };
    const std::shared_ptr<const std::string> out(new std::string(std::move(text)), forget);
    known_->emplace(*out, out);
    return out;
}

std::optional<json::object> ClusterObjects::find(const ObjectKey& key) const {
    const Extract* found = extract(key);
    if (found == nullptr) { return std::nullopt; }
    json::object out = object_of(whole_text(*found));
    if (out.empty()) { out["metadata"] = json::object{{"uid", found->uid}}; }
    const json::object more = object_of(found->more);
    if (more.empty()) { return out; }
    json::value& status = out["status"];
    if (!status.is_object()) { status.emplace_object(); }
    for (const auto& [name, value] : more) { status.get_object()[name] = value; }
    return out;
}

std::map<ObjectKey, dialect::Links> ClusterObjects::take_changed() {
    return std::exchange(changed_, {});
}

std::string ClusterObjects::problem() const {
    for (const auto& [kind, informer] : informers_) {
        if (!informer->problem().empty()) { return informer->problem(); }
    }
    return {};
}

bool ClusterObjects::hears_pods() const {
    const auto pods = informers_.find(ObjectKind::pod);
    return pods != informers_.end() && pods->second->problem().empty();
}

std::set<ObjectName> ClusterObjects::take_moved_groups() {
    return std::exchange(moved_groups_, {});
}

}  // namespace muster::kube
