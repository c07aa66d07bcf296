// The whole program as a function: words in, text and an exit code out.
//
// Exit codes: 0 all is well, or the job starts; 1 the job waits, or something is not as it should
// be; 2 the input or the command line is wrong, and nothing was done.
#pragma once

#include <ostream>
#include <span>
#include <string>

namespace muster::cli {

struct Terminal {
    std::ostream& out;
    std::ostream& err;
    bool has_colour = false;
    std::string data_folder;  // MUSTER_DATA; empty = no traces
    bool is_err_terminal = false;
};

inline constexpr int exit_good = 0;
inline constexpr int exit_waits = 1;
inline constexpr int exit_bad_input = 2;

/// `words` without the program's name.
int run(std::span<const std::string> words, Terminal& terminal);

}  // namespace muster::cli
