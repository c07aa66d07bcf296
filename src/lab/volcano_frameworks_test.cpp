#include "lab/volcano_frameworks.h"

#include "kube/objects.h"
#include "lab/volcano_plugins.h"
#include "lab/volcano_pods.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace muster::lab::volcano {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// A job `j` in `team` with those tasks ("name replicas") and plugins.
json::object job_of(const std::vector<std::pair<std::string, int>>& tasks,
                    std::string_view plugins) {
    json::array list;
    for (const auto& [name, replicas] : tasks) {
        list.push_back(json::object{
            {"name", name},
            {"replicas", replicas},
            {"template", {{"spec", {{"containers", json::array{json::object{{"name", name}}}}}}}}});
    }
    return {{"metadata", {{"name", "j"}, {"namespace", "team"}, {"uid", "u"}}},
            {"spec", {{"tasks", std::move(list)}, {"plugins", json::parse(plugins)}}}};
}

json::object pod_of(const json::object& job, std::string_view task, std::int64_t index) {
    const JobSpec spec = read_spec(job);
    return make_pod(job, spec, {.task = *spec.find(task), .index = index, .version = 0});
}

/// "NAME=value" of the first container's variables, but for those of svc.
std::vector<std::string> variables(const json::object& pod) {
    std::vector<std::string> out;
    const json::object& container = pod.at("spec").at("containers").at(0).as_object();
    const json::array* list = kube::array_at(container, "env");
    for (const json::value& one : list == nullptr ? json::array() : *list) {
        const json::object& variable = one.as_object();
        if (!variable.contains("value")) { continue; }
        out.push_back(fmt::format("{}={}", kube::text_at(variable, "name"),
                                  kube::text_at(variable, "value")));
    }
    return out;
}

std::vector<std::int64_t> ports(const json::object& pod) {
    std::vector<std::int64_t> out;
    const json::object& container = pod.at("spec").at("containers").at(0).as_object();
    const json::array* list = kube::array_at(container, "ports");
    for (const json::value& one : list == nullptr ? json::array() : *list) {
        out.push_back(kube::int_at(one.as_object(), "containerPort"));
    }
    return out;
}

struct Case {
    std::string_view name;
    std::vector<std::pair<std::string, int>> tasks;
    std::string_view plugins;
    std::string_view task;
    int index = 0;
    std::vector<std::string> variables;
    std::vector<std::int64_t> ports;
};
void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

class Frameworks : public testing::TestWithParam<Case> {};

TEST_P(Frameworks, TellAPodWhereTheOthersAre) {
    const Case& of = GetParam();

    const json::object pod = pod_of(job_of(of.tasks, of.plugins), of.task, of.index);

    EXPECT_EQ(variables(pod), of.variables);
    EXPECT_EQ(ports(pod), of.ports);
}

const std::vector<std::pair<std::string, int>> usual{{"master", 1}, {"worker", 2}};

INSTANTIATE_TEST_SUITE_P(
    All, Frameworks,
    testing::Values(
        Case{"PytorchMaster",
             usual,
             R"({"pytorch":[]})",
             "master",
             0,
             {"MASTER_ADDR=j-master-0.j", "MASTER_PORT=23456", "WORLD_SIZE=3", "RANK=0"},
             {23456}},
        Case{"PytorchWorker",
             usual,
             R"({"pytorch":["--master=master","--worker=worker","--port=29500"]})",
             "worker",
             1,
             {"MASTER_ADDR=j-master-0.j", "MASTER_PORT=29500", "WORLD_SIZE=3", "RANK=2"},
             {29500}},
        Case{"PytorchOtherNames",
             {{"head", 1}, {"node", 3}},
             R"({"pytorch":["--master","head","--worker","node"]})",
             "node",
             0,
             {"MASTER_ADDR=j-head-0.j", "MASTER_PORT=23456", "WORLD_SIZE=4", "RANK=1"},
             {23456}},
        Case{"PytorchWithoutMaster", {{"node", 3}}, R"({"pytorch":[]})", "node", 0, {}, {}},
        Case{"MpiMaster",
             usual,
             R"({"mpi":["--master=master","--worker=worker","--port=22"]})",
             "master",
             0,
             {"MPI_HOST=j-worker-0.j,j-worker-1.j"},
             {22}},
        Case{"MpiWorker", usual, R"({"mpi":[]})", "worker", 0, {}, {22}},
        Case{"Tensorflow",
             {{"ps", 1}, {"worker", 2}},
             R"({"tensorflow":["--port=5000"]})",
             "worker",
             1,
             {R"(TF_CONFIG={"cluster":{"ps":["j-ps-0.j:5000"],)"
              R"("worker":["j-worker-0.j:5000","j-worker-1.j:5000"]},)"
              R"("task":{"type":"worker","index":1}})"},
             {}},
        Case{"TensorflowAlone", {{"worker", 1}}, R"({"tensorflow":[]})", "worker", 0, {}, {}},
        Case{"RayHead",
             {{"head", 1}, {"worker", 2}},
             R"({"ray":[]})",
             "head",
             0,
             {},
             {6379, 8265, 10001}}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(VolcanoFrameworks, RayCommandsItsHeadAndWorkers) {
    const json::object job = job_of({{"head", 1}, {"worker", 2}}, R"({"ray":["--port=7000"]})");
    const auto command = [&](std::string_view task) {
        return json::serialize(
            pod_of(job, task, 0).at("spec").at("containers").at(0).at("command"));
    };

    EXPECT_THAT(command("head"), HasSubstr("ray start --head --block"));
    EXPECT_THAT(command("head"), HasSubstr("--port=7000"));
    EXPECT_THAT(command("worker"), HasSubstr("ray start --block --address=j-head-0.j:7000"));
    const auto objects = plugin_objects(job, read_spec(job));
    EXPECT_EQ(kube::text_at(objects.at(0).second, "metadata.name"), "j-head-svc");
    EXPECT_EQ(objects.size(), 3U);  // with svc's service and its map
}

TEST(VolcanoFrameworks, MpiBringsSshIntoEachPod) {
    const json::object job = job_of(usual, R"({"mpi":[]})");

    const json::object pod = pod_of(job, "worker", 0);

    const std::string text = json::serialize(pod);
    EXPECT_THAT(text, HasSubstr(R"("secretName":"j-ssh")"));
    EXPECT_THAT(text, HasSubstr(R"(root/.ssh","subPath":".ssh")"));
    auto objects = plugin_objects(job, read_spec(job));
    json::object& secret = objects.at(0).second;
    EXPECT_EQ(kube::text_at(secret, "metadata.name"), "j-ssh");
    EXPECT_THAT(std::string(kube::text_at(secret, "stringData.config")),
                HasSubstr("Host j-worker-1\n  HostName j-worker-1.j\n"));
    add_ssh_keys(secret, read_spec(job));
    const json::object& data = secret.at("stringData").as_object();
    EXPECT_EQ(data.at("id_rsa.pub"), data.at("authorized_keys"));
    EXPECT_THAT(std::string(data.at("id_rsa").as_string()), HasSubstr("RSA PRIVATE KEY"));
}

TEST(VolcanoFrameworks, SshGoesWhereAUserWithoutRootCanReadIt) {
    const json::object job = job_of(usual, R"({"ssh":["--no-root"]})");

    EXPECT_THAT(json::serialize(pod_of(job, "worker", 0)),
                HasSubstr(R"("mountPath":"/etc/volcano/.ssh")"));
}

}  // namespace
}  // namespace muster::lab::volcano
