#include "cli/verbs.h"

namespace muster::cli {

Result<int> run_verb(const SimPlacementOptions&, Terminal&) {
    return fail(Code::unavailable, "sim placement is not built yet");
}

Result<int> run_verb(const SimRandomOptions&, Terminal&) {
    return fail(Code::unavailable, "sim random is not built yet");
}

}  // namespace muster::cli
