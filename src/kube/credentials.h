// Who a client is, at each moment: tokens in files are read again, certificates too, and programs
// run again when what they gave has expired or the server refused it. Called from one thread. Who
// is patient waits for a program, at most a minute; others are told `unavailable` meanwhile, or use
// what the last run gave as long as that holds.
#pragma once

#include "base/result.h"
#include "kube/exec_plugin.h"
#include "kube/kubeconfig.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
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
        bool is_patient = true;
    };
    explicit Credentials(Options options) : options_(std::move(options)) {}

    /// Anew when it is time, else as before. When a file or program fails, what was there is used
    /// until it has expired.
    Result<Secret> now();
    /// The server did not take it: the next one is made anew.
    void note_refused();

private:
    /// A program that runs in a thread of its own, which may outlive all others.
    struct Run {
        std::mutex mutex;
        std::optional<Result<ExecCredential>> given;
    };

    Result<Secret> make(std::int64_t time);
    [[nodiscard]] Result<Secret> held_or(std::int64_t time, Result<Secret> otherwise) const;
    Result<ExecCredential> run_program();
    [[nodiscard]] bool is_running() const;

    Options options_;
    Secret held_;
    std::int64_t fresh_until_ = -1;  // no look before
    std::int64_t expires_ = -1;      // no use after, when it is over 0
    std::int64_t rests_until_ = -1;  // programs run no more often than that
    std::optional<Error> failure_;
    std::shared_ptr<Run> run_;
    bool is_held_ = false;
};

}  // namespace muster::kube
