// Kubeconfig files, as kubectl reads and merges them. Pure: texts in, values out; kube/access.h
// finds the files and goes the way that they name. What is secret never stands in an error.
#pragma once

#include "base/result.h"
#include "codec/document.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace muster::kube {

/// A PEM text, or the file that has it. The text goes first.
struct PemSource {
    std::string text;
    std::string file;

    [[nodiscard]] bool is_given() const { return !text.empty() || !file.empty(); }
};

struct KubeCluster {
    std::string server;  // a URL
    std::string tls_name;
    PemSource authority;
    bool is_verified = true;
    std::string exec_extension;  // JSON that exec plugins are told; may be empty
};

/// A program that hands out credentials: client.authentication.k8s.io.
struct ExecPlugin {
    std::string api_version;
    std::string command;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> variables;
    std::string hint;            // what to do when it is not installed
    bool knows_cluster = false;  // it is told the cluster
};

struct KubeUser {
    std::string token;
    std::string token_file;  // goes before the token
    std::string name;
    std::string password;
    PemSource certificate;
    PemSource key;
    std::string act_as;
    std::string act_as_uid;
    std::vector<std::string> act_as_groups;
    std::optional<ExecPlugin> exec;
};

struct KubeContext {
    std::string cluster;
    std::string user;
    std::string space;  // namespace; may be empty
};

struct Kubeconfig {
    std::string current;
    std::map<std::string, KubeCluster> clusters;
    std::map<std::string, KubeUser> users;
    std::map<std::string, KubeContext> contexts;
};

/// Of one file, named by its path: the files that it names are beside it. An error names file,
/// line and field. An empty file is an empty configuration.
Result<Kubeconfig> read_kubeconfig(const SourceText& source);

/// The first to have a name, or a current context, wins; nothing of the others' is mixed in.
Kubeconfig merge(std::span<const Kubeconfig> configs);

/// "https://[::1]:6443/prefix" in parts.
struct ServerUrl {
    bool is_tls = false;
    std::string host;
    std::uint16_t port = 0;
    std::string path;  // "/prefix", or empty
};
Result<ServerUrl> read_server_url(std::string_view text);

}  // namespace muster::kube
