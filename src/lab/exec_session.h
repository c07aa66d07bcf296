// `kubectl exec` over WebSocket: the channel protocol of Kubernetes, versions 4 and 5, for a
// command that a fake shell has already answered.
#pragma once

#include "lab/fake_shell.h"
#include "net/websocket.h"

#include <array>
#include <memory>
#include <string_view>

namespace muster::lab {

inline constexpr std::array<std::string_view, 2> exec_protocols{"v5.channel.k8s.io",
                                                                "v4.channel.k8s.io"};

struct ExecOptions {
    bool has_input = false;
    bool has_output = false;
    bool has_errors = false;
    bool is_terminal = false;
};

std::unique_ptr<net::WebSocketTalk> make_exec_session(ShellOutput output, ExecOptions options);

}  // namespace muster::lab
