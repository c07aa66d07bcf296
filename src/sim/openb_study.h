// The openb placement study (FGD, ATC'23) from the files of a data folder: 1,213 nodes with 6,212
// GPUs, 17 pod lists, and for each seed the exact order of arrival and of tie-breaking.
//
// Pods arrive one by one, never leave and are tried once. See fgd-arrivals in the data's README.
#pragma once

#include "base/result.h"
#include "dialect/openb.h"
#include "sim/request.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace muster::sim {

inline constexpr std::string_view openb_lists[] = {
    "default",    "cpu050",     "cpu100",      "cpu200",     "cpu250",     "gpushare40",
    "gpushare60", "gpushare80", "gpushare100", "multigpu20", "multigpu30", "multigpu40",
    "multigpu50", "gpuspec10",  "gpuspec20",   "gpuspec25",  "gpuspec33"};
inline constexpr int openb_seed_first = 42;
inline constexpr int openb_seed_last = 51;

struct OpenbStudy {
    std::string list;
    std::vector<dialect::OpenbNode> nodes;  // ascending name
    std::vector<std::string> models;        // ascending; a bit of Request::models is a place in it
    std::vector<std::uint32_t> node_model;  // by node
    std::vector<dialect::OpenbPod> pods;
    std::vector<Request> requests;  // by pod
    std::string arrivals_text;
    std::string ranks_text;

    [[nodiscard]] std::int64_t gpu_milli_total() const;
    [[nodiscard]] std::vector<std::int64_t> gpu_milli_by_model() const;
    /// Pods in order of arrival.
    [[nodiscard]] Result<std::vector<std::uint32_t>> arrivals(int seed) const;
    /// By node.
    [[nodiscard]] Result<std::vector<std::uint32_t>> ranks(int seed) const;
    /// The distinct (CPU, GPU, models) of the list with their counts, the most frequent first: as
    /// many as cover 95 % of the pods. Ties by descending CPU, milli, count and model text.
    [[nodiscard]] std::vector<MixClass> common_classes() const;
};

struct OpenbFiles {
    std::filesystem::path nodes;
    std::filesystem::path pods;
    std::filesystem::path arrivals;  // packed by gzip when it ends in .gz, like `ranks`
    std::filesystem::path ranks;
};

Result<OpenbStudy> load_openb_files(const OpenbFiles& files, std::string_view list);
/// `folder` holds alibaba-gpu-v2023 and fgd-arrivals.
Result<OpenbStudy> load_openb_study(const std::filesystem::path& folder, std::string_view list);

}  // namespace muster::sim
