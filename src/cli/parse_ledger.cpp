#include "cli/parse_ledger.h"

#include <CLI/CLI.hpp>

namespace muster::cli {

const char* const ledger_show_examples = R"(
What is on record, newest last: who led, what was heard, decided and ordered.
docs/reference/ledger.md tells what an entry is.

  muster ledger show muster.ledger
  muster ledger show muster.ledger --last 5 -o json
  muster ledger show muster.ledger --from 1)";

const char* const ledger_verify_examples = R"(
Proves that nothing was altered, dropped or swapped: the file's pages, the chain of hashes, epochs,
and that every record reads. Exit code: 0 all of it holds, 2 the first entry that does not is told.

  muster ledger verify muster.ledger)";

const char* const ledger_export_examples = R"(
One JSON object per record and line, whole; docs/reference/json.md has the keys.

  muster ledger export muster.ledger | jq -c 'select(.kind == "cycle") | .record.plan.placements[]')";

void add_ledger_file(CLI::App& app, std::string& file) {
    app.add_option("file", file, "the ledger")->type_name("FILE")->required();
}

void add_ledger_show_options(CLI::App& app, LedgerShowOptions& options) {
    add_ledger_file(app, options.file);
    auto* from = app.add_option("--from", options.from, "the first entry to show");
    from->type_name("N")->check(CLI::Range(std::uint64_t{1}, UINT64_MAX));
    app.add_option("--last", options.last, "how many of the newest")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX))
        ->excludes(from);
}

void add_ledger_export_options(CLI::App& app, LedgerExportOptions& options) {
    add_ledger_file(app, options.file);
    app.add_option("-o,--output", options.format, "jsonl: an object per line")
        ->type_name("FORM")
        ->capture_default_str()
        ->check(CLI::IsMember({"jsonl"}));
}

}  // namespace muster::cli
