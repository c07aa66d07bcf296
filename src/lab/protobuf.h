// Bodies as typed clients send them: the protobuf form of Kubernetes' objects, read into what the
// same object is in JSON. Which field has which number comes from a table that
// tools/import_protobuf makes of Kubernetes' own modules; the program carries it:
// src/lab/schemas/NOTICE.md. Pure.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

enum class WireType : std::uint8_t {
    text,
    bytes,
    int32,
    int64,
    boolean,
    number,
    message,
    // Messages that are no objects in JSON.
    strings,  // a list in a message of its own
    time,
    micro_time,
    quantity,
    int_or_string,
    json,
    raw,  // JSON or an object in protobuf
    schema_or_list,
    schema_or_bool,
    schema_or_strings,
};

struct WireField {
    std::uint32_t number = 0;
    std::string name;  // in JSON
    WireType type = WireType::text;
    std::size_t message = 0;  // index of a message
    bool is_list = false;
    bool is_map = false;       // from a text to the type
    bool is_inline = false;    // its fields stand in the object itself
    bool keeps_zero = false;   // "" or 0 is told, not left out
    bool drops_empty = false;  // an object without fields is left out
};

class WireTable {
public:
    /// `json` is what the import tool writes, unpacked.
    static Result<WireTable> read(std::string_view json);

    /// Of "apps/v1" and "Deployment"; null when it is not known.
    [[nodiscard]] const std::size_t* find(std::string_view api_version,
                                          std::string_view kind) const;
    /// In the order of their numbers.
    [[nodiscard]] const std::vector<WireField>& fields(std::size_t message) const {
        return messages_[message];
    }
    [[nodiscard]] const WireField* field(std::size_t message, std::uint32_t number) const;
    /// "k8s.io.api.core.v1.Pod"; null when it is not known.
    [[nodiscard]] const std::size_t* find_message(std::string_view name) const;
    /// Of a JSON schema, which some of the special types hold.
    [[nodiscard]] std::size_t schema_message() const { return schema_; }
    /// The version of Kubernetes that it comes from.
    [[nodiscard]] const std::string& origin() const { return origin_; }

private:
    std::string origin_;
    std::vector<std::vector<WireField>> messages_;
    std::map<std::string, std::size_t, std::less<>> names_;
    std::map<std::string, std::size_t, std::less<>> kinds_;  // "apps/v1/Deployment"
    std::size_t schema_ = 0;
};

/// Objects deeper than this are refused, as they are in JSON.
inline constexpr int body_levels_max = 32;

/// An object with its apiVersion and kind. What no field is known for is skipped, as Kubernetes
/// does.
Result<boost::json::object> read_protobuf(std::string_view bytes, const WireTable& table);

}  // namespace muster::lab
