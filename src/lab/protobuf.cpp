#include "lab/protobuf.h"

#include "codec/json_writer.h"
#include "lab/metadata.h"
#include "lab/values.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view magic("k8s\0", 4);

// How a value lies on the wire.
constexpr unsigned wire_varint = 0;
constexpr unsigned wire_fixed64 = 1;
constexpr unsigned wire_bytes = 2;
constexpr unsigned wire_fixed32 = 5;

tl::unexpected<Error> malformed(std::string_view what) {
    return fail(Code::invalid, fmt::format("the protobuf body is malformed: {}", what));
}

/// One field as it lies there.
struct Piece {
    std::uint32_t number = 0;
    unsigned wire = wire_varint;
    std::uint64_t value = 0;  // a varint, or the bits of a fixed number
    std::string_view bytes;
};

Result<std::uint64_t> take_varint(std::string_view& rest) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (rest.empty()) { return malformed("it ends within a number"); }
        const auto byte = static_cast<unsigned char>(rest.front());
        rest.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) { return value; }
    }
    return malformed("a number is too long");
}

Result<std::uint64_t> take_fixed(std::string_view& rest, std::size_t size) {
    if (rest.size() < size) { return malformed("it ends within a number"); }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        value |= std::uint64_t{static_cast<unsigned char>(rest[i])} << (8 * i);
    }
    rest.remove_prefix(size);
    return value;
}

Result<Piece> take_piece(std::string_view& rest) {
    MUSTER_TRY(tag, take_varint(rest));
    const std::uint64_t number = tag >> 3U;
    if (number == 0 || number > 0x1fff'ffffU) { return malformed("a field has no number"); }
    Piece piece{.number = static_cast<std::uint32_t>(number),
                .wire = static_cast<unsigned>(tag & 7U),
                .value = 0,
                .bytes = {}};
    if (piece.wire == wire_varint) {
        MUSTER_TRY(value, take_varint(rest));
        piece.value = value;
    } else if (piece.wire == wire_fixed64 || piece.wire == wire_fixed32) {
        MUSTER_TRY(value, take_fixed(rest, piece.wire == wire_fixed64 ? 8 : 4));
        piece.value = value;
    } else if (piece.wire == wire_bytes) {
        MUSTER_TRY(size, take_varint(rest));
        if (size > rest.size()) { return malformed("it ends within a field"); }
        piece.bytes = rest.substr(0, static_cast<std::size_t>(size));
        rest.remove_prefix(piece.bytes.size());
    } else {
        return malformed("a field has an unknown form");
    }
    return piece;
}

/// Of the messages that are known here and not from the table.
Result<std::vector<Piece>> take_all(std::string_view bytes) {
    std::vector<Piece> out;
    while (!bytes.empty()) {
        MUSTER_TRY(piece, take_piece(bytes));
        out.push_back(piece);
    }
    return out;
}

Result<Piece> last_piece(std::string_view bytes, std::uint32_t number, unsigned wire) {
    Piece found{.number = number, .wire = wire, .value = 0, .bytes = {}};
    while (!bytes.empty()) {
        MUSTER_TRY(piece, take_piece(bytes));
        if (piece.number != number) { continue; }
        if (piece.wire != wire) { return malformed("a field has the wrong form"); }
        found = piece;
    }
    return found;
}

/// What is no UTF-8 is replaced, as Kubernetes does when it writes JSON.
json::string text_value(std::string_view bytes) {
    const bool is_plain =
        std::ranges::all_of(bytes, [](char one) { return static_cast<unsigned char>(one) < 0x80; });
    if (is_plain) { return json::string(bytes); }
    return json::parse(json_text(bytes)).get_string();
}

std::string base64(std::string_view bytes) {
    static constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8U |
                    (i < count ? static_cast<unsigned char>(bytes[at + i]) : std::uint32_t{0});
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out += i <= count ? letters[group >> (18 - 6 * i) & 63U] : '=';
        }
    }
    return out;
}

