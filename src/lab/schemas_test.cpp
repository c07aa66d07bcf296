#include "lab/schemas.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;
using Type = Schema::Type;
using ListType = Schema::ListType;

/// The schema of `path` below a kind: "spec.containers[].image".
std::optional<Schema> at(std::string_view group, std::string_view version, std::string_view kind,
                         std::string_view path) {
    std::optional<Schema> found = built_in_schemas().find(group, version, kind);
    while (found && !path.empty()) {
        if (path.starts_with("[]")) {
            path.remove_prefix(2);
            found = found->items();
        } else if (path.starts_with(".")) {
            path.remove_prefix(1);
        } else {
            const std::string_view name = path.substr(0, path.find_first_of(".["));
            path.remove_prefix(name.size());
            found = found->property(name);
        }
    }
    return found;
}

Schema pod(std::string_view path) {
    const std::optional<Schema> found = at("", "v1", "Pod", path);
    EXPECT_TRUE(found) << path;
    return found ? *found : Schema(json::value(), nullptr);
}

}  // namespace

TEST(BuiltInSchemas, KnowWhichServerTheyAreOf) {
    EXPECT_EQ(built_in_schemas().origin(), "1.37.2");
    EXPECT_EQ(&built_in_schemas(), &built_in_schemas());
}

