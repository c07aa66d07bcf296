#include "kube/kubeconfig.h"

#include "base/base64.h"
#include "base/text.h"
#include "codec/field.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::string_view exec_extension_name = "client.authentication.k8s.io/exec";

/// Without what was found, in the error.
std::string secret_at(const Field& field) {
    if (!field.is_present()) { return {}; }
    if (!field.is_text()) {
        field.refuse("expected text (put it in quotes)");
        return {};
    }
    return std::string(field.text());
}

class Reader {
public:
    explicit Reader(const SourceText& source)
        : folder_(std::filesystem::path(source.name).parent_path()) {}

    Kubeconfig read(const Field& root) {
        Kubeconfig out;
        const Field version = root["apiVersion"];
        if (version.is_present() && version.text() != "v1") { version.expected("v1"); }
        const Field kind = root["kind"];
        if (kind.is_present() && kind.text() != "Config") { kind.expected("Config"); }
        out.current = root["current-context"].text();
        read_named(root["clusters"], "cluster", out.clusters,
                   [this](const Field& field) { return cluster(field); });
        read_named(root["users"], "user", out.users,
                   [this](const Field& field) { return user(field); });
        read_named(root["contexts"], "context", out.contexts, [](const Field& field) {
            return KubeContext{.cluster = std::string(field["cluster"].text()),
                               .user = std::string(field["user"].text()),
                               .space = std::string(field["namespace"].text())};
        });
        return out;
    }

private:
    template <class Value, class Read>
    static void read_named(const Field& list, std::string_view what,
                           std::map<std::string, Value>& out, const Read& read) {
        for (const Field& item : list.items()) {
            const Field name = item["name"];
            if (name.text().empty()) {
                name.expected("a name");
                continue;
            }
            const bool is_new = out.emplace(name.text(), read(item[what])).second;
            if (!is_new) { name.refuse(fmt::format("a second {} of that name", what)); }
        }
    }

    [[nodiscard]] std::string file_at(const Field& field) const {
        const std::string_view name = field.text();
        if (name.empty()) { return {}; }
        const std::filesystem::path path(name);
        return path.is_absolute() ? path.string() : (folder_ / path).lexically_normal().string();
    }

    [[nodiscard]] PemSource pem_at(const Field& parent, const std::string& key) const {
        PemSource out{.text = {}, .file = file_at(parent[key])};
        const Field data = parent[key + "-data"];
        auto text = decode_base64(secret_at(data));
        if (!text) { data.refuse("expected base64 of a PEM text"); }
        out.text = std::move(text).value_or("");
        return out;
    }

    [[nodiscard]] KubeCluster cluster(const Field& field) const {
        KubeCluster out{.server = std::string(field["server"].text()),
                        .tls_name = std::string(field["tls-server-name"].text()),
                        .authority = pem_at(field, "certificate-authority"),
                        .is_verified = !field["insecure-skip-tls-verify"].boolean(),
                        .exec_extension = {}};
        const Field proxy = field["proxy-url"];
        if (!proxy.text().empty()) {
            proxy.refuse(
                "Muster goes to no server through a proxy; expected a server that is "
                "reached directly");
        }
        if (auto url = read_server_url(out.server); !url) {
            field["server"].refuse(url.error().message);
        }
        if (!out.is_verified && out.authority.is_given()) {
            field["insecure-skip-tls-verify"].refuse(
                "expected either this or a certificate authority");
        }
        return out;
    }

    [[nodiscard]] KubeUser user(const Field& field) const {
        KubeUser out;
        if (field.is_present() && !field.is_object()) {
            field.refuse("expected a mapping");
            return out;
        }
        out.token = secret_at(field["token"]);
        out.token_file = file_at(field["tokenFile"]);
        out.name = secret_at(field["username"]);
        out.password = secret_at(field["password"]);
        out.certificate = pem_at(field, "client-certificate");
        out.key = pem_at(field, "client-key");
        out.act_as = field["as"].text();
        out.act_as_uid = field["as-uid"].text();
        for (const Field& group : field["as-groups"].items()) {
            out.act_as_groups.emplace_back(group.text());
        }
        if (field["exec"].is_present()) { out.exec = exec(field["exec"]); }
        check(field, out);
        return out;
    }

    static void check(const Field& field, const KubeUser& user) {
        if (field["as-user-extra"].is_present()) {
            field["as-user-extra"].refuse(
                "Muster does not pass it on; expected as, as-uid or "
                "as-groups alone");
        }
        if (field["auth-provider"].is_present()) {
            field["auth-provider"].refuse("these were removed in Kubernetes 1.26; expected exec");
        }
        const bool has_token = !user.token.empty() || !user.token_file.empty();
        if (has_token && !user.name.empty()) {
            field["username"].refuse("expected either a token or a user name");
        }
        if (user.exec && (has_token || !user.name.empty())) {
            field["exec"].refuse("expected either a program or a token or user name");
        }
        if (user.certificate.is_given() != user.key.is_given()) {
            const char* const missing = user.key.is_given() ? "client-certificate" : "client-key";
            field[missing].refuse("expected both client-certificate and client-key");
        }
        const bool acts = !user.act_as_uid.empty() || !user.act_as_groups.empty();
        if (acts && user.act_as.empty()) { field["as"].refuse("expected a user name"); }
    }

