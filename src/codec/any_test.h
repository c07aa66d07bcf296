// Tests only: any value of the model, filled by its fields from a seed.
#pragma once

#include "codec/binary.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace muster {

class AnyValue {
public:
    explicit AnyValue(std::uint64_t seed, std::size_t items_max = 3)
        : state_(seed),
          items_max_(items_max) {}

    template <class T>
    void operator()(const char* /*key*/, T& value) {
        fill(value);
    }
    template <class T>
    void operator()(const char* /*key*/, GpuBits<T> gpus) {
        gpus.mask = next();
    }

    template <class T>
    void fill(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            value = below(2) == 1;
        } else if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(below(static_cast<std::uint64_t>(last_of<T>) + 1));
        } else if constexpr (std::is_integral_v<T>) {
            // As many small numbers as large ones: each length of the encoding is met.
            value = static_cast<T>(next() >> below(64));
        } else if constexpr (std::is_same_v<T, std::string>) {
            value.resize(below(9));
            for (char& byte : value) { byte = static_cast<char>(next()); }
        } else if constexpr (is_list<T>) {
            value.resize(below(items_max_ + 1));
            for (auto& item : value) { fill(item); }
        } else if constexpr (is_variant<T>) {
            fill_variant(value, std::make_index_sequence<std::variant_size_v<T>>());
        } else {
            fields(*this, value);
        }
    }

    std::uint64_t below(std::uint64_t bound) { return next() % bound; }

    /// SplitMix64.
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

private:
    template <class T, std::size_t... I>
    void fill_variant(T& value, std::index_sequence<I...> /*alternatives*/) {
        const std::uint64_t index = below(sizeof...(I));
        ((I == index ? fill(value.template emplace<I>()) : void()), ...);
    }

    std::uint64_t state_;
    std::size_t items_max_;
};

template <class T>
T any_value(std::uint64_t seed) {
    T value;
    AnyValue(seed).fill(value);
    return value;
}

}  // namespace muster
