// Who a client is, at each moment: tokens in files are read again, certificates too, and programs
// run again when what they gave has expired or the server refused it. Called from one thread; may
// wait for a program, at most a minute.
#pragma once

#include "base/result.h"
#include "kube/exec_plugin.h"
#include "kube/kubeconfig.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::kube {

/// What a request is sent with.
struct Secret {
    std::string authorization;                                // "Bearer …", or empty
    std::vector<std::pair<std::string, std::string>> act_as;  // headers
    std::string certificate;                                  // PEM
    std::string key;

    bool operator==(const Secret&) const = default;
};

class Credentials {
public:
    struct Options {
        KubeUser user;
        std::string exec_info;                 // of a program
        std::function<std::int64_t()> now_ms;  // since the epoch
    };
    explicit Credentials(Options options) : options_(std::move(options)) {}

    /// Anew when it is time, else as before. When a file or program fails, what was there is used
    /// until it has expired.
    Result<Secret> now();
    /// The server did not take it: the next one is made anew.
    void note_refused();

private:
    Result<Secret> make(std::int64_t time);

    Options options_;
    Secret held_;
    std::int64_t fresh_until_ = -1;  // no look before
    std::int64_t expires_ = -1;      // no use after, when it is over 0
    std::int64_t rests_until_ = -1;  // programs run no more often than that
    std::optional<Error> failure_;
    bool is_held_ = false;
};

}  // namespace muster::kube
