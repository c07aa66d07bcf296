#include "cli/lab_client.h"

#include "kube/access.h"

#include <cstdlib>

namespace muster::cli {

std::filesystem::path lab_folder(const std::string& given) {
    if (!given.empty()) { return std::filesystem::absolute(given); }
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home == nullptr ? "." : home) / ".muster" / "lab";
}

Result<LabClient> LabClient::reach(const std::filesystem::path& kubeconfig) {
    MUSTER_TRY(access, kube::find_access({.file = kubeconfig.string(),
                                          .user_agent = "muster/" MUSTER_VERSION,
                                          .variable = kube::variable_of_process}));
    LabClient out;
    out.link_ = kube::connect(access.address);
    out.hand_ = std::make_unique<lab::LabHand>(*out.link_.transport, out.link_.pump);
    return out;
}

}  // namespace muster::cli
