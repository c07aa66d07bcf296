// Whole gzip files in memory, for traces that are stored packed.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::dialect {

struct GunzipLimits {
    std::size_t bytes_max = std::size_t{256} << 20;  // unpacked
};

/// The unpacked bytes of one or more gzip members; a cut, damaged or too large file is an error.
Result<std::string> gunzip(std::string_view packed, GunzipLimits limits = {});

}  // namespace muster::dialect
