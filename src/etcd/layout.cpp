#include "etcd/layout.h"

#include "base/text.h"
#include "codec/bytes.h"
#include "etcd/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace muster::etcd {

namespace {

constexpr std::uint8_t format = 1;
constexpr auto last_kind = static_cast<std::uint64_t>(RecordKind::cycle);

std::optional<std::uint64_t> number_of(std::string_view text) {
    const auto number = parse_int(text);
    if (!number || *number < 0) { return std::nullopt; }
    return static_cast<std::uint64_t>(*number);
}

std::optional<Hash> hash_of_hex(std::string_view text) {
    Hash out;
    if (text.size() != 2 * out.size()) { return std::nullopt; }
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    for (std::size_t i = 0; i < out.size(); ++i) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) { return std::nullopt; }
        out[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return out;
}

}  // namespace

std::string Layout::entry(std::uint64_t sequence) const {
    return fmt::format("{}{:020}", entries(), sequence);
}
std::string Layout::snapshot(std::uint64_t sequence) const {
    return fmt::format("{}{:020}", snapshots(), sequence);
}
std::string Layout::parts_from(std::uint64_t sequence) const {
    return fmt::format("{}{:020}", all_parts(), sequence);
}
std::string Layout::parts(const Header& header) const {
    return fmt::format("{}/{}/", parts_from(header.sequence), hex_of(header.hash));
}
std::string Layout::part(const Header& header, std::uint32_t number) const {
    return fmt::format("{}{:06}", parts(header), number);
}

Result<std::uint64_t> Layout::sequence_of(std::string_view key) {
    const auto number = number_of(key.substr(key.rfind('/') + 1));
    if (!number) { return fail(Code::corrupt, fmt::format("key {} has no sequence", key)); }
    return *number;
}

std::string encode_stored(const Stored& stored, bool with_payload) {
    ByteWriter out;
    out.byte(format);
    out.byte(static_cast<std::uint8_t>(stored.header.kind));
    out.number(stored.header.epoch);
    out.signed_number(stored.header.time);
    out.text({reinterpret_cast<const char*>(stored.header.hash.data()), stored.header.hash.size()});
    out.number(stored.payload_bytes);
    out.number(stored.parts);
    if (with_payload && stored.parts == 0) { out.text(stored.payload); }
    return out.take();
}

Result<Stored> decode_stored(std::uint64_t sequence, std::string_view bytes, bool with_payload) {
    ByteReader in(bytes);
    Stored out;
    out.header.sequence = sequence;
    if (in.byte() != format) { in.refuse("has another format"); }
    const std::uint8_t kind = in.byte();
    if (kind > last_kind) { in.refuse("has an unknown kind"); }
    out.header.kind = static_cast<RecordKind>(kind);
    out.header.epoch = in.number();
    out.header.time = in.signed_number();
    const std::string_view hash = in.text();
    if (hash.size() == out.header.hash.size()) {
        std::copy(hash.begin(), hash.end(), reinterpret_cast<char*>(out.header.hash.data()));
    } else {
        in.refuse("a hash has another length");
    }
    out.payload_bytes = in.number(entry_bytes_max);
    out.parts = static_cast<std::uint32_t>(in.number(entry_bytes_max / part_bytes_max + 1));
    if (with_payload && out.parts == 0) {
        out.payload = in.text();
        if (out.payload.size() != out.payload_bytes) { in.refuse("has another length"); }
    }
    if (auto ended = in.end(); !ended) {
        return fail(Code::corrupt,
                    fmt::format("entry {}: {}", sequence, std::move(ended).error().message));
    }
    return out;
}

std::string encode_end(const End& end) {
    const Header& last = end.extent.last;
    return fmt::format("{} {} {} {} {} {} {} {} {}", format, last.sequence, last.epoch,
                       static_cast<int>(last.kind), last.time, hex_of(last.hash),
                       end.extent.anchor.sequence, hex_of(end.extent.anchor.hash), end.writer);
}

Result<End> decode_end(std::string_view text) {
    const auto bad = [&] {
        return fail(Code::corrupt,
                    fmt::format("its end is told as '{:.200}'; expected what muster writes, format "
                                "{}",
                                text, format));
    };
    const std::vector<std::string_view> fields = split(text, ' ');
    constexpr std::size_t field_count = 9;
    if (fields.size() != field_count || number_of(fields[0]) != format) { return bad(); }
    const auto sequence = number_of(fields[1]);
    const auto epoch = number_of(fields[2]);
    const auto kind = number_of(fields[3]);
    const auto time = parse_int(fields[4]);
    const auto hash = hash_of_hex(fields[5]);
    const auto anchor = number_of(fields[6]);
    const auto anchor_hash = hash_of_hex(fields[7]);
    if (!sequence || !epoch || !kind || *kind > last_kind || !time || !hash || !anchor ||
        !anchor_hash || *sequence < *anchor) {
        return bad();
    }
    End out;
    out.extent.last = {.sequence = *sequence,
                       .epoch = *epoch,
                       .kind = static_cast<RecordKind>(*kind),
                       .time = *time,
                       .hash = *hash};
    out.extent.anchor = {.sequence = *anchor, .hash = *anchor_hash};
    out.writer = fields[8];
    return out;
}

}  // namespace muster::etcd
