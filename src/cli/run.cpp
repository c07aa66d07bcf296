#include "cli/run.h"

#include "cli/parse.h"
#include "cli/table.h"
#include "cli/verbs.h"

#include <variant>

namespace muster::cli {

int run(std::span<const std::string> words, Terminal& terminal) {
    const auto parsed = parse(words);
    if (const auto* stop = std::get_if<Stop>(&parsed)) {
        (stop->code == 0 ? terminal.out : terminal.err) << stop->text;
        return stop->code;
    }
    const auto result = std::visit([&](const auto& options) { return run_verb(options, terminal); },
                                   std::get<Options>(parsed));
    if (!result) {
        const Paint paint(terminal.has_colour);
        terminal.err << paint(Ink::red, "muster: ") << result.error().message << '\n';
        return exit_bad_input;
    }
    return *result;
}

}  // namespace muster::cli
