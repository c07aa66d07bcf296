// One function per subcommand. Each returns the exit code, or an error that ends as code 2.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "cli/run.h"

namespace muster::cli {

Result<int> run_verb(const PlanOptions& options, Terminal& terminal);
Result<int> run_verb(const WhyOptions& options, Terminal& terminal);
Result<int> run_verb(const ShapesOptions& options, Terminal& terminal);
Result<int> run_verb(const QueueOptions& options, Terminal& terminal);
Result<int> run_verb(const LintOptions& options, Terminal& terminal);
Result<int> run_verb(const ScenarioOptions& options, Terminal& terminal);
Result<int> run_verb(const SimPlacementOptions& options, Terminal& terminal);
Result<int> run_verb(const SimRandomOptions& options, Terminal& terminal);
Result<int> run_verb(const SimJobsOptions& options, Terminal& terminal);
Result<int> run_verb(const LedgerShowOptions& options, Terminal& terminal);
Result<int> run_verb(const LedgerVerifyOptions& options, Terminal& terminal);
Result<int> run_verb(const LedgerExportOptions& options, Terminal& terminal);
Result<int> run_verb(const ReplayOptions& options, Terminal& terminal);
Result<int> run_verb(const DemoOptions& options, Terminal& terminal);
Result<int> run_verb(const LabVerbOptions& options, Terminal& terminal);
Result<int> run_verb(const LabOrderOptions& options, Terminal& terminal);
Result<int> run_verb(const LabDemoOptions& options, Terminal& terminal);
Result<int> run_verb(const SchedulerVerbOptions& options, Terminal& terminal);
Result<int> run_verb(const VersionOptions& options, Terminal& terminal);
Result<int> run_verb(const CompletionOptions& options, Terminal& terminal);

}  // namespace muster::cli
