// Any bytes: no crash, and what is accepted is a whole, symmetric matrix.
#include "dialect/topo_matrix.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto matrix = muster::dialect::read_topo_matrix("fuzz", text);
    if (!matrix) {
        MUSTER_ASSERT(!matrix.error().message.empty());
        return 0;
    }
    const std::size_t devices = matrix->gpu_numa.size() + matrix->nics.size();
    MUSTER_ASSERT(!matrix->gpu_numa.empty());
    MUSTER_ASSERT(matrix->links.paths.size() == devices * devices);
    MUSTER_ASSERT(matrix->links.nvlinks.size() == devices * devices);
    for (std::size_t a = 0; a < devices; ++a) {
        for (std::size_t b = 0; b < devices; ++b) {
            const muster::Link link = matrix->links.paths[a * devices + b];
            MUSTER_ASSERT(link == matrix->links.paths[b * devices + a]);
            MUSTER_ASSERT((link == muster::Link::self) == (a == b));
            MUSTER_ASSERT((link == muster::Link::nvlink) ==
                          (matrix->links.nvlinks[a * devices + b] != 0));
        }
    }
    return 0;
}
