// The text of `nvidia-smi topo -m`: how the GPUs and network cards of one node reach each other.
// Pure; takes what current and old drivers print (cells padded with blanks, terminal underlining,
// network cards named NIC0 with a legend or mlx5_0 at once, with and without NUMA columns).
// Anything else is refused with its line and field.
#pragma once

#include "base/result.h"
#include "model/node.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::dialect {

inline constexpr std::size_t topo_matrix_bytes_max = std::size_t{1} << 20;

struct TopoMatrix {
    std::vector<std::int32_t> gpu_numa;  // per GPU; −1 where it is not said or is no single zone
    std::vector<NicSpec> nics;           // their zone follows from the nearest GPU that shares it
    LinkMatrix links;                    // GPUs, then NICs

    bool operator==(const TopoMatrix&) const = default;
};

/// `file` names the text in messages.
Result<TopoMatrix> read_topo_matrix(std::string_view file, std::string_view text);

/// Puts zones, NICs and links on a node that has as many GPUs.
Result<> apply_topo_matrix(const TopoMatrix& matrix, NodeSpec& node);

}  // namespace muster::dialect
