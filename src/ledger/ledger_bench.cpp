// What a record costs: bytes, and a durable cycle.
#include "ledger/ledger.h"

#include "codec/binary.h"
#include "ledger/store_memory.h"
#include "ledger/store_sqlite.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

namespace muster {
namespace {

/// What a cycle of a busy cluster hears: pods that come, run and end.
std::vector<Fact> small_facts(std::size_t count) {
    std::vector<Fact> facts;
    for (std::size_t i = 0; facts.size() < count; ++i) {
        const std::string name = "team-" + std::to_string(i % 40) + "/job-" + std::to_string(i);
        facts.emplace_back(TimeIs{1'700'000'000'000 + static_cast<std::int64_t>(i)});
        facts.emplace_back(TaskBound{.workload = name,
                                     .task = 3,
                                     .node = "node-" + std::to_string(i % 12'500),
                                     .has_devices = true,
                                     .devices = {.gpus = 0x0f}});
        facts.emplace_back(TaskGone{name, 3, true});
        facts.emplace_back(WorkloadGone{name});
    }
    facts.resize(count);
    return facts;
}

Fact submission(std::size_t i) {
    WorkloadSpec workload{.name = "team-a/job-" + std::to_string(i), .queue = "research"};
    GroupSpec group{.name = "worker", .minimum = 8, .count = 8};
    group.task.request = {.milli_cpu = 32'000, .memory = std::int64_t{256} << 30};
    group.task.gpu = {.kind = GpuKind::whole, .count = 8};
    workload.groups = {group};
    return WorkloadSet{workload};
}

Cycle busy_cycle(std::size_t jobs) {
    Cycle cycle;
    cycle.facts = small_facts(jobs * 4);
    for (std::size_t i = 0; i < jobs; ++i) {
        cycle.facts.push_back(submission(i));
        Placement placement{
            .workload = "team-a/job-" + std::to_string(i), .domain = "rack r17", .level = "rack"};
        for (std::uint32_t task = 0; task < 8; ++task) {
            placement.tasks.push_back({.task = task,
                                       .node = "node-" + std::to_string(i * 8 + task),
                                       .devices = {.gpus = 0xff}});
        }
        cycle.plan.placements.push_back(std::move(placement));
    }
    return cycle;
}

void set_rates(benchmark::State& state, std::size_t items, std::size_t bytes) {
    const auto rounds = static_cast<std::int64_t>(state.iterations());
    state.SetItemsProcessed(rounds * static_cast<std::int64_t>(items));
    state.SetBytesProcessed(rounds * static_cast<std::int64_t>(bytes));
    state.counters["bytes_per_item"] = static_cast<double>(bytes) / static_cast<double>(items);
}

void EncodeSmallFacts(benchmark::State& state) {
    const std::vector<Fact> facts = small_facts(10'000);
    std::size_t bytes = 0;
    for (auto _ : state) { benchmark::DoNotOptimize(bytes = encode(facts).size()); }
    set_rates(state, facts.size(), bytes);
}
BENCHMARK(EncodeSmallFacts);

void DecodeSmallFacts(benchmark::State& state) {
    const std::string bytes = encode(small_facts(10'000));
    for (auto _ : state) { benchmark::DoNotOptimize(decode<std::vector<Fact>>(bytes)); }
    set_rates(state, 10'000, bytes.size());
}
BENCHMARK(DecodeSmallFacts);

void EncodeSubmissions(benchmark::State& state) {
    std::vector<Fact> facts;
    for (std::size_t i = 0; i < 1'000; ++i) { facts.push_back(submission(i)); }
    std::size_t bytes = 0;
    for (auto _ : state) { benchmark::DoNotOptimize(bytes = encode(facts).size()); }
    set_rates(state, facts.size(), bytes);
}
BENCHMARK(EncodeSubmissions);

void ChainHash(benchmark::State& state) {
    const std::string payload(static_cast<std::size_t>(state.range(0)), 'x');
    for (auto _ : state) { benchmark::DoNotOptimize(chain_hash({}, {}, payload)); }
    set_rates(state, 1, payload.size());
}
BENCHMARK(ChainHash)->Arg(100)->Arg(1'000)->Arg(1'000'000);

void append_cycles(benchmark::State& state, std::unique_ptr<Store> store) {
    auto ledger = Ledger::open(std::move(store), {.leader = "bench", .engine_version = "0"});
    const Cycle cycle = busy_cycle(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        const auto done = ledger->append(cycle);
        if (!done) { state.SkipWithError(done.error().message.c_str()); }
    }
    set_rates(state, 1, encode_record(cycle).size());
}

void AppendToMemory(benchmark::State& state) {
    MemoryLog log;
    append_cycles(state, open_memory_store(log));
}
BENCHMARK(AppendToMemory)->Arg(0)->Arg(1)->Arg(10)->Arg(100)->Iterations(2'000);

/// On the disk of the temporary folder, synced.
void AppendToSqlite(benchmark::State& state) {
    const auto folder = std::filesystem::temp_directory_path() / "muster_ledger_bench";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    append_cycles(state, *open_sqlite_store(folder / "log"));
    std::filesystem::remove_all(folder);
}
BENCHMARK(AppendToSqlite)->Arg(0)->Arg(1)->Arg(10)->Arg(100)->Iterations(300)->UseRealTime();

void ReadAndProve(benchmark::State& state) {
    MemoryLog log;
    auto ledger = Ledger::open(open_memory_store(log), {.leader = "bench", .engine_version = "0"});
    const Cycle cycle = busy_cycle(10);
    for (int i = 0; i < 200; ++i) { (void)ledger->append(cycle); }
    const auto store = open_memory_store(log);
    for (auto _ : state) {
        auto cursor = Cursor::at(*store, 1);
        while (cursor->next()->has_value()) {}
    }
    set_rates(state, 200, 200 * encode_record(cycle).size());
}
BENCHMARK(ReadAndProve);

}  // namespace
}  // namespace muster
