// What a durable cycle costs in etcd and in SQLite: the same entries, both synced, one disk. Needs
// MUSTER_KUBE_DIR; cycles of 0, 1, 10 and 100 gangs of 8 are told as bytes of their records.
#include "etcd/http_gateway.h"
#include "etcd/real_etcd_test.h"
#include "etcd/store_etcd.h"
#include "ledger/ledger.h"
#include "ledger/store_sqlite.h"

#include <benchmark/benchmark.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

namespace muster::etcd {
namespace {

Cycle cycle_of(std::size_t gangs) {
    Cycle cycle;
    for (std::size_t i = 0; i < gangs; ++i) {
        const std::string name = "team-a/job-" + std::to_string(i);
        cycle.facts.emplace_back(TimeIs{1'700'000'000'000 + static_cast<std::int64_t>(i)});
        cycle.facts.emplace_back(WorkloadGone{name});
        Placement placement{.workload = name, .domain = "rack r17", .level = "rack"};
        for (std::uint32_t task = 0; task < 8; ++task) {
            placement.tasks.push_back({.task = task,
                                       .node = "node-" + std::to_string(i * 8 + task),
                                       .devices = {.gpus = 0xff}});
        }
        cycle.plan.placements.push_back(std::move(placement));
    }
    return cycle;
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void append_cycles(benchmark::State& state, std::unique_ptr<Store> store) {
    auto ledger = Ledger::open(std::move(store), {.leader = "bench", .engine_version = "0"});
    if (!ledger) { return state.SkipWithError(ledger.error().message.c_str()); }
    const Cycle cycle = cycle_of(static_cast<std::size_t>(state.range(0)));
    const double begun = cpu_seconds();
    for (auto _ : state) {
        const auto done = ledger->append(cycle);
        if (!done) { state.SkipWithError(done.error().message.c_str()); }
    }
    const auto rounds = static_cast<double>(state.iterations());
    state.counters["appends_per_second"] = benchmark::Counter(rounds, benchmark::Counter::kIsRate);
    state.counters["own_cpu_us"] = (cpu_seconds() - begun) * 1e6 / rounds;
    state.counters["record_bytes"] = static_cast<double>(encode_record(cycle).size());
}

void AppendToEtcd(benchmark::State& state) {
    if (!RealEtcd::program()) { return state.SkipWithError("MUSTER_KUBE_DIR has no etcd"); }
    static const auto etcd = RealEtcd::start(true);
    if (etcd == nullptr) { return state.SkipWithError("etcd did not start"); }
    const Address address = etcd->address("/bench/" + std::to_string(state.range(0)));
    append_cycles(state,
                  open_etcd_store(connect_gateway({.address = address}),
                                  {.name = "etcd", .prefix = address.prefix, .writer = "b"}));
}
BENCHMARK(AppendToEtcd)
    ->Arg(0)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Iterations(300)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void AppendToSqliteBeside(benchmark::State& state) {
    const auto folder = std::filesystem::temp_directory_path() / "muster_etcd_bench";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    append_cycles(state, *open_sqlite_store(folder / "log"));
    std::filesystem::remove_all(folder);
}
BENCHMARK(AppendToSqliteBeside)
    ->Arg(0)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Iterations(300)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::etcd
