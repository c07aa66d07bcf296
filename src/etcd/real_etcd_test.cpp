#include "etcd/real_etcd_test.h"

#include "etcd/http_gateway.h"
#include "etcd/key_value.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;  // NOLINT: as POSIX has it

namespace muster::etcd {

namespace {

std::array<std::uint16_t, 2> free_ports() {
    std::array<int, 2> sockets{};
    std::array<std::uint16_t, 2> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
        sockets[i] = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        if (bind(sockets[i], reinterpret_cast<const sockaddr*>(&at), size) == 0) {
            getsockname(sockets[i], reinterpret_cast<sockaddr*>(&at), &size);
        }
        out[i] = ntohs(at.sin_port);
    }
    for (const int one : sockets) { close(one); }
    return out;
}

}  // namespace

std::optional<std::string> RealEtcd::program() {
    const char* const folder = std::getenv("MUSTER_KUBE_DIR");
    if (folder == nullptr || *folder == '\0') { return std::nullopt; }
    const std::string file = std::string(folder) + "/etcd";
    if (access(file.c_str(), X_OK) != 0) { return std::nullopt; }
    return file;
}

std::unique_ptr<RealEtcd> RealEtcd::start(bool is_synced) {
    constexpr int attempts = 3;  // another process can take a port between our look and its start
    for (int i = 0; i < attempts; ++i) {
        std::unique_ptr<RealEtcd> out(new RealEtcd);
        if (out->begin(is_synced)) { return out; }
    }
    return nullptr;
}

bool RealEtcd::begin(bool is_synced) {
    const std::filesystem::path memory = "/dev/shm";
    const auto base = !is_synced && std::filesystem::exists(memory)
                          ? memory
                          : std::filesystem::temp_directory_path();
    std::string name = base / "muster_etcd_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) { return false; }
    folder_ = name;
    const auto [port, peer] = free_ports();
    port_ = port;
    const std::string client = fmt::format("http://127.0.0.1:{}", port);
    const std::string other = fmt::format("http://127.0.0.1:{}", peer);
    std::vector<std::string> words = {*program(),
                                      "--data-dir=" + folder_ + "/data",
                                      "--name=one",
                                      "--log-level=error",
                                      "--listen-client-urls=" + client,
                                      "--advertise-client-urls=" + client,
                                      "--listen-peer-urls=" + other,
                                      "--initial-advertise-peer-urls=" + other,
                                      "--initial-cluster=one=" + other};
    if (!is_synced) { words.emplace_back("--unsafe-no-fsync"); }
    std::vector<char*> arguments;
    for (std::string& word : words) { arguments.push_back(word.data()); }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string log = folder_ + "/log";
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int wrong =
        posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (wrong != 0) { return false; }
    process_ = child;
    const auto gateway = connect_gateway({.address = address("/ready"), .wait_ms = 1'000});
    const std::string question = text_of(RangeQuery{.key = "/ready"});
    constexpr int tries = 600;
    constexpr int pause_ms = 50;
    for (int i = 0; i < tries; ++i) {
        if (waitpid(child, nullptr, WNOHANG) != 0) {
            process_ = 0;
            return false;
        }
        const auto said = gateway->ask(range_path, question);
        if (said && read_range(*said)) { return true; }
        poll(nullptr, 0, pause_ms);
    }
    return false;
}

RealEtcd::~RealEtcd() {
    if (process_ > 0) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    std::error_code ignored;
    if (!folder_.empty()) { std::filesystem::remove_all(folder_, ignored); }
}

Address RealEtcd::address(const std::string& prefix) const {
    return {.endpoints = {{.host = "127.0.0.1", .port = port_}}, .prefix = prefix, .is_tls = false};
}

}  // namespace muster::etcd
