#include "lab/schemas.h"

#include "base/assert.h"
#include "dialect/gzip.h"

#include <cstddef>
#include <string_view>

// The assembler takes the packed file as it lies in the tree; its path comes from CMakeLists.txt.
// clang-format off
asm(".pushsection .rodata\n"
    ".global muster_lab_schemas_begin\n"
    ".hidden muster_lab_schemas_begin\n"
    ".global muster_lab_schemas_end\n"
    ".hidden muster_lab_schemas_end\n"
    "muster_lab_schemas_begin:\n"
    ".incbin \"" MUSTER_LAB_SCHEMAS_FILE "\"\n"
    "muster_lab_schemas_end:\n"
    ".popsection\n");
// clang-format on

extern "C" {
extern const char muster_lab_schemas_begin[];
extern const char muster_lab_schemas_end[];
}

namespace muster::lab {

namespace {

// Several times what it is, so that a newer Kubernetes fits, and a wrong file does not.
constexpr std::size_t unpacked_bytes_max = std::size_t{2} << 20;

Schemas unpack() {
    const std::string_view packed(muster_lab_schemas_begin, muster_lab_schemas_end);
    const Result<std::string> text = dialect::gunzip(packed, {.bytes_max = unpacked_bytes_max});
    MUSTER_ASSERT(text.has_value());
    Result<Schemas> schemas = Schemas::read(*text);
    MUSTER_ASSERT(schemas.has_value());
    return std::move(*schemas);
}

}  // namespace

const Schemas& built_in_schemas() {
    static const Schemas schemas = unpack();
    return schemas;
}

}  // namespace muster::lab
