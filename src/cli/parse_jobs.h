// The words of `muster sim queue` and `muster sim jobs`.
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace muster::cli {

extern const char* const queue_examples;
extern const char* const jobs_examples;

void add_queue_options(CLI::App& app, SimJobsOptions& options);
void add_jobs_options(CLI::App& app, SimJobsOptions& options);

}  // namespace muster::cli
