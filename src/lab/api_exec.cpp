// exec, attach and portforward of pods, as far as pods without processes have them.
#include "lab/api_ask.h"
#include "lab/exec_session.h"
#include "lab/metadata.h"
#include "lab/pod_run.h"
#include "lab/shell_place.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// The one that is asked for, or the only one.
Outcome<const json::object*> wanted_container(const json::object& pod, std::string_view name) {
    const std::vector<const json::object*> all = containers_of(pod);
    std::vector<const json::object*> main;
    const json::array* listed = kube::array_at(pod, "spec.containers");
    for (const json::object* one : all) {
        if (!name.empty() && text_at(*one, "name") == name) { return one; }
        const bool is_main = listed != nullptr && std::ranges::any_of(*listed, [&](const auto& it) {
                                 return it.if_object() == one;
                             });
        if (is_main) { main.push_back(one); }
    }
    if (!name.empty()) {
        return bad_request(fmt::format("container {} is not valid for pod {}", name, name_of(pod)));
    }
    if (main.size() == 1) { return main[0]; }
    std::string names;
    for (const json::object* one : main) {
        names += (names.empty() ? "" : " ") + std::string(text_at(*one, "name"));
    }
    return bad_request(fmt::format(
        "a container name must be specified for pod {}, choose one of: [{}]", name_of(pod), names));
}

bool runs(const json::object& pod, std::string_view container) {
    for (const char* list : {"status.containerStatuses", "status.initContainerStatuses"}) {
        const json::array* all = kube::array_at(pod, list);
        if (all == nullptr) { continue; }
        for (const json::value& one : *all) {
            if (one.is_object() && text_at(one.get_object(), "name") == container) {
                return value_at(one.get_object(), "state.running") != nullptr;
            }
        }
    }
    return false;
}

/// As a kubelet says it, in plain text.
net::HttpResponse kubelet_error(std::string text) {
    return {.status = 500,
            .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
            .body = std::move(text),
            .stream = nullptr};
}

}  // namespace

/// The command has ended when the first byte goes out, which is why `attach` finds nothing to hold.
Outcome<net::HttpResponse> Api::exec(Ask& ask) {
    const std::string& sub = ask.at.subresource;
    const std::string& method = ask.request.method;
    if (method != "GET" && method != "POST") { return not_allowed("resource"); }
    const auto pod = find(ask);
    if (!pod) { return tl::unexpected(pod.error()); }
    const std::string node(text_at(*pod, "spec.nodeName"));
    if (node.empty()) {
        return bad_request(fmt::format("pod {} does not have a host assigned", ask.at.name));
    }
    if (sub == "portforward") {
        return bad_request("the lab's pods run no processes: there is no port to forward to");
    }
    const auto container = wanted_container(*pod, ask.query("container"));
    if (!container) { return tl::unexpected(container.error()); }
    const std::string name(text_at(**container, "name"));
    if (!runs(*pod, name)) {
        return kubelet_error(fmt::format("container not found (\"{}\")", name));
    }
    if (sub == "attach") {
        return bad_request("the lab's pods run no processes: there is nothing to attach to");
    }
    const auto command = query_values(ask.request.target, "command");
    if (command.empty()) {
        return bad_request("you must specify at least 1 command for the container");
    }
    if (!net::asks_websocket(ask.request)) {
        return bad_request(
            "the lab runs commands over WebSocket only, which kubectl speaks from 1.31 on");
    }
    const std::string_view protocol = net::agreed_protocol(ask.request, exec_protocols);
    if (protocol.empty()) {
        return bad_request("expected the protocol v5.channel.k8s.io or v4.channel.k8s.io");
    }
    const auto stored_at = [&](std::string_view storage, const Key& key) {
        const Stored* found = store_.find(storage, key);
        return found == nullptr ? std::nullopt
                                : std::optional(json::parse(*found->text).get_object());
    };
    const auto its_node = stored_at("nodes", {"", node});
    const ShellPlace place =
        shell_place(*pod, **container, its_node ? &*its_node : nullptr,
                    [&](std::string_view plural, std::string_view object) {
                        return stored_at(plural, {ask.at.space, std::string(object)});
                    });
    auto response = net::accept_websocket(
        ask.request, protocol,
        make_exec_session(run_fake_command(command, place), {.has_input = ask.is_asked("stdin"),
                                                             .has_output = ask.is_asked("stdout"),
                                                             .has_errors = ask.is_asked("stderr"),
                                                             .is_terminal = ask.is_asked("tty")}));
    if (!response) { return bad_request(response.error().message); }
    return std::move(*response);
}

}  // namespace muster::lab