    [[nodiscard]] ExecPlugin exec(const Field& field) const {
        ExecPlugin out{.api_version = std::string(field["apiVersion"].text()),
                       .command = std::string(field["command"].text()),
                       .arguments = {},
                       .variables = {},
                       .hint = std::string(field["installHint"].text()),
                       .knows_cluster = field["provideClusterInfo"].boolean()};
        const bool is_v1 = out.api_version == "client.authentication.k8s.io/v1";
        if (!is_v1 && out.api_version != "client.authentication.k8s.io/v1beta1") {
            field["apiVersion"].expected("client.authentication.k8s.io/v1 or …/v1beta1");
        }
        if (out.command.empty()) { field["command"].expected("a program"); }
        // Beside the kubeconfig when it is a path; a bare name is looked up.
        const bool is_bare = out.command.find('/') == std::string::npos;
        if (!is_bare) { out.command = file_at(field["command"]); }
        for (const Field& argument : field["args"].items()) {
            out.arguments.push_back(secret_at(argument));
        }
        for (const Field& variable : field["env"].items()) {
            out.variables.emplace_back(variable["name"].text(), secret_at(variable["value"]));
        }
        const Field mode = field["interactiveMode"];
        const std::string_view named = mode.text(is_v1 ? "" : "IfAvailable");
        if (named == "Always") {
            mode.refuse("Muster runs it without a terminal; expected Never or IfAvailable");
        } else if (named != "Never" && named != "IfAvailable") {
            mode.expected("Never or IfAvailable");
        }
        return out;
    }

    std::filesystem::path folder_;
};

/// What a cluster has for programs that hand out credentials, as it stands there.
std::string exec_extension_of(const json::object& cluster) {
    const json::array* extensions = array_at(cluster, "cluster.extensions");
    if (extensions == nullptr) { return {}; }
    for (const json::value& one : *extensions) {
        const json::object* extension = one.if_object();
        if (extension == nullptr || text_at(*extension, "name") != exec_extension_name) {
            continue;
        }
        const json::value* value = extension->if_contains("extension");
        return value == nullptr ? "" : json::serialize(*value);
    }
    return {};
}

void add_exec_extensions(const json::value& root, Kubeconfig& config) {
    const json::object* object = root.if_object();
    const json::array* clusters = object != nullptr ? array_at(*object, "clusters") : nullptr;
    if (clusters == nullptr) { return; }
    for (const json::value& one : *clusters) {
        const json::object* cluster = one.if_object();
        if (cluster == nullptr) { continue; }
        const auto found = config.clusters.find(std::string(text_at(*cluster, "name")));
        if (found != config.clusters.end()) {
            found->second.exec_extension = exec_extension_of(*cluster);
        }
    }
}

template <class Value>
void add(const std::map<std::string, Value>& from, std::map<std::string, Value>& to) {
    to.insert(from.begin(), from.end());
}

}  // namespace

Result<Kubeconfig> read_kubeconfig(const SourceText& source) {
    MUSTER_TRY(documents, read_documents({&source, 1}));
    if (documents.all().empty()) { return Kubeconfig{}; }
    if (documents.all().size() > 1) {
        return fail(Code::invalid, fmt::format("{}: found {} documents, expected one kubeconfig",
                                               source.name, documents.all().size()));
    }
    Faults faults;
    Kubeconfig out = Reader(source).read(Field(documents.all().front(), faults));
    if (!faults.is_empty()) { return tl::unexpected(faults.error()); }
    add_exec_extensions(*documents.all().front().root, out);
    return out;
}

Kubeconfig merge(std::span<const Kubeconfig> configs) {
    Kubeconfig out;
    for (const Kubeconfig& config : configs) {
        if (out.current.empty()) { out.current = config.current; }
        add(config.clusters, out.clusters);
        add(config.users, out.users);
        add(config.contexts, out.contexts);
    }
    return out;
}

Result<ServerUrl> read_server_url(std::string_view text) {
    const auto refuse = [&](std::string_view what) {
        return fail(Code::invalid, fmt::format("{} in \"{}\", expected https://HOST[:PORT][/PATH]",
                                               what, text.substr(0, 200)));
    };
    ServerUrl out;
    std::string_view rest = text;
    if (rest.starts_with("https://")) {
        out.is_tls = true;
    } else if (!rest.starts_with("http://")) {
        return refuse("no https:// or http://");
    }
    rest.remove_prefix(out.is_tls ? 8 : 7);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    rest.remove_prefix(authority.size());
    if (authority.find('@') != std::string_view::npos) {
        return fail(Code::invalid, "a user name in the server's URL, expected it in users");
    }
    if (text.find_first_of("?#") != std::string_view::npos) { return refuse("a query"); }
    std::size_t host_end = authority.rfind(':');
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == std::string_view::npos) { return refuse("an open ["); }
        out.host = authority.substr(1, close - 1);
        host_end = close + 1;
        if (host_end < authority.size() && authority[host_end] != ':') {
            return refuse("text behind ]");
        }
    } else {
        out.host = authority.substr(0, host_end);
    }
    if (out.host.empty() || out.host.find_first_of(" \t\r\n") != std::string::npos ||
        (!authority.starts_with('[') && out.host.find(':') != std::string::npos)) {
        return refuse("no host");
    }
    out.port = out.is_tls ? 443 : 80;
    if (host_end < authority.size()) {
        const auto port = parse_int("port", authority.substr(host_end + 1), 1, 65'535);
        if (!port) { return refuse("no port"); }
        out.port = static_cast<std::uint16_t>(*port);
    }
    out.path = rest;
    while (out.path.ends_with('/')) { out.path.pop_back(); }
    const bool is_plain =
        std::all_of(out.path.begin(), out.path.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!is_plain) { return refuse("a path with blanks"); }
    return out;
}

}  // namespace muster::kube
