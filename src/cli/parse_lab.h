// The words of `muster lab …`.
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace muster::cli {

extern const char* const lab_up_examples;

extern const char* const lab_fail_examples;
extern const char* const lab_heal_examples;
extern const char* const lab_spot_examples;
extern const char* const lab_pool_examples;
extern const char* const lab_demo_examples;

void add_lab_order_options(CLI::App& app, LabOrderOptions& options);
void add_lab_demo_options(CLI::App& app, LabDemoOptions& options);
void add_lab_options(CLI::App& app, LabVerbOptions& options);

}  // namespace muster::cli
