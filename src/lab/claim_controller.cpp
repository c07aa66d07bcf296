#include "lab/claim_controller.h"

#include "kube/objects.h"
#include "lab/known_resources.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;
using kube::ObjectName;
using kube::text_at;
using Change = kube::Informer::Change;

namespace {

constexpr std::int64_t unsynced_wait = 100;   // ours
constexpr std::int64_t refused_wait = 5'000;  // until a claim is tried again
constexpr std::string_view reference_key = "resource.kubernetes.io/pod-claim-name";
constexpr std::string_view finalizer = "resource.kubernetes.io/delete-protection";

const json::array& references_of(const json::object& pod) {
    static const json::array none;
    const json::array* found = kube::array_at(pod, "spec.resourceClaims");
    return found == nullptr ? none : *found;
}

}  // namespace

ClaimController::ClaimController(kube::Transport& transport, LabTimers& timers,
                                 const kube::Informer& pods)
    : transport_(transport),
      timers_(timers),
      pods_(pods),
      events_(
          transport, [&timers] { return timers.now(); }, "resource_claim"),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      claimed_(timers, [this](const ObjectName& name) { clean(name); }),
      claims_(transport, known::resource_claims,
              [this](Change change, const ObjectName& name, const Object& claim, const Object*) {
                  claimed_.add(name);
                  const Object* owner = kube::controller_of(claim);
                  if (owner == nullptr || text_at(*owner, "kind") != "Pod") { return; }
                  const std::string uid(text_at(*owner, "uid"));
                  if (change == Change::set) {
                      by_pod_[uid].insert(name);
                      asked_.erase({uid, std::string(kube::annotation_of(claim, reference_key))});
                  } else if (const auto at = by_pod_.find(uid); at != by_pod_.end()) {
                      at->second.erase(name);
                      if (at->second.empty()) { by_pod_.erase(at); }
                  }
                  queue_.add({name.first, std::string(text_at(*owner, "name"))});
              }),
      templates_(transport, known::resource_claim_templates) {}

void ClaimController::start() {
    templates_.start();
    claims_.start();
}

void ClaimController::on_pod(const ObjectName& name, const Object& pod) {
    if (references_of(pod).empty()) { return; }
    queue_.add(name);
    for (const auto& [claim, object] : claims_.objects()) {
        if (claim.first == name.first) { claimed_.add(claim); }
    }
}

const json::object* ClaimController::claim_of(const Object& pod, std::string_view reference) const {
    const auto mine = by_pod_.find(kube::uid_of(pod));
    if (mine == by_pod_.end()) { return nullptr; }
    for (const ObjectName& name : mine->second) {
        const Object* claim = claims_.find(name);
        if (claim != nullptr && kube::annotation_of(*claim, reference_key) == reference) {
            return claim;
        }
    }
    return nullptr;
}

void ClaimController::reconcile(const ObjectName& name) {
    const Object* pod = pods_.find(name);
    if (pod == nullptr || kube::is_leaving(*pod)) { return; }
    if (!claims_.is_synced() || !templates_.is_synced()) {
        return queue_.add_later(name, unsynced_wait * timers_.speed());
    }
    if (is_over(*pod)) { return drop_claims(*pod); }
    for (const json::value& one : references_of(*pod)) {
        if (!one.is_object()) { continue; }
        const std::string_view of_template = text_at(one.get_object(), "resourceClaimTemplateName");
        const std::string_view reference = text_at(one.get_object(), "name");
        if (!of_template.empty() && claim_of(*pod, reference) == nullptr) {
            make(*pod, reference, of_template);
        }
    }
    show(*pod);
}

