// What it costs to tell a thousand watches of each pod that is made.
#include "lab/api.h"
#include "lab/schemas.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <vector>

namespace muster::lab {
namespace {

constexpr std::size_t watches_count = 1'000;
constexpr std::size_t pods_count = 10'000;

double resident_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS")) { return std::stod(line.substr(6)) / 1024; }
    }
    return 0;
}

net::HttpRequest request(std::string method, std::string target, std::string body,
                         std::string accept) {
    return {.method = std::move(method),
            .target = std::move(target),
            .headers = {{"Accept", std::move(accept)}, {"Content-Type", "application/json"}},
            .body = std::move(body),
            .client_name = "bench"};
}

/// Each watch is drawn after every hundredth pod, as a busy connection would do it.
void tell(benchmark::State& state, const std::string& accept) {
    std::uint32_t dice = 1;
    std::size_t events = 0;
    std::size_t bytes = 0;
    for (auto _ : state) {
        auto store = ObjectStore::open(nullptr);
        auto api = Api::open(std::move(*store), built_in_schemas(),
                             {.now = [] { return 1'790'000'000'000; },
                              .dice = [&] { return dice = dice * 1'664'525U + 1'013'904'223U; },
                              .after = [](std::int64_t, const std::function<void()>&) {}});
        if (!api) { return state.SkipWithError("the API does not open"); }
        const std::string pods = "/api/v1/namespaces/default/pods";
        std::vector<std::unique_ptr<net::HttpBody>> bodies;
        for (std::size_t i = 0; i < watches_count; ++i) {
            bodies.push_back((*api)->handle(request("GET", pods + "?watch=1", "", accept)).stream);
        }
        for (std::size_t i = 0; i < pods_count; ++i) {
            (*api)->handle(request("POST", pods,
                                   fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":)"
                                               R"({{"name":"p-{}"}},"spec":{{"containers":)"
                                               R"([{{"name":"c","image":"busybox"}}]}}}})",
                                               i),
                                   ""));
            if (i % 100 != 99) { continue; }
            for (const auto& body : bodies) {
                for (auto piece = body->next(); piece && !piece->empty(); piece = body->next()) {
                    bytes += piece->size();
                    events +=
                        static_cast<std::size_t>(std::count(piece->begin(), piece->end(), '\n'));
                }
            }
        }
        state.counters["resident_mb"] = resident_mb();
    }
    state.counters["events_per_s"] =
        benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
    state.counters["gb"] = static_cast<double>(bytes) / 1e9;
}

BENCHMARK_CAPTURE(tell, objects, "application/json")->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(tell, tables, "application/json;as=Table;v=v1;g=meta.k8s.io")
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace muster::lab
