// The decision about one workload, link by link.
#pragma once

#include "codec/json_writer.h"
#include "engine/world.h"
#include "model/plan.h"
#include "model/workload.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

enum class Verdict : std::uint8_t { passed, stopped, not_reached };

/// One link of the chain and what it decided.
struct LinkDecision {
    ChainLink link = ChainLink::submit;
    Verdict verdict = Verdict::not_reached;
    std::string text;
};

std::string_view name_of(Verdict verdict);

/// All five; what stands behind the link of `reason` was not reached.
std::vector<LinkDecision> chain_of(const World& world, const WorkloadSpec& spec,
                                   const std::optional<Reason>& reason);
/// Of a workload that never reached the engine.
std::vector<LinkDecision> refused_chain(std::string_view text);
/// A value of the document that is open.
void write(JsonWriter& out, const std::vector<LinkDecision>& chain);

}  // namespace muster::cli
