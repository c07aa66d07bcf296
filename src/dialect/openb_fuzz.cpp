// Any bytes: no crash, and what was accepted keeps the promises of the header.
#include "dialect/openb.h"

#include "base/assert.h"
#include "dialect/gzip.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace muster::dialect;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr std::size_t rows = 3;

    if (const auto nodes = read_openb_nodes("nodes", text)) {
        for (const OpenbNode& node : *nodes) {
            MUSTER_ASSERT(!node.name.empty());
            MUSTER_ASSERT((node.gpu_count > 0) == !node.model.empty());
        }
    }
    if (const auto pods = read_openb_pods("pods", text)) {
        for (const OpenbPod& pod : *pods) {
            MUSTER_ASSERT((pod.gpu_count > 0) == (pod.gpu_milli > 0));
            MUSTER_ASSERT(!pod.times || pod.times->run_seconds().value_or(0) >= 0);
        }
    }
    if (const auto arrivals = read_openb_arrivals("arrivals", text, 42, rows)) {
        for (const std::uint32_t pod : *arrivals) { MUSTER_ASSERT(pod < rows); }
    }
    if (const auto ranks = read_openb_ranks("ranks", text, 42, rows)) {
        MUSTER_ASSERT(ranks->size() == rows);
    }
    constexpr GunzipLimits limits{.bytes_max = std::size_t{1} << 20};
    if (const auto unpacked = gunzip(text, limits)) {
        MUSTER_ASSERT(unpacked->size() <= limits.bytes_max);
    }
    return 0;
}
