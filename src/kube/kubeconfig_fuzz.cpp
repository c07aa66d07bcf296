// Any bytes: no crash; an error names the file; merging with itself changes nothing.
#include "kube/kubeconfig.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    (void)muster::kube::read_server_url(text);
    const auto config = muster::kube::read_kubeconfig({"fuzz", text});
    if (!config) {
        MUSTER_ASSERT(config.error().message.starts_with("fuzz"));
        return 0;
    }
    const std::vector<muster::kube::Kubeconfig> twice{*config, *config};
    const auto merged = muster::kube::merge(twice);
    MUSTER_ASSERT(merged.current == config->current);
    MUSTER_ASSERT(merged.users.size() == config->users.size());
    for (const auto& [name, cluster] : config->clusters) {
        MUSTER_ASSERT(muster::kube::read_server_url(cluster.server).has_value());
    }
    return 0;
}
