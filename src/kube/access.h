// The way to an API server: which files name it, and what they come to. As kubectl goes: a file
// that is told, else the list in KUBECONFIG, else ~/.kube/config, else the service account of the
// pod that this runs in.
#pragma once

#include "base/result.h"
#include "kube/http_transport.h"

#include <functional>
#include <optional>
#include <string>

namespace muster::kube {

struct AccessRequest {
    std::string file;     // --kubeconfig; must be there
    std::string context;  // --context; empty: the current one
    std::string user_agent = "muster";
    /// Of the environment; none when it is not set.
    std::function<std::optional<std::string>(const std::string& name)> variable;
    bool is_patient = true;  // false: nobody waits for a program that gives credentials
    std::string account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

struct Access {
    ServerAddress address;
    std::string name;   // "context lab of /etc/muster/kubeconfig", "the pod's service account"
    std::string space;  // the namespace that it is about; "default" when none is named
};

/// Reads files, runs nothing and asks nobody.
Result<Access> find_access(const AccessRequest& request);

/// The process's environment.
std::optional<std::string> variable_of_process(const std::string& name);

}  // namespace muster::kube
