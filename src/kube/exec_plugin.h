// Runs a program that hands out credentials for a cluster, as kubectl does, and reads what it says
// (client.authentication.k8s.io, ExecCredential). What it printed never stands in an error.
#pragma once

#include "base/result.h"
#include "kube/kubeconfig.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

struct ExecCredential {
    std::string token;
    std::string certificate;  // PEM
    std::string key;
    std::int64_t expires_ms = -1;  // since the epoch; -1: when the server takes it no more
};

/// Pure.
Result<ExecCredential> read_exec_credential(std::string_view text, std::string_view api_version);

/// What the program is told in KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, const KubeCluster& cluster,
                      std::string_view authority);

struct ProgramRun {
    std::vector<std::string> words;      // the program first
    std::vector<std::string> variables;  // "NAME=value", on top of those that there are
    std::int64_t timeout_ms = 60'000;
    std::size_t bytes_max = std::size_t{1} << 20;
};
/// What it writes. No input; what it says on its error output goes to ours. `not_found` when it is
/// not installed; anything else than a clean end is `unavailable` or `timeout`, and it is killed.
Result<std::string> run_program(const ProgramRun& run);

Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const std::string& info);

}  // namespace muster::kube
