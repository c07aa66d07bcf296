// The options that name a running cluster.
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace muster::cli {

void add_live_options(CLI::App& app, LiveOptions& options);

extern const char* const scheduler_examples;
/// --server and what goes with it.
void add_remote_options(CLI::App& app, RemoteOptions& options);
void add_scheduler_options(CLI::App& app, SchedulerVerbOptions& options);

}  // namespace muster::cli
