#include "cli/plugin.h"
#include "cli/run.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

int main(int count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + count);
    if (count > 0) { words = muster::cli::words_of_plugin(arguments[0], std::move(words)); }
    const char* no_color = std::getenv("NO_COLOR");
    const bool has_colour =
        isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
    const char* data = std::getenv("MUSTER_DATA");
    muster::cli::Terminal terminal{.out = std::cout,
                                   .err = std::cerr,
                                   .has_colour = has_colour,
                                   .data_folder = data == nullptr ? "" : data,
                                   .is_err_terminal = isatty(STDERR_FILENO) == 1};
    return muster::cli::run(words, terminal);
}
