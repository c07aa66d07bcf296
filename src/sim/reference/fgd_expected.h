// The FGD authors' own result files, to hold a replay against.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>

namespace muster::sim {

/// In millionths of the cluster's GPU, by list ("default"), policy ("06-FGD", "05-BestFit") and
/// seed.
using FgdExpected = std::map<std::tuple<std::string, std::string, int>, std::int64_t>;

/// Column `arrived_percent` of analysis_allo_discrete.csv in the data folder's fgd-expected.
Result<FgdExpected> load_fgd_allocation(const std::filesystem::path& folder,
                                        std::size_t arrived_percent);

}  // namespace muster::sim
