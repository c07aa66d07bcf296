// Typed indices into dense vectors: a NodeId will not go where a QueueId is wanted.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace muster {

template <class Tag>
struct Id {
    std::uint32_t value = UINT32_MAX;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

    [[nodiscard]] constexpr bool is_valid() const { return value != UINT32_MAX; }
    constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace muster

template <class Tag>
struct std::hash<muster::Id<Tag>> {
    std::size_t operator()(muster::Id<Tag> id) const noexcept { return id.value; }
};
