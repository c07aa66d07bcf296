// Any bytes as fieldsV1: no crash, and what was read is what is written.
#include "lab/field_set.h"

#include "base/assert.h"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace json = boost::json;
    using muster::lab::FieldSet;

    const std::string_view text(reinterpret_cast<const char*>(data), size);
    boost::system::error_code wrong;
    const json::value value = json::parse(text, wrong);
    if (wrong) { return 0; }

    const muster::Result<FieldSet> set = FieldSet::parse(value);
    if (!set) { return 0; }
    const muster::Result<FieldSet> again = FieldSet::parse(set->write());
    MUSTER_ASSERT(again.has_value());
    MUSTER_ASSERT(*again == *set);
    MUSTER_ASSERT(set->subtract(*set).is_empty());
    MUSTER_ASSERT(set->unite(*set) == *set);
    MUSTER_ASSERT(set->is_empty() == set->paths().empty());
    return 0;
}
