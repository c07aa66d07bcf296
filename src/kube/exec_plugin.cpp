#include "kube/exec_plugin.h"

#include "base/base64.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <spawn.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT: as POSIX has it

namespace muster::kube {

namespace json = boost::json;

namespace {

std::int64_t steady_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// A pipe's end.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void close() {
        if (number_ >= 0) { ::close(number_); }
        number_ = -1;
    }
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

/// The variables that there are, but for those that are set anew.
std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
    std::vector<std::string> out;
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view text(*one);
        const std::string_view name = text.substr(0, text.find('=') + 1);
        const bool is_set_anew =
            std::any_of(variables.begin(), variables.end(),
                        [&](const std::string& set) { return set.starts_with(name); });
        if (!is_set_anew) { out.emplace_back(text); }
    }
    out.insert(out.end(), variables.begin(), variables.end());
    return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) { out.push_back(text.data()); }
    out.push_back(nullptr);
    return out;
}

/// In a process group of its own, so that its children end with it.
Result<pid_t> spawn(const ProgramRun& run, int out_end) {
    std::vector<std::string> words = run.words;
    std::vector<std::string> variables = environment_with(run.variables);
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> environment = pointers_to(variables);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out_end, STDOUT_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t child = 0;
    const int wrong = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(),
                                   environment.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (wrong == ENOENT) { return fail(Code::not_found, "is not installed"); }
    if (wrong != 0) {
        return fail(Code::unavailable, fmt::format("could not be started: {}", strerror(wrong)));
    }
    return child;
}

/// All that comes until the end.
Result<std::string> read_all(int from, const ProgramRun& run) {
    const std::int64_t end = steady_ms() + run.timeout_ms;
    std::string out;
    std::array<char, 4096> piece{};
    for (;;) {
        const std::int64_t left = end - steady_ms();
        pollfd waited{.fd = from, .events = POLLIN, .revents = 0};
        const int ready = left <= 0 ? 0 : poll(&waited, 1, static_cast<int>(left));
        if (ready < 0 && errno == EINTR) { continue; }
        if (ready == 0) {
            return fail(Code::timeout, fmt::format("did not end within {} ms", run.timeout_ms));
        }
        const ssize_t count = ready < 0 ? -1 : read(from, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) { continue; }
        if (count < 0) { return fail(Code::unavailable, "can't be heard"); }
        if (count == 0) { return out; }
        out.append(piece.data(), static_cast<std::size_t>(count));
        if (out.size() > run.bytes_max) {
            return fail(Code::limit, fmt::format("wrote over {} bytes", run.bytes_max));
        }
    }
}

Result<> wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) { return fail(Code::unavailable, "its end was not seen"); }
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) { return {}; }
    if (WIFEXITED(status)) {
        return fail(Code::unavailable, fmt::format("ended with code {}", WEXITSTATUS(status)));
    }
    return fail(Code::unavailable, fmt::format("ended by signal {}", WTERMSIG(status)));
}

}  // namespace

Result<std::string> run_program(const ProgramRun& run) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) { return fail(Code::unavailable, "no pipe"); }
    const Descriptor from(ends[0]);
    Descriptor to(ends[1]);
    MUSTER_TRY(child, spawn(run, to.number()));
    to.close();
    auto out = read_all(from.number(), run);
    if (!out) { kill(-child, SIGKILL); }
    auto ended = wait_for(child);
    if (!out) { return out; }
    MUSTER_CHECK(std::move(ended));
    return out;
}

Result<ExecCredential> read_exec_credential(std::string_view text, std::string_view api_version) {
    boost::system::error_code error;
    const json::value parsed = json::parse(text, error);
    const json::object* root = error ? nullptr : parsed.if_object();
    if (root == nullptr) { return fail(Code::invalid, "its answer is no JSON object"); }
    if (text_at(*root, "kind") != "ExecCredential" || text_at(*root, "apiVersion") != api_version) {
        return fail(Code::invalid,
                    fmt::format("its answer is no ExecCredential of {}", api_version));
    }
    ExecCredential out{.token = std::string(text_at(*root, "status.token")),
                       .certificate = std::string(text_at(*root, "status.clientCertificateData")),
                       .key = std::string(text_at(*root, "status.clientKeyData"))};
    if (out.certificate.empty() != out.key.empty()) {
        return fail(Code::invalid,
                    "its status has one of clientCertificateData and clientKeyData, "
                    "expected both or none");
    }
    if (out.token.empty() && out.certificate.empty()) {
        return fail(Code::invalid, "its status has no token and no clientCertificateData");
    }
    if (const std::string_view expires = text_at(*root, "status.expirationTimestamp");
        !expires.empty()) {
        out.expires_ms = read_time(expires);
        if (out.expires_ms < 0) {
            return fail(Code::invalid, "its status.expirationTimestamp is no RFC 3339 time");
        }
    }
    return out;
}

std::string exec_info(const ExecPlugin& plugin, const KubeCluster& cluster,
                      std::string_view authority) {
    json::object spec{{"interactive", false}};
    if (plugin.knows_cluster) {
        json::object told{{"server", cluster.server}};
        if (!cluster.tls_name.empty()) { told["tls-server-name"] = cluster.tls_name; }
        if (!cluster.is_verified) { told["insecure-skip-tls-verify"] = true; }
        if (!authority.empty()) { told["certificate-authority-data"] = encode_base64(authority); }
        if (!cluster.exec_extension.empty()) {
            told["config"] = json::parse(cluster.exec_extension);
        }
        spec["cluster"] = std::move(told);
    }
    return json::serialize(json::object{
        {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const std::string& info) {
    ProgramRun run;
    run.words = {plugin.command};
    run.words.insert(run.words.end(), plugin.arguments.begin(), plugin.arguments.end());
    for (const auto& [name, value] : plugin.variables) {
        run.variables.push_back(fmt::format("{}={}", name, value));
    }
    run.variables.push_back("KUBERNETES_EXEC_INFO=" + info);
    auto text = run_program(run);
    auto read = text ? read_exec_credential(*text, plugin.api_version)
                     : Result<ExecCredential>(tl::unexpected(text.error()));
    if (read) { return read; }
    Error error = std::move(read).error();
    if (error.code == Code::not_found && !plugin.hint.empty()) {
        error.message += "; " + plugin.hint;
    }
    return tl::unexpected(std::move(error).wrap("exec: " + plugin.command));
}

}  // namespace muster::kube
