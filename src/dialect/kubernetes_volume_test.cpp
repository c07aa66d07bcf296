// What claims on storage mean for the pods that name them.
#include "dialect/kubernetes_volume.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Surroundings around(const std::string& objects) {
    Surroundings out;
    Documents documents;
    const auto added = documents.add({"storage.yaml", objects});
    EXPECT_TRUE(added) << (added ? "" : added.error().message);
    for (const Document& document : documents.all()) { put(out, document); }
    return out;
}

std::string claim(std::string_view more, std::string_view metadata = "") {
    return fmt::format(
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: c, "
        "namespace: team, uid: u1, {}}}\nspec: {{accessModes: [ReadWriteOnce], "
        "resources: {{requests: {{storage: 10Gi}}}}, {}}}\n",
        metadata, more);
}
std::string volume(std::string_view name, std::string_view node, std::string_view more = "",
                   std::string_view size = "20Gi") {
    return fmt::format(
        "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {0}, uid: {0}}}\nspec: "
        "{{accessModes: [ReadWriteOnce], capacity: {{storage: {3}}}, storageClassName: local, "
        "nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: host, "
        "operator: In, values: [{1}]}}]}}]}}}}, {2}}}\nstatus: {{phase: Available}}\n",
        name, node, more, size);
}
std::string storage_class(std::string_view name, std::string_view more) {
    return fmt::format(
        "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {}}}\n{}\n",
        name, more);
}
const std::string bound = "annotations: {pv.kubernetes.io/bind-completed: \"yes\"}";

std::string class_of(std::string_view fields) {
    return fmt::format(
        "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: "
        "made}}\nprovisioner: csi.example.com\n{}\n",
        fields);
}
std::string local_class() {
    return "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: "
           "local}\nprovisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: "
           "WaitForFirstConsumer\n";
}
LabelMatch hosts(std::vector<std::string> names) { return {"host", MatchOp::in, std::move(names)}; }

TEST(ClaimView, SaysWhyAPodMustWait) {
    const std::pair<std::string, const char*> cases[] = {
        {storage_class("x", ""), "persistentvolumeclaim \"c\" not found"},
        {claim("", "deletionTimestamp: 2026-01-01T00:00:00Z"), "is being deleted"},
        {claim("") + "status: {phase: Lost}\n", "has lost its volume"},
        {claim("volumeName: v", bound), "persistentvolume \"v\" not found"},
        {claim("volumeName: v"), "unbound immediate"},
        {claim("storageClassName: made") + class_of("volumeBindingMode: Immediate"),
         "unbound immediate"},
        {claim("storageClassName: gone"), "of class \"gone\", which is not there"},
        {claim("storageClassName: local") + local_class(), "no persistent volume is free"},
        {claim("storageClassName: local, volumeMode: Block") + local_class() + volume("v", "n1"),
         "no persistent volume is free"},
        {claim("storageClassName: local, selector: {matchLabels: {a: b}}") + local_class() +
             volume("v", "n1"),
         "no persistent volume is free"},
    };

    for (const auto& [objects, refusal] : cases) {
        EXPECT_THAT(view_of(around(objects), "team/c").refusal, HasSubstr(refusal)) << objects;
    }
}

TEST(ClaimView, LeavesTheNodesThatReachAVolume) {
    const auto terms = [](const std::string& objects) {
        const ClaimView view = view_of(around(objects), "team/c");
        EXPECT_THAT(view.refusal, IsEmpty()) << objects;
        EXPECT_EQ(view.is_anywhere, view.terms.empty());
        return view.terms;
    };

    EXPECT_THAT(terms(claim("volumeName: v", bound) + volume("v", "n1")),
                ElementsAre(NodeTerm{{hosts({"n1"})}, 0}));
    // Volumes that anybody may have, the ones that are too small or another's left out.
    EXPECT_THAT(terms(claim("storageClassName: local") + local_class() + volume("v1", "n1") +
                      volume("v2", "n3") + volume("v3", "n4", "claimRef: {namespace: a, name: b}") +
                      volume("v4", "n5", "", "5Gi")),
                ElementsAre(NodeTerm{{hosts({"n1", "n3"})}, 0}));
    // One that is kept for it goes before all others.
    EXPECT_THAT(terms(claim("storageClassName: local") + local_class() + volume("v1", "n1") +
                      volume("v2", "n3", "claimRef: {namespace: team, name: c, uid: u1}")),
                ElementsAre(NodeTerm{{hosts({"n3"})}, 0}));
    EXPECT_THAT(terms(claim("storageClassName: made") +
                      class_of("volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: "
                               "[{matchLabelExpressions: [{key: host, values: [a, b]}]}]")),
                ElementsAre(NodeTerm{{hosts({"a", "b"})}, 0}));
    EXPECT_THAT(terms(claim("storageClassName: made") +
                      class_of("volumeBindingMode: WaitForFirstConsumer")),
                IsEmpty());
}

