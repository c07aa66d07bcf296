// A scheduler and the storage of pods: what it writes before it binds, and what nodes can attach.
#include "kube/scheduler_fixture_test.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* claims = "/api/v1/persistentvolumeclaims";
constexpr const char* volumes = "/api/v1/persistentvolumes";
constexpr const char* storage_classes = "/apis/storage.k8s.io/v1/storageclasses";
constexpr const char* csi_nodes = "/apis/storage.k8s.io/v1/csinodes";

class SchedulerOfVolumes : public SchedulerOfKubernetes {
protected:
    void SetUp() override {
        SchedulerOfKubernetes::SetUp();
        api.served.insert(storage_classes);
        api.served.insert(csi_nodes);
    }
    void put_class(const std::string& provisioner) {
        api.put(storage_classes, {{"apiVersion", "storage.k8s.io/v1"},
                                  {"kind", "StorageClass"},
                                  {"metadata", {{"name", "s"}}},
                                  {"provisioner", provisioner},
                                  {"volumeBindingMode", "WaitForFirstConsumer"}});
    }
    void put_claim(const std::string& volume = "", const std::string& name = "data") {
        json::object spec{{"accessModes", json::array{"ReadWriteOnce"}}, {"storageClassName", "s"}};
        json::object metadata{{"namespace", "team"}, {"name", name}, {"uid", name + "-uid"}};
        if (!volume.empty()) {
            spec["volumeName"] = volume;
            metadata["annotations"] = json::object{{"pv.kubernetes.io/bind-completed", "yes"}};
        }
        api.put(claims, {{"apiVersion", "v1"},
                         {"kind", "PersistentVolumeClaim"},
                         {"metadata", std::move(metadata)},
                         {"spec", std::move(spec)}});
    }
    void put_volume(const std::string& node, const std::string& name = "disk") {
        json::object match{{"key", "metadata.name"}, {"operator", "In"}};
        match["values"] = json::array{json::value(node)};
        json::object term;
        term["matchFields"] = json::array{std::move(match)};
        json::object required;
        required["nodeSelectorTerms"] = json::array{std::move(term)};
        api.put(volumes, {{"apiVersion", "v1"},
                          {"kind", "PersistentVolume"},
                          {"metadata", {{"name", name}, {"uid", name + "-uid"}}},
                          {"spec",
                           {{"accessModes", json::array{"ReadWriteOnce"}},
                            {"storageClassName", "s"},
                            {"csi", {{"driver", "csi.example.com"}}},
                            {"nodeAffinity", {{"required", std::move(required)}}}}},
                          {"status", {{"phase", "Available"}}}});
    }
    void put_pod_with_claim() {
        put_pod({.name = "p", .group = "", .uid = "", .node = ""});
        add_claim("p", "data");
    }
    void add_claim(const std::string& name, const std::string& claim) {
        json::object pod = api.at(pods, {"team", name});
        json::object volume{{"name", "v"}};
        volume["persistentVolumeClaim"] = json::object{{"claimName", claim}};
        pod["spec"].as_object()["volumes"] = json::array{std::move(volume)};
        api.put(pods, std::move(pod));
    }
    void put_csi_node(const std::string& node, int count) {
        json::object driver{{"name", "csi.example.com"}, {"nodeID", node}};
        driver["allocatable"] = json::object{{"count", count}};
        api.put(csi_nodes, {{"apiVersion", "storage.k8s.io/v1"},
                            {"kind", "CSINode"},
                            {"metadata", {{"name", node}}},
                            {"spec", {{"drivers", json::array{std::move(driver)}}}}});
    }
    /// Patches of claims and volumes.
    std::vector<std::string> patches() {
        std::vector<std::string> out;
        for (const Call& call : api.changes) {
            if (call.target.find("/persistentvolume") != std::string::npos) {
                out.push_back(call.method + " " + call.target + " " + call.body);
            }
        }
        return out;
    }
};

TEST_F(SchedulerOfVolumes, TellsTheClaimItsNodeAndBindsWhenTheVolumeIsThere) {
    put_class("csi.example.com");
    put_claim();
    put_pod_with_claim();
    start();
    turn();

    EXPECT_EQ(bindings(), 0U);
    ASSERT_THAT(patches(), SizeIs(1));
    EXPECT_THAT(patches()[0],
                AllOf(HasSubstr("PATCH /api/v1/namespaces/team/persistentvolumeclaims/data"),
                      HasSubstr(R"("volume.kubernetes.io/selected-node":"n)"),
                      HasSubstr(R"("uid":"data-uid")")));

    put_volume("n2");
    put_claim("disk");
    turn();

    EXPECT_THAT(bound(), Contains(std::pair<const std::string, std::string>("p", "n2")));
    EXPECT_THAT(patches(), SizeIs(1));
}

