#include "kube/volume_calls.h"

#include "kube/cluster_kinds.h"
#include "kube/objects.h"

#include <boost/json.hpp>

#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

Call tell_claim(const dialect::VolumeStep& step, const std::string& node) {
    json::object annotations;
    annotations[dialect::selected_node_key] = node;
    return patch_call({.resource = name_of(ObjectKind::claim).resource,
                       .name = object_name(step.claim),
                       .rest = {}},
                      {{"metadata", {{"uid", step.uid}, {"annotations", annotations}}}});
}

/// Only as long as it is as it was looked at: else somebody may have it by now.
Call keep_volume(const dialect::VolumeStep& step) {
    const ObjectName claim = object_name(step.claim);
    const json::object metadata{{"uid", step.volume_uid}, {"resourceVersion", step.volume_version}};
    const json::object reference{{"apiVersion", "v1"},
                                 {"kind", "PersistentVolumeClaim"},
                                 {"namespace", claim.first},
                                 {"name", claim.second},
                                 {"uid", step.uid}};
    return patch_call(
        {.resource = name_of(ObjectKind::volume).resource, .name = {"", step.volume}, .rest = {}},
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
