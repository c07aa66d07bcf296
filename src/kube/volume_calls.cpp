#include "kube/volume_calls.h"

#include "kube/objects.h"

#include <boost/json.hpp>

#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

ObjectName name_of_claim(const dialect::VolumeStep& step) {
    const std::size_t slash = step.claim.find('/');
    return {step.claim.substr(0, slash), step.claim.substr(slash + 1)};
}

Call tell_claim(const dialect::VolumeStep& step, const std::string& node) {
    const Resource claims{.group = "", .version = "v1", .plural = "persistentvolumeclaims"};
    json::object annotations;
    annotations[dialect::selected_node_key] = node;
    return patch_call({.resource = claims, .name = name_of_claim(step), .rest = {}},
                      {{"metadata", {{"uid", step.uid}, {"annotations", annotations}}}});
}

/// Only as long as it is as it was looked at: else somebody may have it by now.
Call keep_volume(const dialect::VolumeStep& step) {
    const Resource volumes{.group = "", .version = "v1", .plural = "persistentvolumes"};
    const ObjectName claim = name_of_claim(step);
    const json::object metadata{{"uid", step.volume_uid}, {"resourceVersion", step.volume_version}};
    const json::object reference{{"apiVersion", "v1"},
                                 {"kind", "PersistentVolumeClaim"},
                                 {"namespace", claim.first},
                                 {"name", claim.second},
                                 {"uid", step.uid}};
    return patch_call({.resource = volumes, .name = {"", step.volume}, .rest = {}},
                      {{"metadata", metadata}, {"spec", {{"claimRef", reference}}}});
}

}  // namespace

void prepare_volume(const std::shared_ptr<OrderCalls>& calls, const dialect::VolumeStep& step,
                    const std::string& node) {
    if (!calls->begin(step.uid)) { return; }
    calls->ask(step.volume.empty() ? tell_claim(step, node) : keep_volume(step),
               [calls, uid = step.uid](const Result<Answer>& answer) {
                   calls->end(uid);
                   if (!answer || !answer->is_ok()) { ++calls->counts.failed; }
               });
}

}  // namespace muster::kube
