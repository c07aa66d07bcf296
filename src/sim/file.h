// Whole files as text, for the tools that read traces.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace muster::sim {

Result<std::string> read_file(const std::filesystem::path& path);
Result<> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace muster::sim
