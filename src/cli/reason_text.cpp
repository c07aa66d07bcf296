#include "cli/reason_text.h"

#include "cli/words.h"

#include <fmt/format.h>

namespace muster::cli {

std::string reason_text(const Reason& reason, const Paint& paint) {
    std::string out;
    if (!reason.closest.empty() && reason.why == Why::no_domain) {
        out += fmt::format("  closest   {}: room for {} of {}\n", reason.closest, reason.have,
                           plural(reason.needed, "task"));
    } else if (!reason.closest.empty()) {
        out += fmt::format("  closest   {} has the most room\n", reason.closest);
    }
    if (!reason.causes.empty()) {
        out += fmt::format("  of {}, a task finds\n", plural(reason.nodes, "node"));
        Table table({{"", Align::right}, {""}});
        for (const CauseCount& count : reason.causes) {
            table.add({with_commas(count.nodes), std::string(words_of(count.cause))});
        }
        out += table.text(paint, "    ");
    }
    std::string wakes;
    for (const Wake wake : reason.wakes) {
        wakes += (wakes.empty() ? "" : "; or ") + std::string(words_of(wake));
    }
    if (!wakes.empty()) { out += fmt::format("  is looked at again when {}\n", wakes); }
    return out;
}

}  // namespace muster::cli
