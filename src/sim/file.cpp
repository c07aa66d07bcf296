#include "sim/file.h"

#include <fmt/core.h>

#include <array>
#include <fstream>

namespace muster::sim {

Result<std::string> read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return fail(Code::not_found,
                    fmt::format("{}: cannot be opened for reading", path.string()));
    }
    std::string text;
    std::array<char, 65'536> part{};
    while (in.read(part.data(), part.size()) || in.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) {
        return fail(Code::unavailable, fmt::format("{}: reading failed", path.string()));
    }
    return text;
}

Result<> write_file(const std::filesystem::path& path, std::string_view text) {
    std::ofstream out(path, std::ios::binary);
    out << text << std::flush;
    if (!out) {
        return fail(Code::unavailable, fmt::format("{}: cannot be written", path.string()));
    }
    return {};
}

}  // namespace muster::sim
