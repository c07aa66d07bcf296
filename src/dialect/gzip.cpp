#include "dialect/gzip.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace muster::dialect {

namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 10;
constexpr int gzip_window_bits = 15 + 16;  // 16: a gzip header is demanded

class Inflater {
public:
    Inflater() { is_open_ = inflateInit2(&stream_, gzip_window_bits) == Z_OK; }
    ~Inflater() {
        if (is_open_) { inflateEnd(&stream_); }
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    Result<std::string> run(std::string_view packed, std::size_t bytes_max);

private:
    Result<> append_block(std::string& out, std::size_t bytes_max);

    z_stream stream_{};
    bool is_open_ = false;
    int status_ = Z_OK;
};

Result<std::string> Inflater::run(std::string_view packed, std::size_t bytes_max) {
    if (!is_open_) { return fail(Code::unavailable, "gzip: zlib could not be started"); }
    std::string out;
    std::size_t fed = 0;
    const auto at = [&] { return fed - stream_.avail_in; };
    for (;;) {
        if (stream_.avail_in == 0) {
            const std::size_t size = std::min(packed.size() - fed, block_bytes);
            // zlib's interface takes a mutable pointer and does not write through it.
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + fed));
            stream_.avail_in = static_cast<uInt>(size);
            fed += size;
        }
        if (stream_.avail_in == 0) {
            return fail(Code::corrupt,
                        fmt::format("gzip: the data ends after {} bytes in the middle of a member; "
                                    "expected its end mark and checksum",
                                    packed.size()));
        }
        if (auto done = append_block(out, bytes_max); !done) {
            return tl::unexpected(
                std::move(done).error().wrap(fmt::format("gzip: at byte {}", at())));
        }
        if (status_ == Z_STREAM_END) {
            if (at() == packed.size()) { return out; }
            inflateReset(&stream_);
        }
    }
}

Result<> Inflater::append_block(std::string& out, std::size_t bytes_max) {
    std::array<char, block_bytes> block;
    do {
        stream_.next_out = reinterpret_cast<Bytef*>(block.data());
        stream_.avail_out = static_cast<uInt>(block.size());
        status_ = inflate(&stream_, Z_NO_FLUSH);
        if (status_ != Z_OK && status_ != Z_STREAM_END && status_ != Z_BUF_ERROR) {
            return fail(
                Code::corrupt,
                fmt::format("not gzip data: {}", stream_.msg != nullptr ? stream_.msg : "damaged"));
        }
        const std::size_t size = block.size() - stream_.avail_out;
        if (size > bytes_max - out.size()) {
            return fail(Code::limit, fmt::format("unpacks to over {} bytes", bytes_max));
        }
        out.append(block.data(), size);
    } while (status_ != Z_STREAM_END && stream_.avail_out == 0);
    return {};
}

}  // namespace

Result<std::string> gunzip(std::string_view packed, GunzipLimits limits) {
    Inflater inflater;
    return inflater.run(packed, limits.bytes_max);
}

}  // namespace muster::dialect
