// Values of the model as canonical bytes and back, by their fields: what the ledger's records are
// made of. Decoding takes any bytes: what no encoding gives is refused with its offset.
#pragma once

#include "codec/bytes.h"
#include "codec/fields.h"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace muster {

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

class Encoder {
public:
    template <class T>
    void operator()(const char* /*key*/, const T& value) {
        put(value);
    }
    template <class T>
    void operator()(const char* /*key*/, GpuBits<T> gpus) {
        out_.number(gpus.mask);
    }

    template <class T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
            out_.byte(static_cast<std::uint8_t>(value));
        } else if constexpr (std::is_signed_v<T>) {
            out_.signed_number(value);
        } else if constexpr (std::is_unsigned_v<T>) {
            out_.number(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
            out_.text(value);
        } else if constexpr (is_list<T>) {
            out_.number(value.size());
            for (const auto& item : value) { put(item); }
        } else if constexpr (is_variant<T>) {
            out_.byte(static_cast<std::uint8_t>(value.index()));
            std::visit([this](const auto& one) { this->put(one); }, value);
        } else {
            fields(*this, value);
        }
    }

    ByteWriter& out() { return out_; }

private:
    ByteWriter out_;
};

class Decoder {
public:
    explicit Decoder(std::string_view bytes) : in_(bytes) {}

    template <class T>
    void operator()(const char* /*key*/, T& value) {
        get(value);
    }
    template <class T>
    void operator()(const char* /*key*/, GpuBits<T> gpus) {
        gpus.mask = in_.number();
    }

    template <class T>
    void get(T& value) {
        using Limits = std::numeric_limits<T>;
        if constexpr (std::is_same_v<T, bool>) {
            value = get_byte(1, "a flag is neither 0 nor 1") != 0;
        } else if constexpr (std::is_enum_v<T>) {
            const auto last = static_cast<std::uint8_t>(last_of<T>);
            value = static_cast<T>(get_byte(last, "an enumerator is unknown"));
        } else if constexpr (std::is_signed_v<T>) {
            const std::int64_t number = in_.signed_number();
            if (number < Limits::min() || number > Limits::max()) {
                return in_.refuse("a number is out of range");
            }
            value = static_cast<T>(number);
        } else if constexpr (std::is_unsigned_v<T>) {
            value = static_cast<T>(in_.number(Limits::max()));
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = in_.text();
        } else if constexpr (is_list<T>) {
            get_list(value);
        } else if constexpr (is_variant<T>) {
            get_variant(value, std::make_index_sequence<std::variant_size_v<T>>());
        } else {
            fields(*this, value);
        }
    }

    ByteReader& in() { return in_; }

private:
    std::uint8_t get_byte(std::uint8_t last, std::string_view fault) {
        const std::uint8_t byte = in_.byte();
        if (byte <= last) { return byte; }
        in_.refuse(fault);
        return 0;
    }

    template <class T>
    void get_list(std::vector<T>& list) {
        constexpr std::size_t trusted = 64;  // a count alone gets no memory
        const std::size_t count = in_.length();
        list.reserve(std::min(count, trusted));
        for (std::size_t i = 0; i < count && !in_.has_failed(); ++i) { get(list.emplace_back()); }
    }

    template <class T, std::size_t... I>
    void get_variant(T& value, std::index_sequence<I...> /*alternatives*/) {
        const std::uint8_t index = get_byte(sizeof...(I) - 1, "a variant is unknown");
        ((I == index ? get(value.template emplace<I>()) : void()), ...);
    }

    ByteReader in_;
};

template <class T>
std::string encode(const T& value) {
    Encoder encoder;
    encoder.put(value);
    return encoder.out().take();
}

template <class T>
Result<T> decode(std::string_view bytes) {
    T value;
    Decoder decoder(bytes);
    decoder.get(value);
    MUSTER_CHECK(decoder.in().end());
    return value;
}

}  // namespace muster
