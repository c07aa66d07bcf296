#include "cli/verbs.h"

namespace muster::cli {

Result<int> run_verb(const LintOptions&, Terminal&) {
    return fail(Code::unavailable, "lint is not built yet");
}

}  // namespace muster::cli
