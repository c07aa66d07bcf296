// The words of `muster lab …`.
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace muster::cli {

extern const char* const lab_up_examples;

void add_lab_options(CLI::App& app, LabVerbOptions& options);

}  // namespace muster::cli
