// The words of `muster ledger show`, `verify` and `export`, and of `muster replay`.
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace muster::cli {

extern const char* const ledger_show_examples;
extern const char* const ledger_verify_examples;
extern const char* const ledger_export_examples;
extern const char* const replay_examples;

/// `--ledger` of a simulation.
void add_record_option(CLI::App& app, std::string& file);
void add_ledger_show_options(CLI::App& app, LedgerShowOptions& options);
void add_ledger_file(CLI::App& app, std::string& file, EtcdFiles& etcd);
void add_etcd_options(CLI::App& app, EtcdFiles& files);
void add_ledger_export_options(CLI::App& app, LedgerExportOptions& options);
void add_replay_options(CLI::App& app, ReplayOptions& options);

}  // namespace muster::cli
