// Tests only: writes protobuf by hand, and objects by the table that is read with.
#pragma once

#include "lab/protobuf.h"
#include "lab/schemas.h"

#include <boost/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::lab {

class ProtobufText {
public:
    ProtobufText& varint(std::uint32_t number, std::uint64_t value) {
        write(std::uint64_t{number} << 3U);
        write(value);
        return *this;
    }
    ProtobufText& text(std::uint32_t number, std::string_view bytes) {
        write(std::uint64_t{number} << 3U | 2U);
        write(bytes.size());
        out_ += bytes;
        return *this;
    }
    ProtobufText& fixed64(std::uint32_t number, std::uint64_t bits) {
        write(std::uint64_t{number} << 3U | 1U);
        for (unsigned i = 0; i < 8; ++i) { out_ += static_cast<char>(bits >> (8 * i) & 0xffU); }
        return *this;
    }
    ProtobufText& raw(std::string_view bytes) {
        out_ += bytes;
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return out_; }

private:
    void write(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) { out_ += static_cast<char>((value & 0x7fU) | 0x80U); }
        out_ += static_cast<char>(value);
    }

    std::string out_;
};

inline std::string in_envelope(std::string_view api_version, std::string_view kind,
                               std::string_view message, std::string_view content_type = "") {
    return std::string("k8s\0", 4) +
           ProtobufText()
               .text(1, ProtobufText().text(1, api_version).text(2, kind).bytes())
               .text(2, message)
               .text(3, "")
               .text(4, content_type)
               .bytes();
}

/// Texts, numbers, flags, quantities, lists and maps of them; not times and the like.
inline std::string message_of(const boost::json::object& object, std::size_t message) {
    const auto value_of = [](ProtobufText& out, std::uint32_t number, const WireField& field,
                             const boost::json::value& value) {
        if (field.type == WireType::message) {
            out.text(number, message_of(value.as_object(), field.message));
        } else if (field.type == WireType::quantity) {
            out.text(number, ProtobufText().text(1, value.as_string()).bytes());
        } else if (value.is_string()) {
            out.text(number, value.get_string());
        } else {
            const bool is_flag = value.is_bool();
            out.varint(number, is_flag ? std::uint64_t{value.get_bool()}
                                       : static_cast<std::uint64_t>(value.as_int64()));
        }
    };
    ProtobufText out;
    for (const WireField& field : built_in_wire_table().fields(message)) {
        if (field.is_inline) {
            out.text(field.number, message_of(object, field.message));
            continue;
        }
        const boost::json::value* found = object.if_contains(field.name);
        if (found == nullptr) { continue; }
        if (field.is_list) {
            for (const auto& one : found->as_array()) { value_of(out, field.number, field, one); }
        } else if (field.is_map) {
            for (const auto& [key, value] : found->as_object()) {
                ProtobufText entry;
                entry.text(1, key);
                value_of(entry, 2, field, value);
                out.text(field.number, entry.bytes());
            }
        } else {
            value_of(out, field.number, field, *found);
        }
    }
    return out.bytes();
}

inline std::string protobuf_of(std::string_view json) {
    const boost::json::object object = boost::json::parse(json).as_object();
    const std::string_view api_version = object.at("apiVersion").as_string();
    const std::string_view kind = object.at("kind").as_string();
    const std::size_t* message = built_in_wire_table().find(api_version, kind);
    if (message == nullptr) { return {}; }
    return in_envelope(api_version, kind, message_of(object, *message));
}

}  // namespace muster::lab
