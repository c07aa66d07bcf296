#include "cli/parse_ledger.h"

#include <CLI/CLI.hpp>

namespace muster::cli {

const char* const ledger_show_examples = R"(
What is on record, newest last: who led, what was heard, decided and ordered.
docs/reference/ledger.md tells what an entry is.

  muster ledger show muster.ledger
  muster ledger show muster.ledger --last 5 -o json
  muster ledger show muster.ledger --from 1
  muster ledger show etcd://etcd-0:2379,etcd-1:2379/muster --etcd-cacert ca.crt)";

const char* const ledger_verify_examples = R"(
Proves that nothing was altered, dropped or swapped: the file's pages, the chain of hashes, epochs,
and that every record reads. Exit code: 0 all of it holds, 2 the first entry that does not is told.

  muster ledger verify muster.ledger)";

const char* const ledger_export_examples = R"(
One JSON object per record and line, whole; docs/reference/json.md has the keys.

  muster ledger export muster.ledger | jq -c 'select(.kind == "cycle") | .record.plan.placements[]')";

const char* const replay_examples = R"(
Decides again what is on record, with the policy of that day, and compares every plan byte for byte.
With another policy it is the what-if: the same submissions, run times and failures, decided by
both; docs/guide/replay.md tells how. Exit code: 0 the same, or the what-if was made, 1 a decision
differs, 2 bad input.

  muster replay muster.ledger
  muster replay muster.ledger --policy other.yaml --report what-if.html)";

void add_etcd_options(CLI::App& app, EtcdFiles& files) {
    app.add_option("--etcd-cacert", files.authority,
                   "of a ledger in etcd: whose certificates its servers have")
        ->type_name("PEM");
    app.add_option("--etcd-cert", files.certificate, "the certificate to show to etcd")
        ->type_name("PEM");
    app.add_option("--etcd-key", files.key, "its key")->type_name("PEM");
}

void add_ledger_file(CLI::App& app, std::string& file, EtcdFiles& etcd) {
    app.add_option("file", file, "the ledger: a file, or etcd://HOST:PORT/PREFIX")
        ->type_name("FILE")
        ->required();
    add_etcd_options(app, etcd);
}

void add_record_option(CLI::App& app, std::string& file) {
    app.add_option("--ledger", file, "also put on record what the engine hears and decides")
        ->type_name("FILE");
}

void add_ledger_show_options(CLI::App& app, LedgerShowOptions& options) {
    add_ledger_file(app, options.file, options.etcd);
    auto* from = app.add_option("--from", options.from, "the first entry to show");
    from->type_name("N")->check(CLI::Range(std::uint64_t{1}, UINT64_MAX));
    app.add_option("--last", options.last, "how many of the newest")
        ->type_name("N")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX))
        ->excludes(from);
}

void add_ledger_export_options(CLI::App& app, LedgerExportOptions& options) {
    add_ledger_file(app, options.file, options.etcd);
    app.add_option("-o,--output", options.format, "jsonl: an object per line")
        ->type_name("FORM")
        ->capture_default_str()
        ->check(CLI::IsMember({"jsonl"}));
}

void add_replay_options(CLI::App& app, ReplayOptions& options) {
    add_ledger_file(app, options.file, options.etcd);
    app.add_option("--from", options.from,
                   "begin with the last snapshot at or before this entry; without one at the "
                   "log's beginning")
        ->type_name("N")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{INT64_MAX} - 1));
    auto* policy = app.add_option("--policy", options.policy, "what if this one had decided?");
    policy->type_name("YAML");
    app.add_option("--report", options.report, "also write a page with plots side by side")
        ->type_name("HTML")
        ->needs(policy);
}

}  // namespace muster::cli
