#include "cli/live_cluster.h"

#include "kube/access.h"
#include "kube/cluster_copy.h"
#include "kube/cluster_reading.h"
#include "kube/group_notes.h"

#include <csignal>

namespace muster::cli {

namespace {

Result<kube::Access> access_of(const LiveOptions& options) {
    return kube::find_access({.file = options.kubeconfig,
                              .context = options.context,
                              .user_agent = "muster/" MUSTER_VERSION,
                              .variable = kube::variable_of_process});
}

}  // namespace

std::string namespace_of_context(const LiveOptions& options) {
    const auto access = access_of(options);
    return access ? access->space : "default";
}

std::vector<std::string> read_notes(const LiveOptions& options, const std::string& workload) {
    const std::size_t slash = workload.find('/');
    const auto access = access_of(options);
    if (!access || slash == std::string::npos) { return {}; }
    return kube::group_notes(kube::connect(access->address),
                             {workload.substr(0, slash), workload.substr(slash + 1)});
}

Result<dialect::ClusterInput> read_live(const LiveOptions& options) {
    MUSTER_TRY(access, access_of(options));
    std::signal(SIGPIPE, SIG_IGN);  // of a server that hangs up
    auto copy = kube::copy_cluster(kube::connect(access.address));
    if (!copy) { return tl::unexpected(std::move(copy).error().wrap(access.name)); }
    const kube::Texts texts(copy->texts.begin(), copy->texts.end());
    kube::ClusterRead read = kube::read_objects(texts, {.schedulers = options.names});
    for (const kube::Problem& problem : read.malformed) {
        read.input.warnings.push_back(
            {.place = {.file = problem.object.text()}, .text = "left out: " + problem.text});
    }
    if (!copy->is_of_one_moment) {
        read.input.warnings.push_back(
            {.place = {.file = access.name}, .text = "changed while it was read"});
    }
    return std::move(read.input);
}

}  // namespace muster::cli
