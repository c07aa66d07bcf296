// A bar on the error stream while something takes its time; nothing where that is no terminal.
#pragma once

#include "cli/run.h"

#include <cstddef>
#include <functional>
#include <string>

namespace muster::cli {

class ProgressBar {
public:
    ProgressBar(Terminal& terminal, std::string label);
    ~ProgressBar();  // the line is wiped
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(std::size_t done, std::size_t all);

private:
    Terminal* terminal_;
    std::string label_;
    std::size_t shown_percent_ = 101;
};

}  // namespace muster::cli
