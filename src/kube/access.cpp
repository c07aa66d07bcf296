#include "kube/access.h"

#include "base/text.h"
#include "kube/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace muster::kube {

namespace {

/// API servers send a bookmark on each watch about once a minute.
constexpr std::int64_t silence_ms = 150'000;

std::int64_t wall_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

struct Files {
    std::vector<std::string> paths;
    bool must_exist = false;
};

Files files_of(const AccessRequest& request) {
    if (!request.file.empty()) { return {{request.file}, true}; }
    Files out;
    if (const auto list = request.variable("KUBECONFIG"); list && !list->empty()) {
        for (const std::string_view path : split(*list, ':')) {
            if (!path.empty()) { out.paths.emplace_back(path); }
        }
        return out;
    }
    if (const auto home = request.variable("HOME"); home && !home->empty()) {
        out.paths.push_back(*home + "/.kube/config");
    }
    return out;
}

struct Loaded {
    Kubeconfig config;
    std::vector<std::string> read;  // files that were there
};

Result<Loaded> load(const Files& files) {
    Loaded out;
    std::vector<Kubeconfig> configs;
    for (const std::string& path : files.paths) {
        auto text = read_text_file(path);
        if (!text && text.error().code == Code::not_found && !files.must_exist) { continue; }
        if (!text) { return tl::unexpected(std::move(text).error()); }
        const std::string whole = std::filesystem::absolute(path).string();
        MUSTER_TRY(config, read_kubeconfig({whole, std::move(*text)}));
        configs.push_back(std::move(config));
        out.read.push_back(path);
    }
    out.config = merge(configs);
    return out;
}

template <class Value>
Result<const Value*> look_up(const std::map<std::string, Value>& all, const std::string& name,
                             std::string_view what, std::string_view where) {
    const auto found = all.find(name);
    if (found != all.end()) { return &found->second; }
    std::vector<std::string> known;
    for (const auto& [one, value] : all) { known.push_back(one); }
    return fail(Code::not_found,
                fmt::format("{}: no {} '{}'; it has {}", where, what, name,
                            known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

Result<Access> access_to(const KubeCluster& cluster, KubeUser user, const AccessRequest& request) {
    MUSTER_TRY(url, read_server_url(cluster.server));
    MUSTER_TRY(authority, read_pem(cluster.authority));
    Credentials::Options options{.user = std::move(user),
                                 .exec_info = {},
                                 .now_ms = wall_ms,
                                 .is_patient = request.is_patient};
    if (options.user.exec) {
        options.exec_info = exec_info(*options.user.exec, cluster, authority);
    }
    Access out;
    out.address.http.host = url.host;
    out.address.http.port = url.port;
    out.address.http.is_tls = url.is_tls;
    out.address.http.authority = std::move(authority);
    out.address.http.silence_ms = silence_ms;
    out.address.http.is_verified = cluster.is_verified;
    out.address.http.tls_name = cluster.tls_name;
    out.address.path = url.path;
    out.address.user_agent = request.user_agent;
    out.address.credentials = std::make_shared<Credentials>(std::move(options));
    return out;
}

/// None when this runs in no pod.
Result<std::optional<Access>> account_of_pod(const AccessRequest& request) {
    const auto host = request.variable("KUBERNETES_SERVICE_HOST");
    const auto port = request.variable("KUBERNETES_SERVICE_PORT");
    const std::string token = request.account_folder + "/token";
    if (!host || !port || host->empty() || port->empty() || !std::filesystem::exists(token)) {
        return std::optional<Access>();
    }
    const bool is_v6 = host->find(':') != std::string::npos;
    const KubeCluster cluster{.server = is_v6 ? fmt::format("https://[{}]:{}", *host, *port)
                                              : fmt::format("https://{}:{}", *host, *port),
                              .tls_name = {},
                              .authority = {.text = {}, .file = request.account_folder + "/ca.crt"},
                              .exec_extension = {}};
    KubeUser user;
    user.token_file = token;
    MUSTER_TRY(out, access_to(cluster, std::move(user), request));
    out.name = "the pod's service account";
    const auto space = read_text_file(request.account_folder + "/namespace");
    out.space = space && !trim(*space).empty() ? trim(*space) : "default";
    return std::optional<Access>(std::move(out));
}

}  // namespace

Result<Access> find_access(const AccessRequest& request) {
    const Files files = files_of(request);
    MUSTER_TRY(loaded, load(files));
    const std::string where = fmt::format("{}", fmt::join(loaded.read, ":"));
    const bool is_told = !request.file.empty() || !request.context.empty();
    const bool is_empty = loaded.config.contexts.empty() && loaded.config.clusters.empty();
    if (is_empty && !is_told) {
        MUSTER_TRY(account, account_of_pod(request));
        if (account) { return std::move(*account); }
        return fail(Code::not_found,
                    fmt::format("no cluster is named: {}; expected --kubeconfig FILE, KUBECONFIG "
                                "or ~/.kube/config, or to run in a pod",
                                files.paths.empty()
                                    ? "KUBECONFIG and HOME are not set"
                                    : fmt::format("nothing in {}", fmt::join(files.paths, ", "))));
    }
    const std::string& name = request.context.empty() ? loaded.config.current : request.context;
    if (name.empty()) {
        return fail(Code::invalid,
                    fmt::format("{}: no current-context, expected one or --context", where));
    }
    MUSTER_TRY(context, look_up(loaded.config.contexts, name, "context", where));
    const std::string whose = fmt::format("{}: context '{}'", where, name);
    MUSTER_TRY(cluster, look_up(loaded.config.clusters, context->cluster, "cluster", whose));
    KubeUser user;
    if (!context->user.empty()) {
        MUSTER_TRY(found, look_up(loaded.config.users, context->user, "user", whose));
        user = *found;
    }
    auto out = access_to(*cluster, std::move(user), request);
    if (!out) { return tl::unexpected(std::move(out).error().wrap(whose)); }
    out->name = fmt::format("context {} of {}", name, where);
    out->space = context->space.empty() ? "default" : context->space;
    return out;
}

std::optional<std::string> variable_of_process(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace muster::kube
