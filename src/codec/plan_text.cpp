#include "codec/plan_text.h"

#include "codec/fields_json.h"

namespace muster {

void write(JsonWriter& out, const Devices& devices) { write_json(out, devices); }

void write(JsonWriter& out, const std::vector<TaskPlace>& tasks) {
    write_json(out.key("tasks"), tasks);
}

void write(JsonWriter& out, const Placement& placement) { write_json(out, placement); }

void write(JsonWriter& out, const Reason& reason) { write_json(out, reason); }

std::string write_plan(const Plan& plan) {
    JsonWriter out;
    write_json(out, plan);
    return out.take();
}

}  // namespace muster
