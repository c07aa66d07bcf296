// Slices of cut GPUs, and nodes and GPUs that fail.
#include "cli/lab_demo.h"
#include "kube/objects.h"
#include "lab/fleet_orders.h"
#include "lab/known_resources.h"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace muster::cli {

namespace json = boost::json;

namespace {

std::string slices_manifest(std::string_view name, int count) {
    return fmt::format(
        "apiVersion: batch/v1\n"
        "kind: Job\n"
        "metadata: {{name: {0}}}\n"
        "spec:\n"
        "  parallelism: {1}\n"
        "  completions: {1}\n"
        "  template:\n"
        "    spec:\n"
        "      restartPolicy: Never\n"
        "      containers:\n"
        "      - {{name: notebook, image: busybox, command: [sleep, \"86400\"],\n"
        "         resources: {{limits: {{nvidia.com/mig-1g.10gb: 1}}}}}}\n",
        name, count);
}

std::string gang_manifest(std::string_view name, int count, std::string_view resource) {
    return fmt::format(
        "apiVersion: batch.volcano.sh/v1alpha1\n"
        "kind: Job\n"
        "metadata: {{name: {0}}}\n"
        "spec:\n"
        "  minAvailable: {1}\n"
        "  schedulerName: volcano\n"
        "  maxRetry: 10\n"
        "  policies:\n"
        "  - {{event: PodEvicted, action: RestartJob}}\n"
        "  - {{event: PodFailed, action: RestartJob}}\n"
        "  tasks:\n"
        "  - name: worker\n"
        "    replicas: {1}\n"
        "    template:\n"
        "      spec:\n"
        "        restartPolicy: Never\n"
        "        containers:\n"
        "        - {{name: worker, image: busybox, command: [sleep, \"86400\"],\n"
        "           resources: {{limits: {{{2}: 1}}}}}}\n",
        name, count, resource);
}

/// Tells the order and the command that it names.
Result<> tell(DemoLab& lab, const Result<std::string>& order) {
    MUSTER_TRY(text, Result<std::string>(order));
    const std::size_t line = text.find("\n  ");
    if (line != std::string::npos) { lab.tell_command(std::string_view(text).substr(line + 3)); }
    return {};
}

std::string_view ready(const DemoLab& lab, const std::string& node) {
    const json::object* found = lab.node(node);
    return found ? kube::condition_of(*found, "Ready") : std::string_view();
}

bool has_taint(const DemoLab& lab, const std::string& node, std::string_view key) {
    const json::object* found = lab.node(node);
    const json::array* taints = found ? kube::array_at(*found, "spec.taints") : nullptr;
    for (const json::value& one : taints ? *taints : json::array()) {
        if (one.is_object() && kube::text_at(one.get_object(), "key") == key) { return true; }
    }
    return false;
}

bool is_off(const DemoLab& lab, std::string_view prefix, const std::string& node) {
    return !lab.places(prefix).contains(node);
}

}  // namespace

Result<> show_lab_mig(Stage& stage) {
    stage.title("Slices of cut GPUs");
    stage.say("2 nodes of 8 A100; MIG cuts those of the second into 7 slices each.");
    LabVerbOptions options;
    options.like = "a100-mixed:2";
    options.speed = 60;
    MUSTER_TRY(lab, DemoLab::up(stage, options));
    MUSTER_CHECK(lab->apply(slices_manifest("notebooks", 50)));
    bool is_so = lab->until([&] { return lab->running("notebooks-") == 50; });
    stage.check(
        is_so && lab->places("notebooks-").size() == 1,
        fmt::format("50 notebooks of one slice run: {}", text_of(lab->places("notebooks-"))));

    stage.title("… until there are not enough");
    MUSTER_CHECK(lab->apply(gang_manifest("sweep", 10, "nvidia.com/mig-1g.10gb")));
    is_so =
        lab->until([&] { return lab->reason("sweep").find("room for 6") != std::string::npos; });
    stage.check(is_so, fmt::format("a gang of 10 slices waits: {}", lab->reason("sweep")));
    stage.check(lab->placed("sweep-") == 0,
                fmt::format("it holds {} of the 6 that are left", lab->placed("sweep-")));

    stage.title("… and there are again");
    lab->tell_command("kubectl delete job notebooks");
    MUSTER_CHECK(
        lab->hand().ask(kube::delete_call(lab::known::jobs, {"default", "notebooks"},
                                          {.uid = {}, .grace = -1, .propagation = "Background"})));
    is_so = lab->until([&] { return lab->running("sweep-") == 10; });
    stage.check(is_so, fmt::format("the gang starts: {}", text_of(lab->places("sweep-"))));
    return {};
}

Result<> show_lab_failure(Stage& stage) {
    stage.title("A gang runs on three nodes of 4 GPUs");
    LabVerbOptions options;
    options.nodes = "3x4";
    options.speed = 200;  // five minutes are a second and a half
    MUSTER_TRY(lab, DemoLab::up(stage, options));
    MUSTER_CHECK(lab->apply(gang_manifest("train", 8, "nvidia.com/gpu")));
    bool is_so = lab->until([&] { return lab->running("train-") == 8; });
    stage.check(is_so, fmt::format("all 8 run: {}", text_of(lab->places("train-"))));
    if (lab->places("train-").empty()) { return fail(Code::timeout, "the gang has no place"); }

    const std::string first = lab->places("train-").begin()->first;
    stage.title(fmt::format("{} stops to answer", first));
    MUSTER_CHECK(tell(*lab, lab::fail_node(lab->hand(), {.node = first, .why = "power"})));
    is_so = lab->until([&] {
        return ready(*lab, first) == "Unknown" &&
               has_taint(*lab, first, "node.kubernetes.io/unreachable");
    });
    stage.check(is_so, "its condition Ready is Unknown, and it is tainted as unreachable");
    stage.say("after the five lab minutes that pods tolerate this, they are evicted:");
    is_so =
        lab->until([&] { return lab->running("train-") == 8 && is_off(*lab, "train-", first); });
    stage.check(
        is_so, fmt::format("the job has started again, whole: {}", text_of(lab->places("train-"))));
    if (lab->places("train-").empty()) { return fail(Code::timeout, "the gang has no place"); }

    const std::string second = lab->places("train-").begin()->first;
    stage.title(fmt::format("GPU 0 of {} falls off the bus", second));
    MUSTER_CHECK(tell(*lab, lab::fail_gpu(lab->hand(), {second, 0}, 79)));
    is_so = lab->until([&] {
        return lab->placed("train-") == 0 &&
               lab->reason("train").find("room for 7") != std::string::npos;
    });
    stage.check(is_so,
                fmt::format("the pod that held it fails, and with it the job; 7 GPUs are too "
                            "few: {}",
                            lab->reason("train")));
    stage.check(lab->placed("train-") == 0,
                fmt::format("it holds {} GPUs while it waits", lab->placed("train-")));

    stage.title(fmt::format("{} comes back", first));
    MUSTER_CHECK(tell(*lab, lab::heal_node(lab->hand(), first)));
    is_so = lab->until([&] { return lab->running("train-") == 8; });
    stage.check(is_so, fmt::format("and the gang runs: {}", text_of(lab->places("train-"))));
    return {};
}

}  // namespace muster::cli
