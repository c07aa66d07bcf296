// The fields of records, as codec/fields.h has those of the model.
#pragma once

#include "codec/fields.h"
#include "ledger/record.h"

namespace muster {

void fields(auto& visit, Is<Opened> auto& v) {
    visit("leader", v.leader);
    visit("engine_version", v.engine_version);
    visit("policy", v.policy);
    visit("policy_hash", v.policy_hash);
}
void fields(auto& visit, Is<Cycle> auto& v) {
    visit("facts", v.facts);
    visit("plan", v.plan);
    visit("conflicts", v.conflicts);
    visit("ordered", v.ordered);
}

}  // namespace muster
