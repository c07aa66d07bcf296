// The classic slips in what people submit, found before a scheduler sees it. Pure.
#pragma once

#include "base/result.h"
#include "codec/document.h"
#include "dialect/kubernetes.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::dialect {

enum class Severity : std::uint8_t { error, warning };

struct Finding {
    Severity severity = Severity::warning;
    Place place;
    std::string text;    // what is wrong
    std::string advice;  // what to do about it; empty when the text says it

    bool operator==(const Finding&) const = default;
};

/// Findings in the order of the documents. With a cluster also: unknown queues and levels, gangs
/// that no node shape can hold, shares that no driver enforces. An error only where the text is no
/// document at all.
Result<std::vector<Finding>> lint(std::span<const SourceText> jobs,
                                  const ClusterInput* cluster = nullptr);

}  // namespace muster::dialect
