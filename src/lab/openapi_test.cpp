#include "lab/discovery.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

Schemas small_schemas() {
    return Schemas::read(R"({"kubernetes":"1.37.2","schemas":{
        "io.k8s.api.apps.v1.Deployment":{"type":"object","properties":{
            "metadata":{"allOf":[{"$ref":"#/components/schemas/Meta"}]},
            "spec":{"$ref":"#/components/schemas/Spec"}},
            "x-kubernetes-group-version-kind":[{"group":"apps","version":"v1","kind":"Deployment"}]},
        "Meta":{"type":"object"},
        "Spec":{"type":"object","properties":{"again":{"type":"array","items":
            {"$ref":"#/components/schemas/Spec"}}}},
        "Unused":{"type":"object"},
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":"object"}}})")
        .value();
}

bool takes(const json::value& operation, std::string_view name) {
    for (const json::value& one : operation.at("parameters").as_array()) {
        if (one.at("name").as_string() == name) { return true; }
    }
    return false;
}

TEST(OpenApi, HasPathsAndTheSchemasTheyReach) {
    const Schemas schemas = small_schemas();

    const json::object document = openapi(built_in_resources(), "apps", "v1", schemas, {});

    EXPECT_EQ(document.at("openapi"), "3.0.0");
    const json::object& paths = document.at("paths").as_object();
    const json::value& one = paths.at("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    const json::value kind = json::parse(R"({"group":"apps","kind":"Deployment","version":"v1"})");
    EXPECT_EQ(one.at("patch").at("x-kubernetes-group-version-kind"), kind);
    EXPECT_EQ(one.at("patch").at("x-kubernetes-action"), "patch");
    for (const char* const name : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
        EXPECT_TRUE(takes(one.at("patch"), name)) << name;
    }
    EXPECT_TRUE(takes(one.at("put"), "fieldValidation"));
    EXPECT_FALSE(takes(one.at("put"), "force"));
    EXPECT_EQ(one.at("parameters").as_array().size(), 2U);
    EXPECT_EQ(paths.at("/apis/apps/v1/deployments").at("get").at("x-kubernetes-action"), "list");
    EXPECT_TRUE(paths.contains("/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"));
    const json::object& used = document.at("components").at("schemas").as_object();
    EXPECT_TRUE(used.contains("io.k8s.api.apps.v1.Deployment"));
    EXPECT_TRUE(used.contains("Meta"));
    EXPECT_TRUE(used.contains("Spec"));
    EXPECT_FALSE(used.contains("Unused"));
}

TEST(OpenApi, HasNoNamespaceInPathsOfTheCluster) {
    const json::object document = openapi(built_in_resources(), "", "v1", small_schemas(), {});

    const json::object& paths = document.at("paths").as_object();
    EXPECT_TRUE(paths.contains("/api/v1/nodes/{name}/status"));
    EXPECT_EQ(paths.at("/api/v1/nodes/{name}").at("parameters").as_array().size(), 1U);
    EXPECT_TRUE(paths.contains("/api/v1/namespaces/{namespace}/pods/{name}/eviction"));
    EXPECT_EQ(paths.at("/api/v1/namespaces/{namespace}/pods/{name}/eviction")
                  .at("post")
                  .at("x-kubernetes-group-version-kind")
                  .at("group"),
              "policy");
}

TEST(OpenApi, GivesCustomKindsWhatAllObjectsHave) {
    const ResourceType served[] = {ResourceType{.group = "stable.example.com",
                                                .version = "v1",
                                                .kind = "CronTab",
                                                .plural = "crontabs",
                                                .singular = "crontab",
                                                .short_names = {},
                                                .categories = {},
                                                .is_namespaced = true,
                                                .subresources = {"status"},
                                                .is_custom = true,
                                                .is_create_only = false}};
    const json::object custom{
        {"CronTab", json::parse(R"({"type":"object","properties":{"spec":{"type":"object"}}})")}};

    const json::object document =
        openapi(served, "stable.example.com", "v1", small_schemas(), custom);

    const json::value& schema =
        document.at("components").at("schemas").at("com.example.stable.v1.CronTab");
    EXPECT_EQ(schema.at("x-kubernetes-group-version-kind").at(0).at("kind"), "CronTab");
    EXPECT_EQ(schema.at("properties").at("metadata").at("$ref"),
              "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    EXPECT_TRUE(schema.at("properties").as_object().contains("spec"));
    EXPECT_TRUE(document.at("components")
                    .at("schemas")
                    .as_object()
                    .contains("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
    // kubectl takes them for granted when any path of the kind has them.
    for (const auto& [path, item] : document.at("paths").as_object()) {
        EXPECT_EQ(json::serialize(item).find("strategic"), std::string::npos) << path;
    }
}

TEST(OpenApi, IsEmptyForWhatIsNotServed) {
    EXPECT_TRUE(openapi(built_in_resources(), "apps", "v2", small_schemas(), {}).empty());
}

}  // namespace
}  // namespace muster::lab
