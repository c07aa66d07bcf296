#include "cli/remote.h"

#include "base/text.h"
#include "cli/api_status.h"
#include "kube/access.h"
#include "kube/kubeconfig.h"
#include "kube/link.h"
#include "kube/objects.h"
#include "sim/file.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <csignal>
#include <optional>

namespace muster::cli {

namespace {

namespace json = boost::json;

constexpr std::size_t answer_bytes_max = std::size_t{256} << 20;
/// Behind a service each replica is asked in turn; all but one stand by.
constexpr int tries_max = 24;
constexpr std::int64_t pump_ms = 1'000;

std::string server_of(const ClusterOptions& options) {
    if (!options.remote.server.empty()) { return options.remote.server; }
    return kube::variable_of_process("MUSTER_SERVER").value_or("");
}

/// A server, and the path in front of what it is asked for.
struct Way {
    kube::ServerAddress address;
    std::string prefix;
    std::string name;  // for messages
};

Result<Way> way_to_server(const RemoteOptions& options, const std::string& server) {
    MUSTER_TRY(url, kube::read_server_url(server));
    Way out{.address = {}, .prefix = {}, .name = server};
    out.address.http.host = url.host;
    out.address.http.port = url.port;
    out.address.http.is_tls = url.is_tls;
    out.address.path = url.path;
    if (!options.authority.empty()) {
        MUSTER_TRY(authority, sim::read_file(options.authority));
        out.address.http.authority = std::move(authority);
    }
    if (!options.token_file.empty()) {
        MUSTER_TRY(token, sim::read_file(options.token_file));
        out.address.token = std::string(trim(token));
    }
    return out;
}

Result<Way> way_through_cluster(const ClusterOptions& options) {
    const std::string& service = options.remote.service;
    const std::size_t slash = service.find('/');
    if (slash == 0 || slash == std::string::npos || slash + 1 == service.size() ||
        service.find('/', slash + 1) != std::string::npos) {
        return fail(Code::invalid,
                    fmt::format("--service {}: expected NAMESPACE/NAME:PORT", service));
    }
    MUSTER_TRY(access, kube::find_access({.file = options.live.kubeconfig,
                                          .context = options.live.context,
                                          .variable = kube::variable_of_process}));
    return Way{
        .address = std::move(access.address),
        .prefix = kube::path_of({.group = "", .version = "v1", .plural = "services"},
                                service.substr(0, slash), service.substr(slash + 1), "proxy"),
        .name = fmt::format("service {} of {}", service, access.name)};
}

Result<kube::Answer> call(const kube::Link& link, const kube::Call& call) {
    std::optional<Result<kube::Answer>> answer;
    link.transport->call(call, [&](Result<kube::Answer> came) { answer = std::move(came); });
    while (!answer) { link.pump(pump_ms); }
    return std::move(*answer);
}

Error refusal(const Way& way, const kube::Answer& answer) {
    const json::object status = kube::object_of(answer.body);
    const std::string_view text = kube::text_at(status, "message");
    const bool is_asked_wrong = answer.status >= 400 && answer.status < 500;
    // What a verb would say of the same words here.
    if (is_asked_wrong && kube::text_at(status, "details.kind") == api_kind) {
        return {Code::invalid, std::string(text)};
    }
    return {Code::unavailable, fmt::format("{}: answered with {}{}{}", way.name, answer.status,
                                           text.empty() ? "" : ": ", text)};
}

}  // namespace

bool asks_remote(const ClusterOptions& options) {
    if (!options.remote.server.empty() || !options.remote.service.empty()) { return true; }
    return options.files.empty() && !options.live.is_told() && !server_of(options).empty();
}

Result<int> tell_remote(const ClusterOptions& options, const RemoteQuestion& question,
                        Format format, Terminal& terminal) {
    const RemoteOptions& remote = options.remote;
    if (!options.files.empty() || (!remote.server.empty() && !remote.service.empty())) {
        return fail(Code::invalid, "--cluster, --server and --service: expected one of them");
    }
    MUSTER_TRY(way, remote.service.empty() ? way_to_server(remote, server_of(options))
                                           : way_through_cluster(options));
    way.address.user_agent = "muster/" MUSTER_VERSION;
    way.address.http.body_bytes_max = answer_bytes_max;
    std::signal(SIGPIPE, SIG_IGN);  // of a server that hangs up
    const kube::Link link = kube::connect(way.address);
    const kube::Call asked{
        .method = question.body.empty() ? "GET" : "POST",
        .target = fmt::format("{}/api/v1/{}?output=terminal&format={}&colour={}{}", way.prefix,
                              question.path, format == Format::json ? "json" : "table",
                              terminal.has_colour, question.query),
        .content_type = "application/yaml",
        .body = question.body};
    kube::Answer answer;
    for (int tries = 1;; ++tries) {
        auto came = call(link, asked);
        if (!came) { return tl::unexpected(std::move(came).error().wrap(way.name)); }
        answer = std::move(*came);
        const bool stands_by = answer.status == 503 && kube::text_at(kube::object_of(answer.body),
                                                                     "reason") == api_stands_by;
        if (!stands_by || tries == tries_max) { break; }
    }
    if (!answer.is_ok()) { return tl::unexpected(refusal(way, answer)); }
    const json::object said = kube::object_of(answer.body);
    if (said.if_contains("out") == nullptr || said.if_contains("code") == nullptr) {
        return fail(Code::invalid,
                    way.name + ": answered with something else than a scheduler does");
    }
    terminal.out << kube::text_at(said, "out");
    terminal.err << kube::text_at(said, "err");
    return static_cast<int>(kube::int_at(said, "code", exit_bad_input));
}

std::string escape_path(std::string_view text) {
    std::string out;
    for (const std::string_view part : split(text, '/')) {
        if (!out.empty()) { out += '/'; }
        out += kube::escape_query(part);
    }
    return out;
}

std::string one_text(std::span<const SourceText> sources) {
    if (sources.size() == 1) { return sources.front().text; }
    std::string out;
    for (const SourceText& source : sources) { out += "---\n" + source.text + '\n'; }
    return out;
}

}  // namespace muster::cli
