// Bounds of what is read from text. Over one of them the text is refused by name, never cut.
#pragma once

#include <cstddef>

namespace muster {

inline constexpr std::size_t text_bytes_max = std::size_t{1} << 31;
inline constexpr std::size_t nesting_max = 100;
inline constexpr std::size_t alias_values_max = 1'000'000;  // values that YAML aliases copy in all
inline constexpr std::size_t alias_bytes_max = std::size_t{64} << 20;
inline constexpr std::size_t list_nesting_max = 4;     // lists of lists of objects
inline constexpr std::size_t mix_entries_max = 1'000;  // of a policy file
inline constexpr std::size_t faults_max = 100;         // kept; the first is what a person reads

}  // namespace muster
