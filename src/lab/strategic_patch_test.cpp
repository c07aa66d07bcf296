#include "lab/patch.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace muster::lab {
namespace {

namespace json = boost::json;

const json::value& pod_schema() {
    static const json::value schema = json::parse(R"({"type":"object","properties":{
      "metadata":{"type":"object","properties":{
        "labels":{"type":"object","additionalProperties":{"type":"string"}},
        "finalizers":{"type":"array","items":{"type":"string"},
          "x-kubernetes-patch-strategy":"merge"}}},
      "spec":{"type":"object","properties":{
        "nodeSelector":{"type":"object","additionalProperties":{"type":"string"},
          "x-kubernetes-map-type":"atomic"},
        "strategy":{"type":"object","properties":{"type":{"type":"string"},
          "rollingUpdate":{"type":"object"}},"x-kubernetes-patch-strategy":"retainKeys"},
        "tolerations":{"type":"array","items":{"type":"object"}},
        "whole":{"type":"object","x-kubernetes-patch-strategy":"replace"},
        "containers":{"type":"array","x-kubernetes-patch-strategy":"merge",
          "x-kubernetes-patch-merge-key":"name","items":{"type":"object","properties":{
            "name":{"type":"string"},"image":{"type":"string"},
            "args":{"type":"array","items":{"type":"string"}},
            "ports":{"type":"array","x-kubernetes-patch-strategy":"merge",
              "x-kubernetes-patch-merge-key":"containerPort","items":{"type":"object"}},
            "env":{"type":"array","x-kubernetes-patch-strategy":"merge",
              "x-kubernetes-patch-merge-key":"name","items":{"type":"object"}}}}}}}}})");
    return schema;
}

Result<json::value> patched(std::string_view document, std::string_view patch) {
    return strategic_patch(json::parse(document), json::parse(patch),
                           Schema(pod_schema(), nullptr));
}

struct StrategicCase {
    std::string_view name;
    std::string_view document;
    std::string_view patch;
    std::string_view expected;
};

constexpr StrategicCase strategic_cases[] = {
    {"objects merge and null deletes", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
     R"({"metadata":{"labels":{"a":null,"c":"3","d":null}}})",
     R"({"metadata":{"labels":{"b":"2","c":"3"}}})"},
    {"an atomic map merges all the same", R"({"spec":{"nodeSelector":{"a":"1"}}})",
     R"({"spec":{"nodeSelector":{"b":"2"}}})", R"({"spec":{"nodeSelector":{"a":"1","b":"2"}}})"},
    {"what is added has no nulls and no directives", R"({})",
     R"({"spec":{"x":null,"containers":[{"name":"a","image":null},{"name":"b","$patch":"delete"}],
         "strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
     R"({"spec":{"containers":[{"name":"a"}],"strategy":{"type":"Recreate"}}})"},
    {"a container changes where it stands, a new one comes as early as the patch has it",
     R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}})",
     R"({"spec":{"containers":[{"name":"c","image":"3"},{"name":"b","image":"2"}]}})",
     R"({"spec":{"containers":[{"name":"c","image":"3"},{"name":"a","image":"1"},
         {"name":"b","image":"2"}]}})"},
    {"lists in lists",
     R"({"spec":{"containers":[{"name":"a","args":["x"],"env":[{"name":"E","value":"1"}]}]}})",
     R"({"spec":{"containers":[{"name":"a","args":["y"],
         "env":[{"name":"F","value":"2"},{"name":"E","value":null}]}]}})",
     R"({"spec":{"containers":[{"name":"a","args":["y"],
         "env":[{"name":"F","value":"2"},{"name":"E"}]}]}})"},
    {"a merge key that is a number",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80},{"containerPort":81}]}]}})",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":81,"name":"x"}]}]}})",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80},
         {"containerPort":81,"name":"x"}]}]}})"},
    {"an item is deleted", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
     R"({"spec":{"containers":[{"name":"b"}]}})"},
    {"a list is replaced", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
     R"({"spec":{"containers":[{"name":"c"}]}})"},
    {"an object is replaced", R"({"spec":{"strategy":{"type":"a","x":1}}})",
     R"({"spec":{"strategy":{"$patch":"replace","type":"b"}}})",
     R"({"spec":{"strategy":{"type":"b"}}})"},
    {"an object is emptied", R"({"spec":{"strategy":{"type":"a"}}})",
     R"({"spec":{"strategy":{"$patch":"delete"}}})", R"({"spec":{"strategy":{}}})"},
    {"an object merges on request", R"({"spec":{"strategy":{"type":"a"}}})",
     R"({"spec":{"strategy":{"$patch":"merge","x":1}}})",
     R"({"spec":{"strategy":{"type":"a","x":1}}})"},
    {"an object whose strategy is to be replaced", R"({"spec":{"whole":{"a":1}}})",
     R"({"spec":{"whole":{"b":2}}})", R"({"spec":{"whole":{"b":2}}})"},
    {"lists without a strategy are replaced", R"({"spec":{"tolerations":[{"key":"a"}]}})",
     R"({"spec":{"tolerations":[{"key":"b"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})"},
    {"so are lists that no schema knows", R"({"x":[1,2]})", R"({"x":[3]})", R"({"x":[3]})"},
    {"a union keeps what is named",
     R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
     R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
     R"({"spec":{"strategy":{"type":"Recreate"}}})"},
    {"plain values are added once", R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"finalizers":["c","a"]}})", R"({"metadata":{"finalizers":["c","a","b"]}})"},
    {"plain values are deleted", R"({"metadata":{"finalizers":["a","b","c"]}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a","x"]}})",
     R"({"metadata":{"finalizers":["b","c"]}})"},
    {"deleted from nothing", R"({"metadata":{}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})", R"({"metadata":{}})"},
    {"plain values in the order given", R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"$setElementOrder/finalizers":["c","b","a"],"finalizers":["c"]}})",
     R"({"metadata":{"finalizers":["c","b","a"]}})"},
    {"order and deletion, as kubectl edit sends them",
     R"({"metadata":{"finalizers":["a","b","c"]}})",
     R"({"metadata":{"$setElementOrder/finalizers":["c","b"],
         "$deleteFromPrimitiveList/finalizers":["a"]}})",
     R"({"metadata":{"finalizers":["c","b"]}})"},
    {"items in the order given, and those of the server where they were",
     R"({"spec":{"containers":[{"name":"s"},{"name":"a"},{"name":"t"},{"name":"b"},{"name":"u"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"b"}],
         "containers":[{"name":"c"},{"name":"b","image":"2"}]}})",
     R"({"spec":{"containers":[{"name":"c"},{"name":"s"},{"name":"a"},{"name":"t"},
         {"name":"b","image":"2"},{"name":"u"}]}})"},
    {"the order alone", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})",
     R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"},
    {"the order with an item deleted", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"b"}],
         "containers":[{"name":"a","$patch":"delete"}]}})",
     R"({"spec":{"containers":[{"name":"b"}]}})"},
    {"the order of what is new", R"({"spec":{}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a"}]}})",
     R"({"spec":{"containers":[{"name":"a"}]}})"},
    {"the order of what is nowhere", R"({"spec":{}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"a"}]}})", R"({"spec":{}})"},
    {"another type takes the place", R"({"spec":{"tolerations":"x"}})",
     R"({"spec":{"tolerations":[{"key":null}]}})", R"({"spec":{"tolerations":[{}]}})"},
};

