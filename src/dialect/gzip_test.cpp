#include "dialect/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace muster::dialect {
namespace {

using testing::HasSubstr;

std::string pack(std::string text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(packed.size() - stream.avail_out);
    deflateEnd(&stream);
    return packed;
}

TEST(Gunzip, UnpacksWhatWasPacked) {
    std::string large;
    for (int i = 0; i < 100'000; ++i) { large += std::to_string(i * 7919); }

    EXPECT_EQ(gunzip(pack("")).value(), "");
    EXPECT_EQ(gunzip(pack("a,b\n1,2\n")).value(), "a,b\n1,2\n");
    EXPECT_EQ(gunzip(pack(large)).value(), large);
    EXPECT_EQ(gunzip(pack("first ") + pack("second")).value(), "first second");
}

TEST(Gunzip, RefusesEveryCut) {
    const std::string packed = pack("seed42,seed43\n1,2\n3,4\n");

    for (std::size_t size = 0; size < packed.size(); ++size) {
        const auto cut = gunzip(std::string_view(packed).substr(0, size));
        ASSERT_FALSE(cut) << size;
        EXPECT_EQ(cut.error().code, Code::corrupt);
    }
    EXPECT_THAT(gunzip(std::string_view(packed).substr(0, 20)).error().message,
                HasSubstr("ends after 20 bytes"));
}

TEST(Gunzip, RefusesWhatIsNotGzipOrIsDamaged) {
    EXPECT_THAT(gunzip("name,cpu_milli\n").error().message, HasSubstr("not gzip data"));
    std::string packed = pack("seed42,seed43\n1,2\n3,4\n");
    packed[packed.size() - 6] ^= 1;  // in the checksum
    EXPECT_THAT(gunzip(packed).error().message, HasSubstr("not gzip data"));
    EXPECT_FALSE(gunzip(pack("text") + "trailing"));
}

TEST(Gunzip, StopsAtTheLimit) {
    const auto result = gunzip(pack(std::string(1'000'000, 'x')), {.bytes_max = 999'999});

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::limit);
    EXPECT_THAT(result.error().message, HasSubstr("over 999999 bytes"));
}

}  // namespace
}  // namespace muster::dialect
