#include "lab/schemas.h"

#include "base/assert.h"
#include "dialect/gzip.h"

#include <cstddef>
#include <string_view>

// The assembler takes the packed files as they lie in the tree; the paths come from CMakeLists.txt.
// clang-format off
#define MUSTER_LAB_FILE(name, path)                                                                \
    asm(".pushsection .rodata\n"                                                                   \
        ".global muster_lab_" name "_begin\n"                                                      \
        ".hidden muster_lab_" name "_begin\n"                                                      \
        ".global muster_lab_" name "_end\n"                                                        \
        ".hidden muster_lab_" name "_end\n"                                                        \
        "muster_lab_" name "_begin:\n"                                                             \
        ".incbin \"" path "\"\n"                                                                   \
        "muster_lab_" name "_end:\n"                                                               \
        ".popsection\n")
// clang-format on

MUSTER_LAB_FILE("schemas", MUSTER_LAB_SCHEMAS_FILE);
MUSTER_LAB_FILE("protobuf", MUSTER_LAB_PROTOBUF_FILE);

extern "C" {
extern const char muster_lab_schemas_begin[];
extern const char muster_lab_schemas_end[];
extern const char muster_lab_protobuf_begin[];
extern const char muster_lab_protobuf_end[];
}

namespace muster::lab {

namespace {

// Several times what it is, so that a newer Kubernetes fits, and a wrong file does not.
constexpr std::size_t unpacked_bytes_max = std::size_t{2} << 20;

template <class T>
T unpack(std::string_view packed) {
    const Result<std::string> text = dialect::gunzip(packed, {.bytes_max = unpacked_bytes_max});
    MUSTER_ASSERT(text.has_value());
    Result<T> read = T::read(*text);
    MUSTER_ASSERT(read.has_value());
    return std::move(*read);
}

}  // namespace

const Schemas& built_in_schemas() {
    static const Schemas schemas =
        unpack<Schemas>({muster_lab_schemas_begin, muster_lab_schemas_end});
    return schemas;
}

const WireTable& built_in_wire_table() {
    static const WireTable table =
        unpack<WireTable>({muster_lab_protobuf_begin, muster_lab_protobuf_end});
    return table;
}

}  // namespace muster::lab
