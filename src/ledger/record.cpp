#include "ledger/record.h"

#include "codec/fields_json.h"
#include "ledger/entry.h"
#include "ledger/record_fields.h"

#include <fmt/core.h>

#include <utility>

namespace muster {

namespace {

template <class T>
std::string encode_as(RecordKind kind, const T& value) {
    Encoder encoder;
    encoder.out().byte(record_format);
    encoder.out().byte(static_cast<std::uint8_t>(kind));
    encoder.put(value);
    return encoder.out().take();
}

}  // namespace

std::string_view name_of(RecordKind kind) {
    switch (kind) {
        case RecordKind::opened: return "opened";
        case RecordKind::snapshot: return "snapshot";
        case RecordKind::cycle: return "cycle";
    }
    return {};
}

std::string encode_record(const Opened& opened) { return encode_as(RecordKind::opened, opened); }
std::string encode_record(const Snapshot& snapshot) {
    return encode_as(RecordKind::snapshot, snapshot);
}
std::string encode_record(const Cycle& cycle) { return encode_as(RecordKind::cycle, cycle); }

Result<Record> decode_record(std::string_view bytes) {
    Decoder decoder(bytes);
    const std::uint8_t format = decoder.in().byte();
    if (!decoder.in().has_failed() && format != record_format) {
        decoder.in().refuse(
            fmt::format("{}, a format that this version does not know (it reads {}): go on with "
                        "the version that "
                        "wrote it, or begin an empty ledger, which takes up what runs",
                        format, record_format));
    }
    Record record;
    decoder.get(record);
    MUSTER_CHECK(decoder.in().end());
    return record;
}

std::string record_json(const Record& record) {
    JsonWriter out;
    std::visit([&](const auto& one) { write_json(out, one); }, record);
    return out.take();
}

std::string policy_hash(const Policy& policy) { return hex_of(hash_of(encode(policy))); }

}  // namespace muster
