#include "lab/owner_memo.h"

#include "lab/schemas.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

json::value pod(std::string_view name, std::string_view container, std::string_view more) {
    json::value out =
        json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "1"},
        "finalizers": ["one"]}, "spec": {"containers": [{"image": "busybox", "args": ["x"],
        "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "1"}]}]}})");
    out.at("metadata").as_object()["name"] = name;
    out.at("spec").at("containers").at(0).as_object()["name"] = container;
    const json::value wanted = json::parse(more);
    for (const auto& [key, value] : wanted.as_object()) { out.at("spec").as_object()[key] = value; }
    return out;
}

/// Whatever came before, the owners are those that a look at the object alone finds.
TEST(OwnerMemo, SaysWhatALookAtEachObjectSays) {
    const auto schema = built_in_schemas().find("", "v1", "Pod");
    ASSERT_TRUE(schema.has_value());
    std::vector<json::value> all{pod("a", "c", "{}"), pod("b", "c", "{}"), pod("b", "d", "{}")};
    for (const char* more :
         {R"({"nodeName": "n"})", R"({"nodeName": "m"})", R"({"nodeName": null})",
          R"({"tolerations": []})", R"({"tolerations": [{"key": "k"}]})",
          R"({"tolerations": [{"key": "k"}, {"key": "l"}]})", R"({"securityContext": {}})",
          R"({"nodeSelector": {"k": "v"}})", R"({"nodeSelector": {"l": "v"}})",
          R"({"volumes": [{"name": "v", "emptyDir": {}}]})",
          R"({"volumes": [{"name": "w", "emptyDir": {}}]})",
          R"({"volumes": [{"name": "w", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]})",
          R"({"priority": 3})", R"({"priority": "3"})", R"({"affinity": {"nodeAffinity": {}}})",
          R"({"imagePullSecrets": [{"name": "p"}, {"name": "q"}]})",
          R"({"topologySpreadConstraints": [{"topologyKey": "t", "whenUnsatisfiable": "u"}]})",
          R"({"topologySpreadConstraints": [{"topologyKey": "t", "whenUnsatisfiable": "v"}]})"}) {
        all.push_back(pod("e", "c", more));
    }
    json::value other = all.front();
    other.at("metadata").at("finalizers").as_array()[0] = "two";
    all.push_back(other);
    other = all.front();
    other.at("spec").at("containers").at(0).at("env").at(0).as_object()["name"] = "B";
    all.push_back(other);
    other.at("spec").at("containers").at(0).at("env").at(0).as_object()["value"] = "2";
    all.push_back(other);
    other.at("spec").at("containers").at(0).at("ports").at(0).as_object()["containerPort"] = 81;
    all.push_back(other);
    other.at("metadata").as_object()["managedFields"] = json::array{};
    all.push_back(other);

    OwnerMemo memo;
    for (const char* who : {"kubectl", "controller", "kubectl"}) {
        for (const json::value& one : all) {
            const Manager manager{.name = who,
                                  .api_version = "v1",
                                  .subresource = "",
                                  .time = "2026-01-01T00:00:00Z"};
            json::value alone = one;
            json::value together = one;
            note_update(json::value(nullptr), alone, *schema, manager);
            memo.note_create("Pod", together, *schema, manager);
            EXPECT_EQ(together, alone) << json::serialize(one);
        }
    }
}

TEST(OwnerMemo, TellsTheTimeOfEachCreation) {
    const auto schema = built_in_schemas().find("", "v1", "Pod");
    OwnerMemo memo;
    for (const char* time : {"2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"}) {
        json::value object = pod("a", "c", "{}");
        memo.note_create("Pod", object, *schema,
                         {.name = "m", .api_version = "v1", .subresource = "", .time = time});
        EXPECT_EQ(object.at("metadata").at("managedFields").at(0).at("time").as_string(), time);
    }
}

}  // namespace
}  // namespace muster::lab
