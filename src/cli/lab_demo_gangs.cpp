// Two gangs that want more than there is, and one that wants to be close together.
#include "cli/lab_demo.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::cli {

namespace {

constexpr std::int64_t fast = 60;

std::string group_manifest(std::string_view name, int members, std::string_view annotations = "") {
    return fmt::format(
        "apiVersion: scheduling.volcano.sh/v1beta1\n"
        "kind: PodGroup\n"
        "metadata: {{name: {}{}}}\n"
        "spec: {{minMember: {}}}\n",
        name, annotations, members);
}

std::string pod_manifest(std::string_view group, std::string_view index, int gpus, int seconds,
                         std::string_view more = "") {
    return fmt::format(
        "apiVersion: v1\n"
        "kind: Pod\n"
        "metadata: {{name: {0}-{1}, annotations: {{scheduling.k8s.io/group-name: {0}}}}}\n"
        "spec:\n"
        "  schedulerName: volcano\n"
        "  restartPolicy: Never\n"
        "{4}"
        "  containers:\n"
        "  - {{name: worker, image: busybox, command: [sleep, \"{3}\"],\n"
        "     resources: {{limits: {{nvidia.com/gpu: {2}}}}}}}\n",
        group, index, gpus, seconds, more);
}

std::string bare_manifest(std::string_view name, std::string_view index, int gpus,
                          std::string_view selector) {
    return fmt::format(
        "apiVersion: v1\n"
        "kind: Pod\n"
        "metadata: {{name: {}-{}}}\n"
        "spec:\n"
        "  restartPolicy: Never\n"
        "  nodeSelector: {{{}}}\n"
        "  containers:\n"
        "  - {{name: worker, image: busybox, command: [sleep, \"86400\"],\n"
        "     resources: {{limits: {{nvidia.com/gpu: {}}}}}}}\n",
        name, index, selector, gpus);
}

std::string loop_command(std::string_view loop, std::string_view manifest) {
    return fmt::format("{} do kubectl apply -f - <<EOF\n{}EOF\ndone", loop, manifest);
}

/// Pods of two gangs in turn, each settled before the next one comes.
Result<> two_gangs(DemoLab& lab, bool is_per_pod, int seconds) {
    MUSTER_CHECK(lab.apply(group_manifest("a", 5) + "---\n" + group_manifest("b", 5)));
    lab.tell_command(
        loop_command("for i in 0 1 2 3 4; do for g in a b;", pod_manifest("$g", "$i", 1, seconds)) +
        "; done");
    std::size_t made = 0;
    for (int i = 0; i < 5; ++i) {
        for (const char* group : {"a", "b"}) {
            MUSTER_CHECK(lab.create(pod_manifest(group, std::to_string(i), 1, seconds)));
            ++made;
            const std::size_t wanted = std::min<std::size_t>(made, 8);
            if (!is_per_pod) { continue; }
            if (!lab.until([&] { return lab.placed("a-") + lab.placed("b-") == wanted; })) {
                return fail(Code::timeout, "a pod by itself was not placed");
            }
        }
    }
    return {};
}

}  // namespace

