// Plans as JSON and back. The bytes are canonical: equal plans give equal bytes, on any build.
// The keys are told in docs/reference/json.md.
#pragma once

#include "base/result.h"
#include "codec/json_writer.h"
#include "model/plan.h"

#include <string>
#include <string_view>

namespace muster {

std::string write_plan(const Plan& plan);
Result<Plan> read_plan(std::string_view json);

/// The same, as values inside of other documents.
void write(JsonWriter& out, const Devices& devices);
/// A member `tasks` of the object that is open.
void write(JsonWriter& out, const std::vector<TaskPlace>& tasks);
void write(JsonWriter& out, const Placement& placement);
void write(JsonWriter& out, const Reason& reason);

}  // namespace muster
