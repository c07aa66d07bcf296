// What is wrong with a fake node. People say it by annotations, with `kubectl annotate node` or
// `muster lab fail`:
//   lab.muster/failed: "text"   it does not answer
//   lab.muster/flap: "10s"      it does not answer for so long, then answers for so long, and so on
//   lab.muster/slow: "3"        what starts there takes and runs three times as long
//   lab.muster/gpu-3: "79"      its GPU 3 has reported XID 79
//   lab.muster/spot: "120s"     it is taken back, so long after it was told
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <string_view>

namespace muster::lab {

struct NodeFaults {
    bool is_failed = false;
    std::int64_t flap = 0;  // lab milliseconds; 0: it does not
    std::int64_t slow = 1;
    std::int64_t notice = -1;                   // lab milliseconds; -1: it stays
    std::map<std::int64_t, std::int64_t> gpus;  // XIDs by the GPU's number

    bool operator==(const NodeFaults&) const = default;
};

/// What can't be read is no fault.
NodeFaults faults_of(const boost::json::object& node);

/// What an XID comes to, by NVIDIA's catalogue and the list of its device plugin.
enum class XidEffect : std::uint8_t {
    warns,     // of the application; the GPU is as good as before
    degrades,  // the GPU is given to nobody any more; who has it goes on
    kills      // and who has it fails
};
XidEffect effect_of_xid(std::int64_t xid);
/// "fell off the bus"; empty when it is not a common one.
std::string_view meaning_of_xid(std::int64_t xid);

}  // namespace muster::lab
