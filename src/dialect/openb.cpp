#include "dialect/openb.h"

#include "base/text.h"
#include "dialect/csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::dialect {

namespace {

constexpr std::int64_t milli_cpu_max = 1'000'000'000;
constexpr std::int64_t memory_mib_max = std::int64_t{1} << 30;
constexpr std::int64_t gpu_count_max = 64;
constexpr std::int64_t gpu_milli_max = 1000;
constexpr std::int64_t seconds_max = std::int64_t{1} << 40;
constexpr std::size_t rows_max = 10'000'000;

enum NodeColumn : std::size_t { node_name, node_cpu, node_memory, node_gpus, node_model };
enum PodColumn : std::size_t {
    pod_name,
    pod_cpu,
    pod_memory,
    pod_gpus,
    pod_milli,
    pod_models,
    pod_qos,
    pod_created = 8,
    pod_deleted,
    pod_scheduled,
};

Result<std::string> read_name(const CsvReader& csv, std::size_t column) {
    if (csv.field(column).empty()) {
        return fail(Code::invalid,
                    fmt::format("{}: found nothing; expected a name", csv.place(column)));
    }
    return std::string(csv.field(column));
}

Result<OpenbNode> read_node(const CsvReader& csv) {
    MUSTER_TRY(name, read_name(csv, node_name));
    MUSTER_TRY(milli_cpu, csv.number(node_cpu, 0, milli_cpu_max));
    MUSTER_TRY(memory_mib, csv.number(node_memory, 0, memory_mib_max));
    MUSTER_TRY(gpu_count, csv.number(node_gpus, 0, gpu_count_max));
    if ((gpu_count > 0) == csv.field(node_model).empty()) {
        return fail(Code::invalid,
                    fmt::format("{}: found '{:.60}' beside {} GPUs; expected a model with GPUs and "
                                "none without",
                                csv.place(node_model), csv.field(node_model), gpu_count));
    }
    return OpenbNode{.name = std::move(name),
                     .milli_cpu = milli_cpu,
                     .memory_mib = memory_mib,
                     .gpu_count = static_cast<std::int32_t>(gpu_count),
                     .model = std::string(csv.field(node_model))};
}

Result<OpenbTimes> read_times(const CsvReader& csv) {
    MUSTER_TRY(created, csv.number(pod_created, 0, seconds_max));
    MUSTER_TRY(deleted, csv.number(pod_deleted, created, seconds_max));
    OpenbTimes times{.created = created, .deleted = deleted, .scheduled = std::nullopt};
    if (csv.field(pod_scheduled).empty()) { return times; }
    MUSTER_TRY(scheduled, csv.number(pod_scheduled, created, deleted));
    times.scheduled = scheduled;
    return times;
}

Result<OpenbPod> read_pod(const CsvReader& csv) {
    MUSTER_TRY(name, read_name(csv, pod_name));
    MUSTER_TRY(milli_cpu, csv.number(pod_cpu, 0, milli_cpu_max));
    MUSTER_TRY(memory_mib, csv.number(pod_memory, 0, memory_mib_max));
    MUSTER_TRY(gpu_count, csv.number(pod_gpus, 0, gpu_count_max));
    const std::int64_t milli_min = gpu_count == 0 ? 0 : gpu_count == 1 ? 1 : gpu_milli_max;
    MUSTER_TRY(gpu_milli, csv.number(pod_milli, milli_min, gpu_count == 0 ? 0 : gpu_milli_max));
    OpenbPod pod{.name = std::move(name),
                 .milli_cpu = milli_cpu,
                 .memory_mib = memory_mib,
                 .gpu_count = static_cast<std::int32_t>(gpu_count),
                 .gpu_milli = static_cast<std::int32_t>(gpu_milli),
                 .models = {},
                 .qos = {},
                 .times = std::nullopt};
    if (csv.header().size() > pod_models) {
        pod.models = csv.field(pod_models);
        pod.qos = csv.field(pod_qos);
        MUSTER_TRY(times, read_times(csv));
        pod.times = times;
    }
    return pod;
}

Result<> check_names(std::string_view file, const std::vector<OpenbNode>& sorted) {
    const auto twin =
        std::adjacent_find(sorted.begin(), sorted.end(),
                           [](const auto& a, const auto& b) { return a.name == b.name; });
    if (twin == sorted.end()) { return {}; }
    return fail(
        Code::conflict,
        fmt::format("{}: found node '{:.60}' twice; expected each name once", file, twin->name));
}

/// A column of row numbers below `limit`; short columns end in empty cells.
Result<std::vector<std::uint32_t>> read_column(std::string_view file, std::string_view text,
                                               int seed, std::size_t limit) {
    CsvReader csv(file, text);
    MUSTER_CHECK(csv.read_header());
    const std::string name = fmt::format("seed{}", seed);
    const auto found = std::find(csv.header().begin(), csv.header().end(), name);
    if (found == csv.header().end()) {
        return fail(Code::not_found, fmt::format("{}: found no column {}", csv.place(), name));
    }
    const auto column = static_cast<std::size_t>(found - csv.header().begin());
    const auto last = static_cast<std::int64_t>(std::min<std::size_t>(limit, UINT32_MAX)) - 1;
    std::vector<std::uint32_t> values;
    bool is_over = false;
    for (;;) {
        MUSTER_TRY(is_there, csv.next());
        if (!is_there) { return values; }
        if (csv.field(column).empty()) {
            is_over = true;
            continue;
        }
        if (is_over) {
            return fail(
                Code::invalid,
                fmt::format("{}: found '{:.60}' after an empty cell; expected the column to "
                            "have ended",
                            csv.place(column), csv.field(column)));
        }
        MUSTER_TRY(value, csv.number(column, 0, last));
        if (values.size() == rows_max) {
            return fail(Code::limit, fmt::format("{}: over {} rows", csv.place(), rows_max));
        }
        values.push_back(static_cast<std::uint32_t>(value));
    }
}

}  // namespace

