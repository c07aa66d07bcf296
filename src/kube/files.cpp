#include "kube/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace muster::kube {

namespace {

constexpr std::size_t file_bytes_max = std::size_t{8} << 20;

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
    if (file == nullptr) {
        return fail(errno == ENOENT ? Code::not_found : Code::unavailable,
                    fmt::format("{}: {}", path, std::strerror(errno)));
    }
    std::string out(4096, '\0');
    std::size_t size = 0;
    for (;;) {
        const std::size_t count = std::fread(out.data() + size, 1, out.size() - size, file.get());
        if (count == 0) { break; }
        size += count;
        if (size > file_bytes_max) {
            return fail(Code::limit, fmt::format("{}: over {} bytes", path, file_bytes_max));
        }
        if (size == out.size()) { out.resize(2 * size); }
    }
    if (std::ferror(file.get()) != 0) {
        return fail(Code::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
    }
    out.resize(size);
    return out;
}

Result<std::string> read_pem(const PemSource& source) {
    if (!source.text.empty() || source.file.empty()) { return source.text; }
    return read_text_file(source.file);
}

}  // namespace muster::kube