TEST(ClaimView, OldVolumesSayTheirZonesInLabels) {
    const std::string objects =
        claim("volumeName: v", bound) +
        "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v, labels: "
        "{topology.kubernetes.io/zone: a__b}}\nspec: {}\n";

    EXPECT_THAT(view_of(around(objects), "team/c").terms,
                ElementsAre(NodeTerm{{{"topology.kubernetes.io/zone", MatchOp::in, {"a", "b"}}}}));
}

std::string csi_node(std::string_view name, std::string_view allocatable) {
    return fmt::format(
        "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {{name: {}}}\nspec: "
        "{{drivers: "
        "[{{name: csi.example.com, nodeID: x, {}}}]}}\n",
        name, allocatable);
}

TEST(ClaimView, NamesItsDriverWhereNodesAttachOnlySoMany) {
    const std::string limit = csi_node("n1", "allocatable: {count: 2}");
    const std::string volume =
        "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {csi: {driver: "
        "csi.example.com}}\n";
    const std::string made = class_of("volumeBindingMode: WaitForFirstConsumer");
    const std::string shared =
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: team, "
        "annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}\nspec: {accessModes: "
        "[ReadWriteMany], volumeName: v}\n";
    const std::pair<std::string, const char*> cases[] = {
        {claim("volumeName: v", bound) + volume + limit, "csi.example.com"},
        {claim("storageClassName: made") + made + limit, "csi.example.com"},
        {claim("volumeName: v", bound) + volume, ""},
        {claim("volumeName: v", bound) + volume + csi_node("n1", "topologyKeys: [a]"), ""},
        {claim("volumeName: v", bound) + volume + limit + csi_node("n1", "topologyKeys: [a]"), ""},
        {shared + volume + limit, ""},
    };

    for (const auto& [objects, driver] : cases) {
        EXPECT_EQ(view_of(around(objects), "team/c").driver, driver) << objects;
    }
}

TEST(Surroundings, CountTheNodesThatLimitADriver) {
    Surroundings now = around(csi_node("n1", "allocatable: {count: 2}") +
                              csi_node("n2", "allocatable: {count: 3}"));
    EXPECT_EQ(now.limited.at("csi.example.com"), 2);

    take_out(now, AroundKind::csi_node, "n1");
    EXPECT_EQ(now.limited.at("csi.example.com"), 1);
    take_out(now, AroundKind::csi_node, "n2");

    EXPECT_THAT(now.limited, IsEmpty());
    EXPECT_THAT(now.attach_limits, IsEmpty());
}

TEST(VolumeSteps, TellTheClaimItsNodeOrKeepTheSmallestVolume) {
    const Surroundings made = around(claim("storageClassName: made") +
                                     class_of("volumeBindingMode: WaitForFirstConsumer"));
    const VolumeSteps told = steps_before_bind(made, {"team/c"}, "n1", {});
    EXPECT_FALSE(told.is_ready);
    ASSERT_EQ(told.steps.size(), 1U);
    EXPECT_EQ(told.steps[0].claim, "team/c");
    EXPECT_EQ(told.steps[0].volume, "");

    const Surroundings kept =
        around(claim("storageClassName: local") + local_class() + volume("v1", "n1") +
               volume("v2", "n1", "", "15Gi") + volume("v3", "n2"));
    const VolumeSteps steps = steps_before_bind(kept, {"team/c"}, "n1", {{"host", "n1"}});
    ASSERT_EQ(steps.steps.size(), 1U);
    EXPECT_EQ(steps.steps[0].volume, "v2");

    const Surroundings done = around(claim("volumeName: v", bound) + volume("v", "n1"));
    EXPECT_TRUE(steps_before_bind(done, {"team/c"}, "n1", {}).is_ready);
    EXPECT_TRUE(steps_before_bind(done, {}, "n1", {}).is_ready);
}

}  // namespace
}  // namespace muster::dialect
