#include "lab/node_faults.h"

#include "base/text.h"
#include "kube/objects.h"
#include "lab/run_plan.h"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace muster::lab {

namespace {

constexpr std::string_view gpu_prefix = "lab.muster/gpu-";
constexpr std::int64_t gpu_max = 63;
constexpr std::int64_t xid_max = 1'000;
constexpr std::int64_t slow_max = 1'000;
constexpr std::int64_t flap_min = 1'000;

struct Xid {
    std::int64_t number = 0;
    XidEffect effect = XidEffect::degrades;
    std::string_view meaning;
};
/// Those that `warns` says of are the ones that the device plugin does not look at.
constexpr std::array<Xid, 20> known{{
    {8, XidEffect::kills, "the GPU stopped processing"},
    {13, XidEffect::warns, "graphics engine exception of the application"},
    {31, XidEffect::warns, "memory page fault of the application"},
    {41, XidEffect::kills, "copy engine exception"},
    {43, XidEffect::warns, "the application hung and was reset"},
    {45, XidEffect::warns, "the application was ended"},
    {46, XidEffect::kills, "the GPU stopped processing"},
    {48, XidEffect::kills, "double-bit ECC error"},
    {63, XidEffect::degrades, "a memory row was remapped"},
    {64, XidEffect::degrades, "a memory row could not be remapped"},
    {68, XidEffect::warns, "video engine exception of the application"},
    {74, XidEffect::degrades, "NVLink error"},
    {79, XidEffect::kills, "the GPU fell off the bus"},
    {92, XidEffect::degrades, "many single-bit ECC errors"},
    {94, XidEffect::kills, "contained ECC error"},
    {95, XidEffect::kills, "uncontained ECC error"},
    {109, XidEffect::warns, "context switch of the application took too long"},
    {119, XidEffect::kills, "the GPU's system processor does not answer"},
    {120, XidEffect::kills, "the GPU's system processor failed"},
    {154, XidEffect::degrades, "the driver asks for a recovery"},
}};

const Xid* find_xid(std::int64_t number) {
    const auto* found = std::find_if(known.begin(), known.end(),
                                     [&](const Xid& xid) { return xid.number == number; });
    return found == known.end() ? nullptr : found;
}

}  // namespace

XidEffect effect_of_xid(std::int64_t xid) {
    const Xid* found = find_xid(xid);
    return found ? found->effect : XidEffect::degrades;
}

std::string_view meaning_of_xid(std::int64_t xid) {
    const Xid* found = find_xid(xid);
    return found ? found->meaning : std::string_view();
}

NodeFaults faults_of(const boost::json::object& node) {
    NodeFaults out;
    out.is_failed = !kube::annotation_of(node, "lab.muster/failed").empty();
    if (const auto factor = parse_int(kube::annotation_of(node, "lab.muster/slow"))) {
        out.slow = std::clamp<std::int64_t>(*factor, 1, slow_max);
    }
    if (const auto flap = read_duration(kube::annotation_of(node, "lab.muster/flap"))) {
        out.flap = std::max(*flap, flap_min);
    }
    if (const auto notice = read_duration(kube::annotation_of(node, "lab.muster/spot"))) {
        out.notice = *notice;
    }
    const boost::json::object* all = kube::object_at(node, "metadata.annotations");
    if (all == nullptr) { return out; }
    for (const auto& field : *all) {
        const std::string_view key = field.key();
        if (!key.starts_with(gpu_prefix) || !field.value().is_string()) { continue; }
        const auto gpu = parse_int("GPU", key.substr(gpu_prefix.size()), 0, gpu_max);
        const auto xid = parse_int("XID", field.value().get_string(), 0, xid_max);
        if (gpu && xid) { out.gpus[*gpu] = *xid; }
    }
    return out;
}

}  // namespace muster::lab
