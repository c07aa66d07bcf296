#include "lab/cluster_file.h"

#include "kube/objects.h"
#include "lab/schemas.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

using kube::text_at;
using testing::ElementsAre;
using testing::HasSubstr;

Result<std::vector<FileObject>> read(std::string name, std::string text) {
    const std::vector<SourceText> sources{{std::move(name), std::move(text)}};
    std::vector<std::string> left_out;
    auto all = read_cluster_files(sources, left_out);
    if (all && !left_out.empty()) { all->emplace_back(left_out.at(0), boost::json::object()); }
    return all;
}
std::vector<std::string> kinds(const std::vector<FileObject>& all) {
    std::vector<std::string> out;
    for (const FileObject& one : all) {
        out.push_back(std::string(text_at(one.second, "kind")) + " " +
                      std::string(text_at(one.second, "metadata.name")));
    }
    return out;
}

TEST(ClusterFile, ListsAndDocumentsBecomeObjectsInAnOrderThatCanBeMade) {
    const auto all = read("c.yaml", R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p, namespace: team, uid: x, ownerReferences: [{name: j}]}
  spec: {nodeName: n, containers: [{name: c, image: i}]}
  status: {phase: Running}
- apiVersion: v1
  kind: Pod
  metadata: {name: done, namespace: old}
  spec: {containers: [{name: c, image: i}]}
  status: {phase: Succeeded}
- apiVersion: v1
  kind: Node
  metadata: {name: n, uid: y, resourceVersion: "7", annotations: {a: b}}
  status: {capacity: {nvidia.com/gpu: "8"}, images: [{names: [x]}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
)");

    ASSERT_TRUE(all) << all.error().message;
    EXPECT_THAT(kinds(*all),
                ElementsAre("Namespace team", "PriorityClass high", "Node n", "Pod p"));
    const boost::json::object& node = (*all)[2].second;
    EXPECT_EQ(text_at(node, "metadata.uid"), "");
    EXPECT_EQ(text_at(node, "metadata.resourceVersion"), "");
    EXPECT_EQ(kube::annotation_of(node, "lab.muster/fake"), "true");
    EXPECT_EQ(kube::annotation_of(node, "a"), "b");
    EXPECT_EQ(kube::array_at(node, "status.images"), nullptr);
    EXPECT_EQ(kube::array_at((*all)[3].second, "metadata.ownerReferences"), nullptr);
    EXPECT_THAT((*all)[3].first, HasSubstr("c.yaml:4"));
}

TEST(ClusterFile, NodesOfAScenarioBecomeFakeOnes) {
    const auto all = read("c.muster",
                          "node a[1-2] gpu=2 cpu=8 mem=64Gi label.rack=r1\n"
                          "gang j tasks=1 gpu=1\n");

    ASSERT_TRUE(all) << all.error().message;
    EXPECT_THAT(kinds(*all), ElementsAre("Node a1", "Node a2", " "));
    EXPECT_EQ(all->back().first, "c.muster: 1 commands that make no node");
    const boost::json::object& node = (*all)[0].second;
    EXPECT_EQ(kube::label_of(node, "rack"), "r1");
    EXPECT_EQ(kube::object_at(node, "status.capacity")->at("nvidia.com/gpu").as_string(), "2");
}

TEST(ClusterFile, WhatIsNoClusterIsRefused) {
    EXPECT_THAT(read("c.yaml", "kind: [").error().message, HasSubstr("c.yaml"));
    EXPECT_THAT(read("c.yaml",
                     "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                     "metadata: {name: p}\nvalue: 1\n")
                    .error()
                    .message,
                HasSubstr("c.yaml: no nodes"));
    EXPECT_THAT(read("c.yaml",
                     "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"
                     "spec: {taints: [{key: a, effect: Bad}]}\n")
                    .error()
                    .message,
                HasSubstr("spec.taints[0].effect"));
    EXPECT_THAT(read("c.muster", "nonsense\n").error().message, HasSubstr("c.muster:1"));
}

TEST(ClusterFile, OnlyKindsThatAreServedHaveAType) {
    const Registry registry(built_in_schemas());
    const ResourceType* pod = find_type({{"kind", "Pod"}, {"apiVersion", "v1"}}, registry);
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(pod->plural, "pods");
    EXPECT_EQ(find_type({{"kind", "Pod"}, {"apiVersion", "example.com/v1"}}, registry), nullptr);
    EXPECT_EQ(find_type({{"kind", "Ingress"}, {"apiVersion", "v1"}}, registry), nullptr);
}

}  // namespace
}  // namespace muster::lab