Result<std::vector<OpenbNode>> read_openb_nodes(std::string_view file, std::string_view text) {
    CsvReader csv(file, text);
    MUSTER_CHECK(csv.read_header());
    MUSTER_CHECK(csv.expect_header({"sn", "cpu_milli", "memory_mib", "gpu", "model"}));
    std::vector<OpenbNode> nodes;
    for (;;) {
        MUSTER_TRY(is_there, csv.next());
        if (!is_there) { break; }
        MUSTER_TRY(node, read_node(csv));
        nodes.push_back(std::move(node));
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    MUSTER_CHECK(check_names(file, nodes));
    return nodes;
}

Result<std::vector<OpenbPod>> read_openb_pods(std::string_view file, std::string_view text) {
    std::vector<std::string_view> columns = {"name", "cpu_milli", "memory_mib", "num_gpu",
                                             "gpu_milli"};
    CsvReader csv(file, text);
    MUSTER_CHECK(csv.read_header());
    if (csv.header().size() != columns.size()) {
        for (const std::string_view column :
             {"gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"}) {
            columns.push_back(column);
        }
    }
    MUSTER_CHECK(csv.expect_header(columns));
    std::vector<OpenbPod> pods;
    for (;;) {
        MUSTER_TRY(is_there, csv.next());
        if (!is_there) { return pods; }
        MUSTER_TRY(pod, read_pod(csv));
        pods.push_back(std::move(pod));
    }
}

Result<std::vector<std::uint32_t>> read_openb_arrivals(std::string_view file, std::string_view text,
                                                       int seed, std::size_t pods) {
    return read_column(file, text, seed, pods);
}

Result<std::vector<std::uint32_t>> read_openb_ranks(std::string_view file, std::string_view text,
                                                    int seed, std::size_t nodes) {
    MUSTER_TRY(ranks, read_column(file, text, seed, nodes));
    std::vector<bool> is_taken(nodes, false);
    for (const std::uint32_t rank : ranks) {
        if (is_taken[rank]) {
            return fail(Code::conflict, fmt::format("{}: column seed{} has rank {} twice; expected "
                                                    "each of 0 to {} once",
                                                    file, seed, rank, nodes - 1));
        }
        is_taken[rank] = true;
    }
    if (ranks.size() != nodes) {
        return fail(Code::invalid, fmt::format("{}: column seed{} has {} ranks; expected {}", file,
                                               seed, ranks.size(), nodes));
    }
    return std::move(ranks);
}

}  // namespace muster::dialect
