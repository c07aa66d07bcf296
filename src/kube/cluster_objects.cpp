#include "kube/cluster_objects.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::int64_t start_ms_max = 60'000;
/// Objects that are applied together are heard together.
constexpr std::int64_t gather_ms = 5;

const std::array<KindName, object_kind_count>& kinds() {
    static const std::array<KindName, object_kind_count> all{{
        {{"", "v1", "nodes"}, "Node"},
        {{"", "v1", "pods"}, "Pod"},
        {{"scheduling.k8s.io", "v1", "priorityclasses"}, "PriorityClass"},
        {{"batch", "v1", "jobs"}, "Job"},
        {{"batch.volcano.sh", "v1alpha1", "jobs"}, "Job"},
        {{"scheduling.volcano.sh", "v1beta1", "queues"}, "Queue"},
        {{"topology.volcano.sh", "v1alpha1", "hypernodes"}, "HyperNode"},
        {{"scheduling.volcano.sh", "v1beta1", "podgroups"}, "PodGroup"},
        {{"scheduling.k8s.io", "v1beta1", "podgroups"}, "PodGroup"},
        {{"scheduling.k8s.io", "v1beta1", "compositepodgroups"}, "CompositePodGroup"},
        {{"scheduling.x-k8s.io", "v1alpha1", "podgroups"}, "PodGroup"},
    }};
    return all;
}

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