TEST_F(SchedulerOfVolumes, KeepsAVolumeThatIsThereForTheClaim) {
    put_class("kubernetes.io/no-provisioner");
    put_claim();
    put_volume("n2");
    put_pod_with_claim();
    start();
    turn();

    EXPECT_EQ(bindings(), 0U);
    ASSERT_THAT(patches(), SizeIs(1));
    EXPECT_THAT(patches()[0],
                AllOf(HasSubstr("PATCH /api/v1/persistentvolumes/disk"),
                      HasSubstr(R"("claimRef":{)"), HasSubstr(R"("uid":"data-uid")")));
}

TEST_F(SchedulerOfVolumes, AVolumeOutOfReachIsSaid) {
    put_class("csi.example.com");
    put_claim("disk");
    put_volume("elsewhere");
    put_pod_with_claim();
    start();
    turn();

    EXPECT_EQ(bindings(), 0U);
    EXPECT_THAT(condition(api.at(pods, {"team", "p"}), "PodScheduled"),
                HasSubstr("2 node(s) had volume node affinity conflict"));
}

TEST_F(SchedulerOfVolumes, AMissingClaimIsSaidAndWaitedFor) {
    put_class("csi.example.com");
    put_pod_with_claim();
    start();
    turn();

    EXPECT_EQ(bindings(), 0U);
    EXPECT_THAT(
        condition(api.at(pods, {"team", "p"}), "PodScheduled"),
        AllOf(HasSubstr("spec.volumes[0]"), HasSubstr("persistentvolumeclaim \"data\" not found")));

    put_volume("n1");
    put_claim("disk");
    turn();

    EXPECT_THAT(bound(), Contains(std::pair<const std::string, std::string>("p", "n1")));
}

TEST_F(SchedulerOfVolumes, AGangIsBoundWhenItsLastVolumeIsThere) {
    put_class("csi.example.com");
    put_claim("", "one");
    put_claim("", "two");
    put_gang("g", 3);
    add_claim("g-0", "one");
    add_claim("g-1", "two");
    start();
    turn();

    EXPECT_EQ(bindings(), 0U);
    EXPECT_THAT(patches(), SizeIs(2));

    put_volume("n1", "disk-1");
    put_claim("disk-1", "one");
    turn();

    EXPECT_EQ(bindings(), 0U);

    put_volume("n1", "disk-2");
    put_claim("disk-2", "two");
    turn();

    EXPECT_THAT(bound(), SizeIs(3));
    EXPECT_EQ(bound()["g-0"], "n1");
    EXPECT_EQ(bound()["g-1"], "n1");
}

TEST_F(SchedulerOfVolumes, AGangDoesNotWaitForTheVolumeOfAPodThatIsGone) {
    put_class("csi.example.com");
    put_claim("", "one");
    put_gang("g", 2);
    add_claim("g-0", "one");
    start();
    turn();
    EXPECT_EQ(bindings(), 0U);

    put_pod({.name = "g-0", .group = "g", .uid = "another", .node = ""});
    turn();

    EXPECT_THAT(bound(), SizeIs(2));
}

TEST_F(SchedulerOfVolumes, ANodeAttachesSoManyAndNoMore) {
    put_class("csi.example.com");
    put_csi_node("n1", 1);
    put_csi_node("n2", 1);
    for (const char* name : {"a", "b", "c"}) {
        put_volume("n1", fmt::format("disk-{}", name));
        put_claim(fmt::format("disk-{}", name), name);
        put_pod({.name = name, .group = "", .uid = "", .node = ""});
        add_claim(name, name);
    }
    start();
    turn();

    ASSERT_THAT(bound(), SizeIs(1));
    EXPECT_THAT(condition(api.at(pods, {"team", "c"}), "PodScheduled"),
                HasSubstr("exceed max volume count"));

    put_csi_node("n1", 2);
    turn();

    EXPECT_THAT(bound(), SizeIs(2));

    api.erase(csi_nodes, {"", "n1"});
    turn();

    EXPECT_THAT(bound(), SizeIs(3));
}

}  // namespace
}  // namespace muster::kube
