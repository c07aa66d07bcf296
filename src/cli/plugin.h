// `kubectl muster why train`: kubectl calls the program kubectl-muster, which is this one under
// that name. It asks the scheduler that runs in the cluster, through the API server's proxy, with
// the rights of whoever calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

/// Where deploy/muster.yaml puts it.
inline constexpr std::string_view deployed_service = "muster-system/muster:http";

/// The words of the verb that are meant; unchanged unless `program` is the plugin's name.
std::vector<std::string> words_of_plugin(std::string_view program, std::vector<std::string> words);

}  // namespace muster::cli
