#include "cli/plugin.h"

#include <algorithm>
#include <array>

namespace muster::cli {

std::vector<std::string> words_of_plugin(std::string_view program, std::vector<std::string> words) {
    constexpr std::array<std::string_view, 4> asking = {"why", "plan", "queue", "shapes"};
    program.remove_prefix(std::min(program.size(), program.rfind('/') + 1));
    if (program != "kubectl-muster" || words.empty() ||
        std::ranges::find(asking, words.front()) == asking.end()) {
        return words;
    }
    const bool is_told = std::ranges::any_of(words, [](std::string_view word) {
        return word == "--cluster" || word.starts_with("--cluster=") || word.starts_with("--serv");
    });
    if (!is_told) { words.insert(words.begin() + 1, {"--service", std::string(deployed_service)}); }
    return words;
}

}  // namespace muster::cli