Result<> show_lab_deadlock(Stage& stage) {
    stage.title("Two gangs of 5 on 8 GPUs, pod by pod");
    {
        LabVerbOptions options;
        options.scheduler = "per-pod";
        MUSTER_TRY(lab, DemoLab::up(stage, options));
        MUSTER_CHECK(two_gangs(*lab, true, 120));
        const bool is_stuck = lab->until([&] {
            return lab->running("a-") == 4 && lab->running("b-") == 4 &&
                   !lab->pod_reason("a-4").empty() && !lab->pod_reason("b-4").empty();
        });
        stage.check(is_stuck, fmt::format("a holds {} GPUs and b holds {}; each waits for a fifth",
                                          lab->placed("a-"), lab->placed("b-")));
        stage.say("Workers that wait for each other would hold them for ever.");
        stage.check(!lab->pod_reason("b-4").empty(),
                    fmt::format("all that is said of b-4: {}", lab->pod_reason("b-4")));
    }
    stage.title("The same pods with Muster");
    LabVerbOptions options;
    options.speed = fast;
    MUSTER_TRY(lab, DemoLab::up(stage, options));
    MUSTER_CHECK(two_gangs(*lab, false, 120));
    std::size_t held_by_b = 0;
    const bool has_a = lab->until([&] {
        held_by_b = std::max(held_by_b, lab->placed("b-"));
        return lab->running("a-") == 5;
    });
    stage.check(has_a, "a starts whole: all 5 run");
    const bool is_told = lab->until([&] { return !lab->reason("b").empty(); });
    stage.check(
        is_told && held_by_b == 0,
        fmt::format("b holds {} GPUs meanwhile, and says why: {}", held_by_b, lab->reason("b")));
    stage.say("two lab minutes later:");
    const bool has_b = lab->until([&] { return lab->running("b-") == 5; });
    stage.check(has_b, "a has ended, and b runs, all 5 of it");
    return {};
}

namespace {

struct Spread {
    std::size_t running = 0;
    std::size_t racks = 0;
    std::size_t switches = 0;
};

/// 12 of a rack's 18 nodes are busy; then a gang of 8 nodes comes.
Result<Spread> eight_nodes(Stage& stage, const std::string& scheduler) {
    constexpr std::string_view rack = "accelerator.topograph.run/domain";
    LabVerbOptions options;
    options.like = "gb200-nvl72:2";
    options.speed = fast;
    options.scheduler = scheduler;
    MUSTER_TRY(lab, DemoLab::up(stage, options));
    const std::string selector = fmt::format("{}: nvl72-1", rack);
    lab->tell_command(
        loop_command("for i in $(seq 0 11);", bare_manifest("busy", "$i", 4, selector)));
    for (int i = 0; i < 12; ++i) {
        MUSTER_CHECK(lab->create(bare_manifest("busy", std::to_string(i), 4, selector)));
    }
    if (!lab->until([&] { return lab->running("busy-") == 12; })) {
        return fail(Code::timeout, "the pods that are there first do not run");
    }
    MUSTER_CHECK(lab->apply(group_manifest(
        "train", 8, fmt::format(", annotations: {{muster.dev/preferred-topology: {}}}", rack))));
    lab->tell_command(loop_command("for i in $(seq 0 7);", pod_manifest("train", "$i", 4, 86'400)));
    for (int i = 0; i < 8; ++i) {
        MUSTER_CHECK(lab->create(pod_manifest("train", std::to_string(i), 4, 86'400)));
    }
    (void)lab->until([&] { return lab->running("train-") == 8; });
    stage.say(text_of(lab->places("train-")));
    return Spread{.running = lab->running("train-"),
                  .racks = lab->spread("train-", rack),
                  .switches = lab->spread("train-", "fabric.topograph.run/tier-0")};
}

}  // namespace

Result<> show_lab_topology(Stage& stage) {
    stage.title("A gang of 8 nodes on two NVLink racks, pod by pod");
    stage.say("2 racks of 18 nodes with 4 GB200; 12 nodes of the first are busy.");
    MUSTER_TRY(pods, eight_nodes(stage, "per-pod"));
    stage.check(pods.running == 8 && pods.racks == 2,
                fmt::format("its {} pods lie in {} NVLink domains, under {} switches", pods.running,
                            pods.racks, pods.switches));
    stage.title("The same gang with Muster");
    MUSTER_TRY(gang, eight_nodes(stage, "muster"));
    stage.check(gang.running == 8 && gang.racks == 1,
                fmt::format("its {} pods lie in {} NVLink domain, under {} switch", gang.running,
                            gang.racks, gang.switches));
    return {};
}

}  // namespace muster::cli