void ClaimController::make(const Object& pod, std::string_view reference,
                           std::string_view of_template) {
    const ObjectName name = kube::name_of(pod);
    const Object* found = templates_.find({name.first, std::string(of_template)});
    if (found == nullptr) {
        events_.record(pod, "Warning", "FailedResourceClaimCreation",
                       fmt::format("PodResourceClaim {}: resource claim template \"{}\": "
                                   "resourceclaimtemplate.resource.k8s.io \"{}\" not found",
                                   reference, of_template, of_template));
        return queue_.add_later(name, refused_wait);
    }
    const std::pair key{std::string(kube::uid_of(pod)), std::string(reference)};
    if (!asked_.insert(key).second) { return; }
    Object owner = kube::owner_reference(pod);
    owner["kind"] = "Pod";
    owner["apiVersion"] = "v1";
    Object metadata{{"generateName", fmt::format("{}-{}-", name.second, reference)},
                    {"namespace", name.first},
                    {"ownerReferences", json::array{std::move(owner)}}};
    for (const char* map : {"labels", "annotations"}) {
        if (const Object* given = kube::object_at(*found, fmt::format("spec.metadata.{}", map))) {
            metadata[map] = *given;
        }
    }
    Object claim{{"apiVersion", "resource.k8s.io/v1"},
                 {"kind", "ResourceClaim"},
                 {"metadata", std::move(metadata)}};
    put_in(claim, "annotations", reference_key, reference);
    const Object* spec = kube::object_at(*found, "spec.spec");
    claim["spec"] = spec == nullptr ? Object() : *spec;
    kube::create_object(
        transport_, known::resource_claims, name.first, claim,
        [this, key, name, alive = std::weak_ptr<int>(alive_)](const Result<kube::Answer>& answer) {
            if (alive.expired() || (answer && answer->is_ok())) { return; }
            asked_.erase(key);
            const Object* now = pods_.find(name);
            if (now == nullptr) { return; }
            boost::system::error_code wrong;
            const json::value body = json::parse(answer ? answer->body : std::string("{}"), wrong);
            events_.record(
                *now, "Warning", "FailedResourceClaimCreation",
                fmt::format("PodResourceClaim {}: {}", key.second,
                            !wrong && body.is_object() ? text_at(body.get_object(), "message")
                                                       : std::string_view("no answer")));
            queue_.add_later(name, refused_wait);
        });
}

/// Which claim stands for which of the pod's references.
void ClaimController::show(const Object& pod) {
    json::array statuses;
    for (const json::value& one : references_of(pod)) {
        if (!one.is_object()) { continue; }
        const std::string_view reference = text_at(one.get_object(), "name");
        if (text_at(one.get_object(), "resourceClaimTemplateName").empty()) { continue; }
        const Object* claim = claim_of(pod, reference);
        if (claim == nullptr) { continue; }
        statuses.push_back(
            Object{{"name", reference}, {"resourceClaimName", text_at(*claim, "metadata.name")}});
    }
    if (statuses.empty()) { return; }
    write_status(transport_, known::pods, pod, {{"resourceClaimStatuses", std::move(statuses)}});
}

/// The garbage collector takes them when the pod is gone; one that ended needs them no more.
void ClaimController::drop_claims(const Object& pod) {
    const auto mine = by_pod_.find(kube::uid_of(pod));
    if (mine == by_pod_.end()) { return; }
    for (const ObjectName& name : mine->second) {
        const Object* claim = claims_.find(name);
        if (claim == nullptr || kube::is_leaving(*claim)) { continue; }
        kube::delete_object(
            transport_, known::resource_claims, name,
            {.uid = std::string(kube::uid_of(*claim)), .grace = -1, .propagation = ""});
    }
}

/// A reservation ends with its pod, and an allocation with the last reservation.
void ClaimController::clean(const ObjectName& name) {
    const Object* claim = claims_.find(name);
    if (claim == nullptr) { return; }
    if (!pods_.is_synced()) { return claimed_.add_later(name, unsynced_wait * timers_.speed()); }
    const json::array* reserved = kube::array_at(*claim, "status.reservedFor");
    json::array left;
    for (const json::value& one : reserved == nullptr ? json::array() : *reserved) {
        if (!one.is_object()) { continue; }
        const Object& consumer = one.get_object();
        const Object* pod = pods_.find({name.first, std::string(text_at(consumer, "name"))});
        const bool is_pod = text_at(consumer, "resource") == "pods";
        const bool is_there =
            pod != nullptr && kube::uid_of(*pod) == text_at(consumer, "uid") && !is_over(*pod);
        if (!is_pod || is_there) { left.push_back(one); }
    }
    const bool is_free = left.empty();
    if (reserved != nullptr && left.size() != reserved->size()) {
        Object status{{"reservedFor", is_free ? json::value() : json::value(std::move(left))}};
        if (is_free) { status["allocation"] = nullptr; }
        return write_status(transport_, known::resource_claims, *claim, std::move(status));
    }
    const json::array* finalizers = kube::array_at(*claim, "metadata.finalizers");
    if (!is_free || finalizers == nullptr || kube::value_at(*claim, "status.allocation")) {
        return;
    }
    json::array kept;
    for (const json::value& one : *finalizers) {
        if (!one.is_string() || std::string_view(one.get_string()) != finalizer) {
            kept.push_back(one);
        }
    }
    if (kept.size() == finalizers->size()) { return; }
    kube::patch_object(transport_, {.resource = known::resource_claims, .name = name, .rest = {}},
                       {{"metadata", {{"finalizers", std::move(kept)}}}});
}

}  // namespace muster::lab
