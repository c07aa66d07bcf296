// The lab: an API server on loopback, fake nodes, controllers and a scheduler in one process.
// `run_lab` is that process; what it writes into its folder tells everybody else where it is.
#pragma once

#include "base/result.h"
#include "codec/document.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace muster::lab {

enum class LabScheduler : std::uint8_t { muster, per_pod, none };

struct LabOptions {
    std::filesystem::path folder;      // kubeconfig, objects, ledger
    std::string nodes = "2x4";         // of a lab that has none yet
    std::string like;                  // "h100-superpod:4", in place of `nodes`
    std::vector<SourceText> clusters;  // files of objects, in place of both
    bool has_taints = false;           // GPU nodes have the taint that clouds give them
    std::int64_t speed = 1;            // lab seconds in one of ours
    LabScheduler scheduler = LabScheduler::muster;
    bool is_http = false;  // without TLS
    bool is_in_memory = false;
    bool is_only_api = false;  // nobody acts on what is stored: no nodes, controllers, scheduler
    std::uint16_t port = 0;    // 0 = any that is free
    std::string version;       // of the program
    std::function<void(const std::string&)> left_out;  // is told what of `clusters` is not taken
    std::function<void(const std::string&)> trouble;   // is told when the lab can't do its work
};

/// Where a lab keeps what.
struct LabFiles {
    std::filesystem::path kubeconfig;
    std::filesystem::path objects;
    std::filesystem::path ledger;
    std::filesystem::path process;  // its id
    std::filesystem::path log;
    std::filesystem::path settings;
};
LabFiles files_of(const std::filesystem::path& folder);

/// Until it is told to stop by SIGTERM or SIGINT. `ready` is called once it answers.
Result<> run_lab(const LabOptions& options,
                 const std::function<void(const std::string& url)>& ready);

}  // namespace muster::lab