/// Null when nothing is said: that is the zero time, which JSON leaves out.
Result<json::value> time_value(std::string_view bytes, bool is_micro) {
    constexpr std::int64_t first = -62'135'596'800;  // the year 1
    constexpr std::int64_t last = 253'402'300'799;   // the end of 9999
    if (bytes.empty()) { return json::value(nullptr); }
    MUSTER_TRY(seconds_piece, last_piece(bytes, 1, wire_varint));
    MUSTER_TRY(nanos_piece, last_piece(bytes, 2, wire_varint));
    const auto seconds = static_cast<std::int64_t>(seconds_piece.value);
    if (seconds < first || seconds > last || nanos_piece.value > 999'999'999) {
        return malformed("a time is out of range");
    }
    std::string text = time_text(seconds * 1'000);
    if (is_micro) {
        text.insert(text.size() - 1, fmt::format(".{:06}", nanos_piece.value / 1'000));
    }
    return json::value(text);
}

Result<json::value> int_or_string(std::string_view bytes) {
    MUSTER_TRY(type, last_piece(bytes, 1, wire_varint));
    MUSTER_TRY(number, last_piece(bytes, 2, wire_varint));
    MUSTER_TRY(text, last_piece(bytes, 3, wire_bytes));
    if (type.value == 0) { return json::value(static_cast<std::int32_t>(number.value)); }
    return json::value(text_value(text.bytes));
}

Result<json::value> json_value(std::string_view text) {
    if (text.empty()) { return json::value(nullptr); }
    boost::system::error_code wrong;
    json::value value = json::parse(text, wrong);
    if (wrong) { return malformed(fmt::format("what is JSON in it: {}", wrong.message())); }
    return value;
}

Result<json::value> strings(std::string_view bytes, std::uint32_t number) {
    json::array out;
    while (!bytes.empty()) {
        MUSTER_TRY(piece, take_piece(bytes));
        if (piece.number != number) { continue; }
        if (piece.wire != wire_bytes) { return malformed("a text has the wrong form"); }
        out.push_back(text_value(piece.bytes));
    }
    return json::value(std::move(out));
}

bool is_zero(const json::value& value) {
    if (value.is_string()) { return value.get_string().empty(); }
    if (value.is_bool()) { return !value.get_bool(); }
    return value.is_int64() && value.get_int64() == 0;
}

unsigned wire_of(WireType type) {
    switch (type) {
        case WireType::int32:
        case WireType::int64:
        case WireType::boolean: return wire_varint;
        case WireType::number: return wire_fixed64;
        case WireType::text:
        case WireType::bytes:
        case WireType::message:
        case WireType::strings:
        case WireType::time:
        case WireType::micro_time:
        case WireType::quantity:
        case WireType::int_or_string:
        case WireType::json:
        case WireType::raw:
        case WireType::schema_or_list:
        case WireType::schema_or_bool:
        case WireType::schema_or_strings: break;
    }
    return wire_bytes;
}

class Decoder {
public:
    explicit Decoder(const WireTable& table) : table_(table) {}

    Result<json::object> envelope(std::string_view bytes) {
        if (!bytes.starts_with(magic)) {
            return fail(Code::invalid, "the body does not begin as Kubernetes' protobuf does");
        }
        bytes.remove_prefix(magic.size());
        std::string_view type;
        MUSTER_TRY(type_piece, last_piece(bytes, 1, wire_bytes));
        type = type_piece.bytes;
        MUSTER_TRY(raw, last_piece(bytes, 2, wire_bytes));
        MUSTER_TRY(encoding, last_piece(bytes, 3, wire_bytes));
        MUSTER_TRY(content_type, last_piece(bytes, 4, wire_bytes));
        MUSTER_TRY(api_version, last_piece(type, 1, wire_bytes));
        MUSTER_TRY(kind, last_piece(type, 2, wire_bytes));
        if (!encoding.bytes.empty()) {
            return fail(Code::invalid, fmt::format("the content encoding {} is not known",
                                                   shown(text_value(encoding.bytes))));
        }
        if (content_type.bytes == "application/json") {
            MUSTER_TRY(value, json_value(raw.bytes));
            if (!value.is_object()) { return malformed("expected an object"); }
            return std::move(value.get_object());
        }
        const std::size_t* message = table_.find(api_version.bytes, kind.bytes);
        if (message == nullptr) {
            return fail(Code::invalid, fmt::format("no kind {} is registered for version {}",
                                                   shown(text_value(kind.bytes)),
                                                   shown(text_value(api_version.bytes))));
        }
        json::object object{{"kind", kind.bytes}, {"apiVersion", api_version.bytes}};
        MUSTER_CHECK(read_message(raw.bytes, *message, object));
        return object;
    }

private:
    /// Counts how deep messages stand in one another, which is bounded.
    struct Level {
        int& level;
        explicit Level(int& counted) : level(counted) { ++level; }
        ~Level() { --level; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
    };

    Result<> read_message(std::string_view bytes, std::size_t message, json::object& into) {
        const Level level(level_);
        if (level_ > body_levels_max) { return fail(Code::limit, "the body is nested too deep"); }
        while (!bytes.empty()) {
            MUSTER_TRY(piece, take_piece(bytes));
            const WireField* field = table_.field(message, piece.number);
            if (field == nullptr) { continue; }
            auto read = read_field(*field, piece, into);
            if (!read) { return tl::unexpected(std::move(read.error()).wrap(field->name)); }
        }
        return {};
    }

    Result<> read_field(const WireField& field, const Piece& piece, json::object& into) {
        if (field.is_map) { return read_entry(field, piece, into); }
        const unsigned wire = wire_of(field.type);
        if (field.is_list && wire != wire_bytes && piece.wire == wire_bytes) {
            return read_packed(field, piece.bytes, into);
        }
        if (piece.wire != wire) { return malformed("a field has the wrong form"); }
        if (field.is_inline) { return read_message(piece.bytes, field.message, into); }
        if (field.is_list) {
            MUSTER_TRY(value, read_value(field, piece));
            children(into, field.name).push_back(std::move(value));
            return {};
        }
        if (field.type == WireType::message) {  // what comes in two parts is one object
            json::object& object = child(into, field.name);
            MUSTER_CHECK(read_message(piece.bytes, field.message, object));
            if (field.drops_empty && object.empty()) { into.erase(field.name); }
            return {};
        }
        MUSTER_TRY(value, read_value(field, piece));
        const bool is_left_out = value.is_null() || (!field.keeps_zero && is_zero(value) &&
                                                     field.type != WireType::int_or_string);
        if (is_left_out) {
            into.erase(field.name);
        } else {
            into[field.name] = std::move(value);
        }
        return {};
    }

    /// An entry of a map is a message of a key and a value; what it does not say is zero.
    Result<> read_entry(const WireField& field, const Piece& piece, json::object& into) {
        if (piece.wire != wire_bytes) { return malformed("a field has the wrong form"); }
        const unsigned wire = wire_of(field.type);
        MUSTER_TRY(key, last_piece(piece.bytes, 1, wire_bytes));
        MUSTER_TRY(said, last_piece(piece.bytes, 2, wire));
        MUSTER_TRY(value, read_value(field, said));
        child(into, field.name)[text_value(key.bytes)] = std::move(value);
        return {};
    }

    Result<> read_packed(const WireField& field, std::string_view bytes, json::object& into) {
        json::array& list = children(into, field.name);
        while (!bytes.empty()) {
            Piece piece{
                .number = field.number, .wire = wire_of(field.type), .value = 0, .bytes = {}};
            MUSTER_TRY(value,
                       piece.wire == wire_varint ? take_varint(bytes) : take_fixed(bytes, 8));
            piece.value = value;
            MUSTER_TRY(one, read_value(field, piece));
            list.push_back(std::move(one));
        }
        return {};
    }

    Result<json::value> read_value(const WireField& field, const Piece& piece) {
        switch (field.type) {
            case WireType::text: return json::value(text_value(piece.bytes));
            case WireType::bytes: return json::value(base64(piece.bytes));
            case WireType::int32: return json::value(static_cast<std::int32_t>(piece.value));
            case WireType::int64: return json::value(static_cast<std::int64_t>(piece.value));
            case WireType::boolean: return json::value(piece.value != 0);
            case WireType::number: {
                const auto number = std::bit_cast<double>(piece.value);
                if (!std::isfinite(number)) { return malformed("a number is none"); }
                return json::value(number);
            }
            case WireType::message: return object_value(piece.bytes, field.message);
            case WireType::strings: return strings(piece.bytes, 1);
            case WireType::time: return time_value(piece.bytes, false);
            case WireType::micro_time: return time_value(piece.bytes, true);
            case WireType::quantity: {
                MUSTER_TRY(text, last_piece(piece.bytes, 1, wire_bytes));
                return json::value(text.bytes.empty() ? json::string("0") : text_value(text.bytes));
            }
            case WireType::int_or_string: return int_or_string(piece.bytes);
            case WireType::json: {
                MUSTER_TRY(text, last_piece(piece.bytes, 1, wire_bytes));
                return json_value(text.bytes);
            }
            case WireType::raw: return raw_value(piece.bytes);
            case WireType::schema_or_list: return schema_or(piece.bytes, 1, field.type);
            case WireType::schema_or_bool: return schema_or(piece.bytes, 2, field.type);
            case WireType::schema_or_strings: return schema_or(piece.bytes, 1, field.type);
        }
        return malformed("a field of no type");
    }

    Result<json::value> object_value(std::string_view bytes, std::size_t message) {
        json::object object;
        MUSTER_CHECK(read_message(bytes, message, object));
        return json::value(std::move(object));
    }

    Result<json::value> raw_value(std::string_view bytes) {
        MUSTER_TRY(raw, last_piece(bytes, 1, wire_bytes));
        if (!raw.bytes.starts_with(magic)) { return json_value(raw.bytes); }
        const Level level(level_);
        if (level_ > body_levels_max) { return fail(Code::limit, "the body is nested too deep"); }
        MUSTER_TRY(object, envelope(raw.bytes));
        return json::value(std::move(object));
    }

    /// A schema, or else what the type says.
    Result<json::value> schema_or(std::string_view bytes, std::uint32_t schema_number,
                                  WireType type) {
        MUSTER_TRY(pieces, take_all(bytes));
        std::optional<std::string_view> schema;
        std::uint64_t flag = 0;
        json::array list;
        for (const Piece& piece : pieces) {
            const bool is_flag = type == WireType::schema_or_bool && piece.number == 1;
            if (piece.number > 2) { continue; }
            if (piece.wire != (is_flag ? wire_varint : wire_bytes)) {
                return malformed("a schema has the wrong form");
            }
            if (is_flag) {
                flag = piece.value;
            } else if (piece.number == schema_number) {
                schema = piece.bytes;
            } else if (type == WireType::schema_or_strings) {
                list.push_back(text_value(piece.bytes));
            } else {
                MUSTER_TRY(one, object_value(piece.bytes, table_.schema_message()));
                list.push_back(std::move(one));
            }
        }
        if (!list.empty()) { return json::value(std::move(list)); }
        if (schema) { return object_value(*schema, table_.schema_message()); }
        if (type == WireType::schema_or_bool) { return json::value(flag != 0); }
        return json::value(nullptr);
    }

    const WireTable& table_;
    int level_ = 0;
};

}  // namespace

Result<json::object> read_protobuf(std::string_view bytes, const WireTable& table) {
    MUSTER_TRY(object, Decoder(table).envelope(bytes));
    json::value whole(std::move(object));
    if (!is_within(whole, body_levels_max)) {
        return fail(Code::limit, "the body is nested too deep");
    }
    return std::move(whole.get_object());
}

}  // namespace muster::lab