/// Heartbeats and what other controllers write are nothing that scheduling looks at.
json::object status_of(ObjectKind kind, const json::object& status) {
    json::object out;
    if (kind == ObjectKind::pod) { copy(status, {"phase"}, out); }
    if (kind == ObjectKind::batch_job || kind == ObjectKind::volcano_job) {
        copy(status, {"state", "conditions", "completionTime"}, out);
    }
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

json::object trimmed(ObjectKind kind, const json::object& object) {
    json::object out(object.storage());  // which has room without asking for it
    out["apiVersion"] = name_of(kind).api_version();
    out["kind"] = name_of(kind).kind;
    for (const auto& [key, value] : object) {
        if (key == "apiVersion" || key == "kind" || key == "metadata" || key == "status") {
            continue;
        }
        out[key] = value;
    }
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
    if (kind == ObjectKind::node) { return {}; }
    if (kind != ObjectKind::pod) { return status; }
    json::object out;
    copy(status, {"phase"}, out);
    const json::array* conditions = array_at(status, "conditions");
    if (conditions == nullptr) { return out; }
    for (const json::value& condition : *conditions) {
        if (condition.is_object() && text_at(condition.get_object(), "type") == "PodScheduled") {
            out["conditions"] = json::array{condition};
        }
    }
    return out;
}

/// A pod that is deleted before it runs asks for nothing any more.
bool is_leaving_unbound(ObjectKind kind, const json::object& object) {
    return kind == ObjectKind::pod && is_leaving(object) &&
           text_at(object, "spec.nodeName").empty();
}

Extract extract_of(ObjectKind kind, const json::object& object) {
    Extract out;
    if (!is_leaving_unbound(kind, object)) { out.text = json::serialize(trimmed(kind, object)); }
    if (const json::object* status = object_at(object, "status")) {
        const json::object written = written_status(kind, *status);
        if (!written.empty()) { out.more = json::serialize(written); }
    }
    return out;
}

json::object parsed(std::string_view text) {
    boost::system::error_code error;
    json::value value = json::parse(text, error);
    return error || !value.is_object() ? json::object{} : std::move(value.get_object());
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

bool serves(const Answer& answer, const std::string& plural) {
    boost::system::error_code error;
    const json::value body = json::parse(answer.body, error);
    const json::object* list = error ? nullptr : body.if_object();
    const json::array* resources = list != nullptr ? array_at(*list, "resources") : nullptr;
    if (resources == nullptr) { return false; }
    return std::any_of(resources->begin(), resources->end(), [&](const json::value& resource) {
        const json::object* one = resource.if_object();
        return one != nullptr && text_at(*one, "name") == plural;
    });
}

}  // namespace

std::string KindName::api_version() const {
    return resource.group.empty() ? resource.version
                                  : fmt::format("{}/{}", resource.group, resource.version);
}

const KindName& name_of(ObjectKind kind) { return kinds().at(static_cast<std::size_t>(kind)); }

bool is_frame(ObjectKind kind) {
    return kind == ObjectKind::node || kind == ObjectKind::priority_class ||
           kind == ObjectKind::volcano_queue || kind == ObjectKind::hypernode;
}

std::string ObjectKey::text() const {
    const KindName& of = name_of(kind);
    const std::string where = name.first.empty() ? "" : name.first + "/";
    // Jobs and groups of several dialects have one kind.
    const bool is_core = of.resource.group.empty();
    return is_core ? fmt::format("{} {}{}", of.kind, where, name.second)
                   : fmt::format("{} {}{} of {}", of.kind, where, name.second, of.resource.group);
}

Result<> ClusterObjects::pump_until(const std::function<bool()>& is_done, std::string_view what) {
    const std::int64_t end = now_ms() + start_ms_max;
    while (!is_done()) {
        if (now_ms() >= end) {
            return fail(Code::timeout,
                        fmt::format("{} were not there after {} s", what, start_ms_max / 1'000));
        }
        pump_(100);
    }
    return {};
}

Result<> ClusterObjects::discover() {
    struct Asked {
        std::size_t open = 0;
        std::set<ObjectKind> served;
        std::string failure;
    };
    const auto asked = std::make_shared<Asked>();
    for (std::size_t i = 0; i < object_kind_count; ++i) {
        const auto kind = static_cast<ObjectKind>(i);
        const Resource& resource = name_of(kind).resource;
        if (resource.group.empty()) {
            asked->served.insert(kind);
            continue;
        }
        ++asked->open;
        Call call;
        call.target = fmt::format("/apis/{}/{}", resource.group, resource.version);
        transport_.call(std::move(call), [asked, kind](Result<Answer> answer) {
            --asked->open;
            if (!answer) {
                asked->failure = answer.error().message;
            } else if (answer->is_ok() && serves(*answer, name_of(kind).resource.plural)) {
                asked->served.insert(kind);
            } else if (!answer->is_ok() && answer->status != 404) {
                asked->failure = fmt::format("{} was answered with {}", name_of(kind).api_version(),
                                             answer->status);
            }
        });
    }
    MUSTER_CHECK(pump_until([&] { return asked->open == 0; }, "the API's kinds"));
    if (!asked->failure.empty()) { return fail(Code::unavailable, asked->failure); }
    served_ = asked->served;
    return {};
}

Result<> ClusterObjects::start() {
    MUSTER_CHECK(discover());
    informers_.clear();
    changed_.clear();
    for (const ObjectKind kind : served_) {
        auto informer = std::make_unique<ExtractInformer>(
            transport_, name_of(kind).resource,
            [kind](const json::object& object) { return extract_of(kind, object); },
            [this, kind](Informer::Change change, const ObjectName& name, const Extract& now,
                         const Extract* before) { hear(kind, change, name, now, before); });
        informer->start();
        informers_.emplace(kind, std::move(informer));
    }
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
    if (change == Informer::Change::gone || now.text.empty()) {
        if (was_there) {
            changed_[key] = {};
            is_changed_ = true;
        }
        if (kind == ObjectKind::volcano_group) { new_groups_.erase(name); }
        return;
    }
    if (was_there && before->text == now.text) { return; }
    changed_[key] = is_frame(kind) ? dialect::Links{} : links_of_text(kind, now.text);
    is_changed_ = true;
    if (!was_there && kind == ObjectKind::volcano_group) { new_groups_.insert(name); }
}

bool ClusterObjects::wait_for_change(std::int64_t patience_ms) {
    const std::int64_t end = now_ms() + patience_ms;
    const bool was_changed = is_changed_;
    pump_(0);
    for (std::int64_t left = end - now_ms(); !is_changed_ && left > 0; left = end - now_ms()) {
        pump_(left);
    }
    if (!was_changed && is_changed_) {
        const std::int64_t gathered = now_ms() + gather_ms;
        for (std::int64_t left = gather_ms; left > 0; left = gathered - now_ms()) { pump_(left); }
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

std::string_view ClusterObjects::text(const ObjectKey& key) const {
    const Extract* found = extract(key);
    return found != nullptr ? std::string_view(found->text) : std::string_view();
}

void ClusterObjects::each(const Visit& visit) const {
    for (const auto& [kind, informer] : informers_) {
        for (const auto& [name, extract] : informer->objects()) {
            if (!extract.text.empty()) { visit({kind, name}, extract.text); }
        }
    }
}

std::optional<json::object> ClusterObjects::find(const ObjectKey& key) const {
    const Extract* found = extract(key);
    if (found == nullptr) { return std::nullopt; }
    json::object out = parsed(found->text);
    if (out.empty()) { out["metadata"] = json::object{{"uid", found->uid}}; }
    const json::object more = parsed(found->more);
    if (more.empty()) { return out; }
    json::value& status = out["status"];
    if (!status.is_object()) { status.emplace_object(); }
    for (const auto& [name, value] : more) { status.get_object()[name] = value; }
    return out;
}

std::map<ObjectKey, dialect::Links> ClusterObjects::take_changed() {
    return std::exchange(changed_, {});
}

std::set<ObjectName> ClusterObjects::take_new_groups() { return std::exchange(new_groups_, {}); }

}  // namespace muster::kube
