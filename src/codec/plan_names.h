// The words that stand for the model's enumerations in every text form; stable, lower case.
#pragma once

#include "model/fact.h"
#include "model/order.h"
#include "model/plan.h"
#include "model/snapshot.h"
#include "model/task.h"

#include <optional>
#include <string_view>
#include <vector>

namespace muster {

std::string_view name_of(ChainLink link);
std::string_view name_of(Cause cause);
std::string_view name_of(Why why);
std::string_view name_of(Wake wake);
std::string_view name_of(TaintEffect effect);
std::string_view name_of(MatchOp op);
std::string_view name_of(HeadRule rule);
std::string_view name_of(NumaPolicy policy);
std::string_view name_of(LeaseState state);
std::string_view name_of(MigMode value);
std::string_view name_of(Link value);
std::string_view name_of(GpuKind value);
std::string_view name_of(TolerationOp value);
std::string_view name_of(TaskState value);
std::string_view name_of(OrderKind value);
std::string_view name_of(ConflictRule value);

/// The value that `name` stands for; none when it stands for nothing.
template <class Enum>
std::optional<Enum> value_of(std::string_view name);

/// All names of the enumeration, for "expected one of …".
template <class Enum>
std::vector<std::string_view> names_of();

}  // namespace muster
