#include "lab/volcano_frameworks.h"

#include "base/text.h"
#include "lab/known_resources.h"
#include "lab/volcano_object.h"
#include "lab/volcano_pods.h"
#include "net/ssh_key.h"

#include <boost/json.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

using Strings = std::vector<std::string>;

void add_variable(json::object& container, std::string_view name, std::string_view value) {
    children(container, "env").emplace_back(json::object{{"name", name}, {"value", value}});
}

std::int64_t port_of(const JobSpec& spec, std::string_view plugin, std::string_view argument,
                     std::int64_t otherwise) {
    const auto port = parse_int(plugin_argument(spec, plugin, argument, ""));
    return port && *port > 0 && *port < 65'536 ? *port : otherwise;
}

/// A port that the container names already stays as it is.
void open_port(json::object& container, std::string_view name, std::int64_t port) {
    json::array& ports = children(container, "ports");
    const bool is_open = std::any_of(ports.begin(), ports.end(), [&](const json::value& one) {
        return one.is_object() && int_at(one.get_object(), "containerPort") == port;
    });
    if (!is_open) { ports.emplace_back(json::object{{"name", name}, {"containerPort", port}}); }
}

void wire_pytorch(json::object& pod, const FrameworkPod& place) {
    const JobSpec& spec = place.spec;
    const TaskSpec* master = spec.find(plugin_argument(spec, "pytorch", "master", "master"));
    const TaskSpec* worker = spec.find(plugin_argument(spec, "pytorch", "worker", "worker"));
    if (master == nullptr) { return; }  // nobody to meet
    const std::int64_t port = port_of(spec, "pytorch", "port", 23'456);
    const std::int64_t world =
        master->replicas + (worker == nullptr || worker == master ? 0 : worker->replicas);
    const bool is_master = place.task == master->name;
    const bool is_worker = worker != nullptr && place.task == worker->name;
    if (!is_master && !is_worker) { return; }
    const std::int64_t rank = is_master ? place.index : place.index + master->replicas;
    const Strings hosts = hosts_of(place.job, *master);
    each_container(child(pod, "spec"), [&](json::object& container) {
        open_port(container, "pytorchjob-port", port);
        add_variable(container, "MASTER_ADDR", hosts.empty() ? "" : hosts.front());
        add_variable(container, "MASTER_PORT", std::to_string(port));
        add_variable(container, "WORLD_SIZE", std::to_string(world));
        add_variable(container, "RANK", std::to_string(rank));
    });
}

void wire_tensorflow(json::object& pod, const FrameworkPod& place) {
    const JobSpec& spec = place.spec;
    if (spec.tasks.size() == 1 && spec.tasks.front().replicas == 1) { return; }  // it is alone
    const std::int64_t port = port_of(spec, "tensorflow", "port", 2'222);
    json::object cluster;
    std::string_view type;
    for (const std::string_view role : {"ps", "worker", "chief", "evaluator"}) {
        const TaskSpec* task = spec.find(plugin_argument(spec, "tensorflow", role, role));
        if (task == nullptr) { continue; }
        json::array hosts;
        for (const std::string& host : hosts_of(place.job, *task)) {
            hosts.emplace_back(fmt::format("{}:{}", host, port));
        }
        cluster[role] = std::move(hosts);
        if (task->name == place.task) { type = role; }
    }
    if (type.empty()) { return; }
    const json::object config{{"cluster", std::move(cluster)},
                              {"task", {{"type", type}, {"index", place.index}}}};
    each_container(child(pod, "spec"), [&](json::object& container) {
        add_variable(container, "TF_CONFIG", json::serialize(config));
    });
}

void wire_mpi(json::object& pod, const FrameworkPod& place) {
    const JobSpec& spec = place.spec;
    const std::string master = plugin_argument(spec, "mpi", "master", "master");
    const TaskSpec* worker = spec.find(plugin_argument(spec, "mpi", "worker", "worker"));
    const std::int64_t port = port_of(spec, "mpi", "port", 22);
    const Strings hosts = worker == nullptr ? Strings() : hosts_of(place.job, *worker);
    each_container(child(pod, "spec"), [&](json::object& container) {
        open_port(container, "mpijob-port", port);
        if (place.task == master) {
            add_variable(container, "MPI_HOST", fmt::format("{}", fmt::join(hosts, ",")));
        }
    });
}

struct RayPorts {
    std::int64_t gcs = 0;
    std::int64_t dashboard = 0;
    std::int64_t client = 0;
};

RayPorts ray_ports(const JobSpec& spec) {
    return {.gcs = port_of(spec, "ray", "port", 6'379),
            .dashboard = port_of(spec, "ray", "dashboardPort", 8'265),
            .client = port_of(spec, "ray", "clientPort", 10'001)};
}

void wire_ray(json::object& pod, const FrameworkPod& place) {
    const JobSpec& spec = place.spec;
    const TaskSpec* head = spec.find(plugin_argument(spec, "ray", "head", "head"));
    const std::string worker = plugin_argument(spec, "ray", "worker", "worker");
    if (head == nullptr) { return; }
    const bool is_head = place.task == head->name;
    if (!is_head && place.task != worker) { return; }
    const std::string name = is_head ? plugin_argument(spec, "ray", "headContainer", "head")
                                     : plugin_argument(spec, "ray", "workerContainer", "worker");
    const RayPorts ports = ray_ports(spec);
    const Strings hosts = hosts_of(place.job, *head);
    for (json::value& one : children(child(pod, "spec"), "containers")) {
        if (!one.is_object() || text_at(one.get_object(), "name") != name) { continue; }
        json::object& container = one.get_object();
        if (is_head) {
            container["command"] = json::array{
                "sh", "-c",
                fmt::format("ray start --head --block --dashboard-host=0.0.0.0 --port={} "
                            "--dashboard-port={} --ray-client-server-port={}",
                            ports.gcs, ports.dashboard, ports.client)};
            open_port(container, "gcs", ports.gcs);
            open_port(container, "dashboard", ports.dashboard);
            open_port(container, "client-server", ports.client);
        } else {
            container["command"] =
                json::array{"sh", "-c",
                            fmt::format("ray start --block --address={}:{}",
                                        hosts.empty() ? "" : hosts.front(), ports.gcs)};
        }
    }
}

/// Of the user that containers run as when nothing else is said.
constexpr std::string_view home_of_ssh =
    "/"
    "root/.ssh";

std::string ssh_name(const json::object& job) {
    return fmt::format("{}-ssh", text_at(job, "metadata.name"));
}

bool is_rootless(const JobSpec& spec) {
    return plugin_argument(spec, "ssh", "no-root", "false") == "true";
}

void wire_ssh(json::object& pod, const FrameworkPod& place) {
    const std::string name = ssh_name(place.job);
    json::array items;
    for (const std::string_view key : {"id_rsa", "id_rsa.pub", "authorized_keys", "config"}) {
        items.emplace_back(json::object{{"key", key}, {"path", fmt::format(".ssh/{}", key)}});
    }
    constexpr int owner_only = 0600;
    json::object& pod_spec = child(pod, "spec");
    children(pod_spec, "volumes")
        .emplace_back(json::object{
            {"name", name},
            {"secret",
             {{"secretName", name}, {"items", std::move(items)}, {"defaultMode", owner_only}}}});
    const std::string path = plugin_argument(
        place.spec, "ssh", "ssh-key-file-path",
        is_rootless(place.spec) ? std::string_view("/etc/volcano/.ssh") : home_of_ssh);
    each_container(pod_spec, [&](json::object& container) {
        children(container, "volumeMounts")
            .emplace_back(json::object{{"name", name}, {"mountPath", path}, {"subPath", ".ssh"}});
    });
}

std::string ssh_config(const json::object& job, const JobSpec& spec) {
    std::string out = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n";
    for (const TaskSpec& task : spec.tasks) {
        for (const std::string& host : hosts_of(job, task)) {
            out += fmt::format("Host {}\n  HostName {}\n", host.substr(0, host.find('.')), host);
        }
    }
    return out;
}

json::object named(std::string_view kind, const std::string& name, const json::object& job) {
    return {{"apiVersion", "v1"},
            {"kind", kind},
            {"metadata",
             {{"name", name},
              {"namespace", text_at(job, "metadata.namespace")},
              {"ownerReferences", owned_by(job)}}}};
}

}  // namespace

bool has_plugin(const JobSpec& spec, std::string_view plugin) {
    const json::object* plugins = object_at(*spec.raw, "plugins");
    if (plugins == nullptr) { return false; }
    if (plugins->contains(plugin)) { return true; }
    if (plugin == "ssh") { return plugins->contains("mpi"); }
    return plugin == "svc" && (plugins->contains("mpi") || plugins->contains("pytorch") ||
                               plugins->contains("tensorflow") || plugins->contains("ray"));
}

/// "--name=value", "-name=value", "--name value", or "--name" alone, which is "true".
std::string plugin_argument(const JobSpec& spec, std::string_view plugin, std::string_view name,
                            std::string_view otherwise) {
    const json::object* plugins = object_at(*spec.raw, "plugins");
    const json::value* arguments = plugins == nullptr ? nullptr : plugins->if_contains(plugin);
    if (arguments == nullptr || !arguments->is_array()) { return std::string(otherwise); }
    const json::array& all = arguments->get_array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].is_string()) { continue; }
        std::string_view text = all[i].get_string();
        if (!text.starts_with('-')) { continue; }
        text.remove_prefix(text.starts_with("--") ? 2 : 1);
        if (!text.starts_with(name)) { continue; }
        text.remove_prefix(name.size());
        if (text.starts_with('=')) { return std::string(text.substr(1)); }
        if (!text.empty()) { continue; }
        const bool has_next = i + 1 < all.size() && all[i + 1].is_string() &&
                              !std::string_view(all[i + 1].get_string()).starts_with('-');
        return has_next ? std::string(all[i + 1].get_string()) : "true";
    }
    return std::string(otherwise);
}

std::vector<std::string> hosts_of(const json::object& job, const TaskSpec& task) {
    const std::string_view host = text_at(*task.raw, "template.spec.hostname");
    const std::string_view domain =
        text_or(*task.raw, "template.spec.subdomain", text_at(job, "metadata.name"));
    if (!host.empty() && task.replicas > 0) { return {fmt::format("{}.{}", host, domain)}; }
    std::vector<std::string> out;
    for (std::int64_t i = 0; i < task.replicas; ++i) {
        out.push_back(fmt::format("{}.{}", pod_name(job, task.name, i), domain));
    }
    return out;
}

void each_container(json::object& pod_spec, const std::function<void(json::object&)>& work) {
    for (const std::string_view list : {"containers", "initContainers"}) {
        if (array_at(pod_spec, {list}) == nullptr) { continue; }
        for (json::value& container : children(pod_spec, list)) {
            if (container.is_object()) { work(container.get_object()); }
        }
    }
}

void wire_frameworks(json::object& pod, const FrameworkPod& place) {
    if (has_plugin(place.spec, "ssh")) { wire_ssh(pod, place); }
    if (has_plugin(place.spec, "pytorch")) { wire_pytorch(pod, place); }
    if (has_plugin(place.spec, "tensorflow")) { wire_tensorflow(pod, place); }
    if (has_plugin(place.spec, "mpi")) { wire_mpi(pod, place); }
    if (has_plugin(place.spec, "ray")) { wire_ray(pod, place); }
}

std::vector<std::pair<kube::Resource, json::object>> framework_objects(const json::object& job,
                                                                       const JobSpec& spec) {
    std::vector<std::pair<kube::Resource, json::object>> out;
    if (has_plugin(spec, "ssh")) {
        json::object secret = named("Secret", ssh_name(job), job);
        secret["stringData"] = json::object{{"config", ssh_config(job, spec)}};
        out.emplace_back(known::secrets, std::move(secret));
    }
    if (has_plugin(spec, "ray")) {
        const RayPorts ports = ray_ports(spec);
        json::array list;
        for (const auto& [name, port] :
             {std::pair<std::string_view, std::int64_t>{"gcs", ports.gcs},
              {"dashboard", ports.dashboard},
              {"client-server", ports.client}}) {
            list.emplace_back(json::object{{"name", name}, {"port", port}, {"targetPort", port}});
        }
        json::object service =
            named("Service", fmt::format("{}-head-svc", text_at(job, "metadata.name")), job);
        service["spec"] =
            json::object{{"selector",
                          {{"volcano.sh/job-name", text_at(job, "metadata.name")},
                           {"volcano.sh/task-spec", plugin_argument(spec, "ray", "head", "head")}}},
                         {"ports", std::move(list)}};
        out.emplace_back(known::services, std::move(service));
    }
    return out;
}

/// Keys that the job itself brings are taken as they are.
void add_ssh_keys(json::object& secret, const JobSpec& spec) {
    std::string private_key = plugin_argument(spec, "ssh", "ssh-private-key", "");
    std::string public_key = plugin_argument(spec, "ssh", "ssh-public-key", "");
    if (private_key.empty() || public_key.empty()) {
        const auto made = net::make_ssh_key();
        if (!made) { return; }
        private_key = made->private_key;
        public_key = made->public_key;
    }
    json::object& data = child(secret, "stringData");
    data["id_rsa"] = private_key;
    data["id_rsa.pub"] = public_key;
    data["authorized_keys"] = public_key;
}

}  // namespace muster::lab::volcano
