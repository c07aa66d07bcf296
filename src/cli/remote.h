// A verb that is answered by a scheduler that runs: what it would print there is printed here.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "cli/run.h"
#include "codec/document.h"

#include <span>
#include <string>
#include <string_view>

namespace muster::cli {

/// An option says so, or MUSTER_SERVER does and no option names a cluster.
bool asks_remote(const ClusterOptions& options);

struct RemoteQuestion {
    std::string path;   // behind /api/v1/: "why/team/train"
    std::string query;  // more of it: "&sensitivity=15"
    std::string body;   // then it is posted
};

/// Prints what the server's verb prints and returns its code.
Result<int> tell_remote(const ClusterOptions& options, const RemoteQuestion& question,
                        Format format, Terminal& terminal);

/// Of a path: slashes stay.
std::string escape_path(std::string_view text);
/// Several manifests as one.
std::string one_text(std::span<const SourceText> sources);

}  // namespace muster::cli