TEST(StrategicPatch, MergesAsTheSchemaSays) {
    for (const StrategicCase& one : strategic_cases) {
        const auto result = patched(one.document, one.patch);

        ASSERT_TRUE(result) << one.name << ": " << result.error().message;
        EXPECT_EQ(*result, json::parse(one.expected)) << one.name << ": " << *result;
    }
}

struct RefusedStrategic {
    std::string_view patch;
    std::string_view words;
};

TEST(StrategicPatch, RefusesWhatMakesNoSense) {
    constexpr std::string_view document =
        R"({"metadata":{"finalizers":["a"]},"spec":{"containers":[{"name":"a"},{"name":"b"}],
            "strategy":{"type":"a"},"tolerations":[{"key":"a"}]}})";
    constexpr RefusedStrategic cases[] = {
        {R"([])", "is an object"},
        {R"({"$patch":"spam"})", "unknown $patch \"spam\""},
        {R"({"$patch":1})", "unknown $patch: 1"},
        {R"({"spec":{"containers":[{"image":"x"}]}})", "does not contain the merge key \"name\""},
        {R"({"spec":{"containers":[{"$patch":"delete"}]}})", "does not contain the merge key"},
        {R"({"spec":{"containers":["x"]}})", "containers: expected objects with \"name\""},
        {R"({"spec":{"containers":[{"name":"a","$patch":"spam"}]}})", "unknown $patch"},
        {R"({"metadata":{"finalizers":[{}]}})", "finalizers: cannot merge without a merge key"},
        {R"({"spec":{"strategy":{"$retainKeys":"type"}}})", "expected a list of names"},
        {R"({"spec":{"strategy":{"$retainKeys":["x"],"type":"b"}}})", "does not name \"type\""},
        {R"({"spec":{"$deleteFromPrimitiveList/containers":["a"]}})", "not a list of plain values"},
        {R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}})", "expected a list"},
        {R"({"metadata":{"$setElementOrder/finalizers":"a"}})", "expected lists"},
        {R"({"spec":{"$setElementOrder/containers":["a"]}})", "does not contain the merge key"},
        {R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],
             "containers":[{"name":"b"},{"name":"a"}]}})",
         "order of the patch's items"},
        {R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"c"}]}})",
         "order of the patch's items"},
    };
    for (const RefusedStrategic& one : cases) {
        const auto result = patched(document, one.patch);

        ASSERT_FALSE(result) << one.patch;
        EXPECT_EQ(result.error().code, Code::invalid);
        EXPECT_THAT(result.error().message, testing::HasSubstr(std::string(one.words)));
    }
}

TEST(StrategicPatch, RefusesWhatNestsTooDeep) {
    json::value patch = json::object();
    for (int i = 0; i < 250; ++i) { patch = json::object({{"a", patch}}); }

    const auto result = strategic_patch(json::object(), patch, Schema(pod_schema(), nullptr));

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::limit);
}

}  // namespace
}  // namespace muster::lab
