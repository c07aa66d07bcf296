// Any bytes: no crash, and what was read means the same when it is written and read again.
#include "lab/selector.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>

namespace {

std::string written(const muster::lab::Requirement& requirement) {
    using enum muster::lab::Requirement::Op;
    std::string values;
    for (const std::string& value : requirement.values) {
        values += (values.empty() ? "(" : ",") + value;
    }
    switch (requirement.op) {
        case in: return requirement.key + " in " + values + (values == "(" ? ",)" : ")");
        case not_in: return requirement.key + " notin " + values + (values == "(" ? ",)" : ")");
        case exists: return requirement.key;
        case not_exists: return "!" + requirement.key;
        case greater: return requirement.key + ">" + requirement.values[0];
        case less: return requirement.key + "<" + requirement.values[0];
    }
    return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    if (const auto selector = muster::lab::parse_label_selector(text)) {
        std::string again;
        for (const muster::lab::Requirement& one : *selector) {
            again += (again.empty() ? "" : ",") + written(one);
        }
        MUSTER_ASSERT(muster::lab::parse_label_selector(again) == *selector);
        MUSTER_ASSERT(muster::lab::matches_labels(*selector, nullptr) || !selector->empty());
    }
    if (const auto selector = muster::lab::parse_field_selector(text)) {
        for (const muster::lab::Requirement& one : *selector) {
            MUSTER_ASSERT(one.values.size() == 1);
        }
    }
    return 0;
}
