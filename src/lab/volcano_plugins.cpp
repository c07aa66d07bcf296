#include "lab/volcano_plugins.h"

#include "lab/known_resources.h"
#include "lab/volcano_frameworks.h"
#include "lab/volcano_object.h"
#include "lab/volcano_pods.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

std::string variable_part(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string hosts_map_name(const json::object& job) {
    return fmt::format("{}-svc", text_at(job, "metadata.name"));
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string out;
    for (const std::string& part : parts) {
        if (!out.empty()) { out += separator; }
        out += part;
    }
    return out;
}

json::object hosts_data(const json::object& job, const JobSpec& spec) {
    json::object data;
    for (const TaskSpec& task : spec.tasks) {
        const std::vector<std::string> hosts = hosts_of(job, task);
        const std::string part = variable_part(task.name);
        data[part + ".host"] = join(hosts, "\n");
        data[fmt::format("VC_{}_HOSTS", upper(part))] = join(hosts, ",");
        data[fmt::format("VC_{}_NUM", upper(part))] = std::to_string(hosts.size());
    }
    return data;
}

void wire_svc(json::object& pod, const json::object& job, const JobSpec& spec) {
    json::object& pod_spec = child(pod, "spec");
    if (text_at(pod_spec, "hostname").empty()) {
        pod_spec["hostname"] = text_at(pod, "metadata.name");
    }
    if (text_at(pod_spec, "subdomain").empty()) {
        pod_spec["subdomain"] = text_at(job, "metadata.name");
    }
    const std::string map = hosts_map_name(job);
    children(pod_spec, "volumes")
        .emplace_back(json::object{{"name", map}, {"configMap", {{"name", map}}}});
    each_container(pod_spec, [&](json::object& container) {
        for (const TaskSpec& task : spec.tasks) {
            for (const std::string_view what : {"HOSTS", "NUM"}) {
                const std::string name =
                    fmt::format("VC_{}_{}", upper(variable_part(task.name)), what);
                children(container, "env")
                    .emplace_back(json::object{
                        {"name", name},
                        {"valueFrom", {{"configMapKeyRef", {{"name", map}, {"key", name}}}}}});
            }
        }
        children(container, "volumeMounts")
            .emplace_back(json::object{{"name", map}, {"mountPath", "/etc/volcano"}});
    });
}

void wire_env(json::object& pod, std::int64_t index) {
    each_container(child(pod, "spec"), [&](json::object& container) {
        for (const std::string_view name : {"VK_TASK_INDEX", "VC_TASK_INDEX"}) {
            children(container, "env")
                .emplace_back(json::object{{"name", name}, {"value", std::to_string(index)}});
        }
    });
}

}  // namespace

void wire_pod(json::object& pod, const json::object& job, const JobSpec& spec, std::int64_t index) {
    if (has_plugin(spec, "svc")) { wire_svc(pod, job, spec); }
    if (has_plugin(spec, "env")) { wire_env(pod, index); }
    wire_frameworks(pod, {.job = job,
                          .spec = spec,
                          .task = kube::label_of(pod, "volcano.sh/task-spec"),
                          .index = index});
}

std::vector<std::pair<kube::Resource, json::object>> plugin_objects(const json::object& job,
                                                                    const JobSpec& spec) {
    auto out = framework_objects(job, spec);
    if (!has_plugin(spec, "svc")) { return out; }
    const std::string_view name = text_at(job, "metadata.name");
    const std::string_view space = text_at(job, "metadata.namespace");
    bool publishes_all = false;
    if (const json::array* arguments = array_at(*spec.raw, "plugins.svc")) {
        for (const json::value& argument : *arguments) {
            publishes_all =
                publishes_all ||
                (argument.is_string() &&
                 argument.get_string().find("publish-not-ready-addresses=false") ==
                     json::string::npos &&
                 argument.get_string().find("publish-not-ready-addresses") != json::string::npos);
        }
    }
    json::object map{
        {"apiVersion", "v1"},
        {"kind", "ConfigMap"},
        {"metadata",
         {{"name", hosts_map_name(job)}, {"namespace", space}, {"ownerReferences", owned_by(job)}}},
        {"data", hosts_data(job, spec)}};
    json::object service{
        {"apiVersion", "v1"},
        {"kind", "Service"},
        {"metadata", {{"name", name}, {"namespace", space}, {"ownerReferences", owned_by(job)}}},
        {"spec",
         {{"clusterIP", "None"},
          {"selector", {{"volcano.sh/job-name", name}, {"volcano.sh/job-namespace", space}}}}}};
    if (publishes_all) { child(service, "spec")["publishNotReadyAddresses"] = true; }
    out.emplace_back(known::config_maps, std::move(map));
    out.emplace_back(known::services, std::move(service));
    return out;
}

}  // namespace muster::lab::volcano