TEST(BuiltInSchemas, KnowEveryKindThatIsServed) {
    struct Case {
        std::string_view group, version, kind;
    };
    const std::vector<Case> cases = {
        {"", "v1", "Namespace"},
        {"", "v1", "Node"},
        {"", "v1", "Pod"},
        {"", "v1", "ConfigMap"},
        {"", "v1", "Secret"},
        {"", "v1", "Service"},
        {"", "v1", "Event"},
        {"", "v1", "Binding"},
        {"", "v1", "PodList"},
        {"apps", "v1", "Deployment"},
        {"batch", "v1", "Job"},
        {"batch", "v1", "CronJob"},
        {"policy", "v1", "Eviction"},
        {"policy", "v1", "PodDisruptionBudget"},
        {"scheduling.k8s.io", "v1", "PriorityClass"},
        {"scheduling.k8s.io", "v1beta1", "PodGroup"},
        {"scheduling.k8s.io", "v1beta1", "Workload"},
        {"scheduling.k8s.io", "v1alpha3", "CompositePodGroup"},
        {"coordination.k8s.io", "v1", "Lease"},
        {"resource.k8s.io", "v1", "ResourceClaim"},
        {"resource.k8s.io", "v1", "ResourceSlice"},
        {"resource.k8s.io", "v1", "DeviceClass"},
        {"events.k8s.io", "v1", "Event"},
        {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
        {"autoscaling", "v1", "Scale"},
        {"authentication.k8s.io", "v1", "TokenReview"},
        {"authorization.k8s.io", "v1", "SelfSubjectAccessReview"},
        {"discovery.k8s.io", "v1", "EndpointSlice"},
        {"storage.k8s.io", "v1", "StorageClass"},
        {"rbac.authorization.k8s.io", "v1", "ClusterRole"},
    };
    for (const Case& one : cases) {
        const auto found = built_in_schemas().find(one.group, one.version, one.kind);
        ASSERT_TRUE(found) << one.group << "/" << one.version << " " << one.kind;
        EXPECT_EQ(found->type(), Type::object) << one.kind;
        EXPECT_TRUE(found->property("apiVersion")) << one.kind;
    }
    EXPECT_FALSE(built_in_schemas().find("apps", "v1", "Pod"));
    EXPECT_FALSE(built_in_schemas().find("apps", "v1beta1", "Deployment"));
}

TEST(BuiltInSchemas, SayHowListsMerge) {
    struct Case {
        std::string_view path;
        ListType type;
        std::vector<std::string> keys;
        std::string_view merge_key;
        bool is_merged;
    };
    const std::vector<Case> cases = {
        {"spec.containers", ListType::map, {"name"}, "name", true},
        {"spec.initContainers", ListType::map, {"name"}, "name", true},
        {"spec.containers[].ports",
         ListType::map,
         {"containerPort", "protocol"},
         "containerPort",
         true},
        {"spec.containers[].env", ListType::map, {"name"}, "name", true},
        {"spec.containers[].args", ListType::atomic, {}, "", false},
        {"spec.volumes", ListType::map, {"name"}, "name", true},
        {"spec.tolerations", ListType::atomic, {}, "", false},
        {"metadata.finalizers", ListType::set, {}, "", true},
        {"metadata.ownerReferences", ListType::map, {"uid"}, "uid", true},
        {"status.conditions", ListType::map, {"type"}, "type", true},
    };
    for (const Case& one : cases) {
        const Schema list = pod(one.path);
        EXPECT_EQ(list.type(), Type::list) << one.path;
        EXPECT_EQ(list.list_type(), one.type) << one.path;
        EXPECT_EQ(list.list_keys(), one.keys) << one.path;
        EXPECT_EQ(list.patch_merge_key(), one.merge_key) << one.path;
        EXPECT_EQ(list.has_patch_strategy("merge"), one.is_merged) << one.path;
    }
    EXPECT_TRUE(pod("spec.volumes").has_patch_strategy("retainKeys"));

    const std::optional<Schema> ports = at("", "v1", "Service", "spec.ports");
    ASSERT_TRUE(ports);
    EXPECT_THAT(ports->list_keys(), ElementsAre("port", "protocol"));
    EXPECT_EQ(ports->patch_merge_key(), "port");
}

TEST(BuiltInSchemas, SayTypesAndDefaultsAndWhatHasToBeThere) {
    EXPECT_EQ(pod("spec.priority").type(), Type::integer);
    EXPECT_EQ(pod("spec.priority").format(), "int32");
    EXPECT_EQ(pod("metadata.creationTimestamp").format(), "date-time");
    EXPECT_EQ(pod("metadata.labels").additional()->type(), Type::string);
    EXPECT_TRUE(pod("spec.nodeSelector").is_atomic_map());
    EXPECT_TRUE(pod("spec.containers[].livenessProbe.httpGet.port").is_int_or_string());
    EXPECT_THAT(pod("spec").required(), IsSupersetOf({"containers"}));
    const json::value restarts = {"Always", "Never", "OnFailure"};
    EXPECT_EQ(*pod("spec.restartPolicy").raw().if_contains("enum"), restarts);
    EXPECT_EQ(*pod("spec.containers[].ports[].protocol").default_value(), json::value("TCP"));
}

TEST(BuiltInSchemas, HoldNoTextForPeople) {
    const std::set<std::string_view> texts = {"description", "title", "summary", "example",
                                              "externalDocs"};
    // A schema's own keywords; the names of its properties may be any word.
    const auto search = [&](const auto& self, const json::value& at_hand, const std::string& place,
                            bool holds_names) -> void {
        if (const json::array* list = at_hand.if_array()) {
            for (const json::value& one : *list) { self(self, one, place, false); }
        }
        if (!at_hand.is_object()) { return; }
        for (const auto& [key, value] : at_hand.get_object()) {
            const std::string inner = place + "/" + std::string(key);
            EXPECT_TRUE(holds_names || !texts.contains(key)) << inner;
            self(self, value, inner, !holds_names && key == "properties");
        }
    };
    const json::value all = built_in_schemas().definitions();
    ASSERT_GT(all.get_object().size(), 500U);
    search(search, all, "schemas", true);

    const std::optional<Schema> column =
        at("apiextensions.k8s.io", "v1", "CustomResourceDefinition",
           "spec.versions[].additionalPrinterColumns[].description");
    ASSERT_TRUE(column);
    EXPECT_EQ(column->type(), Type::string);
}

}  // namespace muster::lab
