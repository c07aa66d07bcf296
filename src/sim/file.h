// Whole files as text, for the tools that read traces.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>

namespace muster::sim {

Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace muster::sim
