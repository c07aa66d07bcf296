// Label selectors, taints and tolerations, compiled to symbols. Pure; exact Kubernetes semantics.
#pragma once

#include "engine/symbols.h"
#include "model/task.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

using LabelSet = std::vector<std::pair<Symbol, Symbol>>;  // sorted by key

/// Labels in one piece of text: hundreds of thousands of pods have some that nobody asks for.
std::string pack_labels(std::span<const Label> labels);
std::vector<Label> unpack_labels(std::string_view packed);

LabelSet compile_labels(std::span<const Label> labels, Symbols& symbols);
/// The same of packed ones without interning: keys that no selector names are left out, values that
/// none names all become one that equals no other.
LabelSet known_labels(std::string_view packed, const Symbols& symbols);
/// An invalid Symbol when the key is not there.
Symbol find_label(const LabelSet& labels, Symbol key);

struct Match {
    Symbol key;
    MatchOp op = MatchOp::in;
    std::vector<Symbol> values;
    std::int64_t bound = 0;  // greater, less
};

std::vector<Match> compile_matches(std::span<const LabelMatch> matches, Symbols& symbols);
bool holds(const Match& match, const LabelSet& labels, const Symbols& symbols);
bool all_hold(std::span<const Match> matches, const LabelSet& labels, const Symbols& symbols);

/// True when every taint that keeps tasks away is tolerated; "prefer" taints never do.
bool is_tolerated(std::span<const Taint> taints, std::span<const Toleration> tolerations);
/// How many "prefer no schedule" taints are not tolerated.
int disliked_taints(std::span<const Taint> taints, std::span<const Toleration> tolerations);

}  // namespace muster
