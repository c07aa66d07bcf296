// Any bytes, as topology.conf and as topology.yaml: no crash, and what is accepted has every label
// of every level.
#include "dialect/slurm_topology.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

void check(const muster::Result<muster::dialect::TopologyFile>& file) {
    if (!file) {
        MUSTER_ASSERT(!file.error().message.empty());
        return;
    }
    MUSTER_ASSERT(!file->levels.empty());
    for (const muster::dialect::NodeLabels& node : file->nodes) {
        MUSTER_ASSERT(!node.node.empty());
        MUSTER_ASSERT(node.labels.size() == file->levels.size());
        for (std::size_t i = 0; i < node.labels.size(); ++i) {
            MUSTER_ASSERT(node.labels[i].key == file->levels[i].key);
            MUSTER_ASSERT(!node.labels[i].value.empty());
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    check(muster::dialect::read_topology_conf("fuzz", text));
    check(muster::dialect::read_topology_yaml("fuzz", text));
    return 0;
}
