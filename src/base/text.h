// Strict text to number, and the few string helpers that every parser needs.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster {

/// A whole decimal number, nothing around it; overflow and signs on unsigned ranges are errors.
Result<std::int64_t> parse_int(std::string_view text);
/// The same, and within [low, high]; the message names `what`.
Result<std::int64_t> parse_int(std::string_view what, std::string_view text, std::int64_t low,
                               std::int64_t high);

/// Kubernetes quantity ("500m", "2", "1.5Gi", "1e3") in thousandths of a unit, exact or an error.
Result<std::int64_t> parse_quantity_milli(std::string_view text);
/// Kubernetes quantity in whole units, rounded up as Kubernetes does.
Result<std::int64_t> parse_quantity(std::string_view text);

std::string_view trim(std::string_view text);
/// Split at every `separator`; empty fields are kept.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Split at runs of blanks and tabs; no empty fields.
std::vector<std::string_view> words(std::string_view text);

}  // namespace muster
