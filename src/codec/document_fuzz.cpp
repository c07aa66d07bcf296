// Any bytes: no crash, and every value that was read can be named by its place.
#include "codec/document.h"

#include "base/assert.h"
#include "codec/field.h"

#include <cstddef>
#include <cstdint>

namespace {

void walk(const muster::Field& field, int depth) {
    (void)field.text();
    (void)field.integer(-5, 5);
    (void)field.quantity(1000);
    (void)field.boolean();
    if (depth == 0) { return; }
    if (field.is_object()) {
        for (const auto& [key, member] : field.members()) { walk(member, depth - 1); }
    }
    if (field.is_list()) {
        for (const muster::Field& item : field.items()) { walk(item, depth - 1); }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    muster::Documents documents;
    const muster::SourceText source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)};
    if (const auto added = documents.add(source); !added) {
        MUSTER_ASSERT(added.error().message.starts_with("fuzz"));
        MUSTER_ASSERT(documents.all().empty());
        return 0;
    }
    constexpr int depth_max = 6;
    for (const muster::Document& document : documents.all()) {
        muster::Faults faults;
        walk(muster::Field(document, faults), depth_max);
        for (const muster::Fault& fault : faults.all()) {
            MUSTER_ASSERT(fault.place.file == "fuzz");
            MUSTER_ASSERT(!fault.text.empty());
        }
    }
    return 0;
}
