#include "lab/schema.h"

#include "lab/schema_format.h"

#include <boost/json.hpp>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> faults_of(std::string_view object, const json::value& schema,
                                   const json::object* definitions = nullptr) {
    std::vector<std::string> out;
    for (const FieldFault& fault : check(json::parse(object), Schema(schema, definitions))) {
        out.push_back(fmt::format("{} | {}", fault.field, fault.detail));
    }
    return out;
}

struct CheckCase {
    std::string_view schema;  // of the field x
    std::string_view value;
    std::string_view fault;  // "" = none
};

// The words of a real API server about an object of a custom kind.
constexpr CheckCase structural_cases[] = {
    {R"({"type":"integer"})", "1", ""},
    {R"({"type":"integer"})", "1.0", ""},
    {R"({"type":"integer"})", R"("a")",
     R"(x | Invalid value: "string": x in body must be of type integer: "string")"},
    {R"({"type":"string"})", "1",
     R"(x | Invalid value: "integer": x in body must be of type string: "integer")"},
    {R"({"type":"string"})", "null",
     R"(x | Invalid value: "null": x in body must be of type string: "null")"},
    {R"({"type":"string","nullable":true})", "null", ""},
    {R"({"type":"number"})", "1", ""},
    {R"({"type":"array","items":{"type":"boolean"}})", "[true,1]",
     R"(x[1] | Invalid value: "integer": x[1] in body must be of type boolean: "integer")"},
    {R"({"type":"object","additionalProperties":{"type":"string"}})", R"({"k":1})",
     R"(x.k | Invalid value: "integer": x.k in body must be of type string: "integer")"},
    {R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})",
     R"("5%")", ""},
    {R"({"x-kubernetes-int-or-string":true})", "true",
     R"(x | Invalid value: "boolean": x in body must be of type integer,string: "boolean")"},
    {R"({"type":"string","enum":["a","b"]})", R"("b")", ""},
    {R"({"type":"string","enum":["a","b"]})", R"("c")",
     R"(x | Unsupported value: "c": supported values: "a", "b")"},
    {R"({"type":"integer","minimum":1})", "1", ""},
    {R"({"type":"integer","minimum":1})", "0",
     "x | Invalid value: 0: x in body should be greater than or equal to 1"},
    {R"({"type":"integer","minimum":1,"exclusiveMinimum":true})", "1",
     "x | Invalid value: 1: x in body should be greater than 1"},
    {R"({"type":"number","maximum":1.5})", "2",
     "x | Invalid value: 2: x in body should be less than or equal to 1.5E0"},
    {R"({"type":"integer","maximum":2,"exclusiveMaximum":true})", "2",
     "x | Invalid value: 2: x in body should be less than 2"},
    {R"({"type":"integer","multipleOf":5})", "12",
     "x | Invalid value: 12: x in body should be a multiple of 5"},
    {R"({"type":"integer","format":"int32"})", "2147483647", ""},
    {R"({"type":"integer","format":"int32"})", "2147483648",
     "x | Invalid value: 2147483648: x in body must be of type integer with format int32"},
    {R"({"type":"integer","format":"int64"})", "9223372036854775808",
     "x | Invalid value: 9223372036854775808: x in body must be of type integer with format int64"},
    {R"({"type":"string","minLength":2})", R"("ä")",
     R"(x | Invalid value: "ä": x in body should be at least 2 chars long)"},
    {R"({"type":"string","maxLength":1})", R"("ä")", ""},
    {R"({"type":"string","maxLength":1})", R"("ab")", "x | Too long: may not be more than 1 bytes"},
    {R"({"type":"string","pattern":"^[a-z]+$"})", R"("abc")", ""},
    {R"({"type":"string","pattern":"^[a-z]+$"})", R"("a1")",
     R"(x | Invalid value: "a1": x in body should match '^[a-z]+$')"},
    {R"({"type":"string","pattern":"(?i)a"})", R"("b")", ""},
    {R"({"type":"string","format":"date-time"})", R"("2024-02-30T00:00:00Z")",
     "x | Invalid value: \"2024-02-30T00:00:00Z\": x in body must be of type date-time: "
     "\"2024-02-30T00:00:00Z\""},
    {R"({"type":"array","minItems":2,"items":{}})", "[1]",
     "x | Invalid value: 1: x in body should have at least 2 items"},
    {R"({"type":"array","maxItems":1,"items":{}})", "[1,2]",
     "x | Too many: 2: must have at most 1 items"},
    {R"({"type":"array","uniqueItems":true,"items":{}})", "[1,1.0]",
     "x | x in body shouldn't contain duplicates"},
    {R"({"type":"array","x-kubernetes-list-type":"set","items":{}})", R"(["a","b","a"])",
     R"(x[2] | Duplicate value: "a")"},
    {R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
         "items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}})",
     R"([{"k":1,"v":1},{"k":2},{"k":1}])", R"(x[2] | Duplicate value: {"k":1})"},
    {R"({"type":"object","required":["y"],"x-kubernetes-preserve-unknown-fields":true})", "{}",
     "x.y | Required value"},
    {R"({"type":"object","properties":{"y":{}}})", R"({"z":1})", R"(x.z | unknown field "x.z")"},
    {R"({"type":"object"})", R"({"z":1})", R"(x.z | unknown field "x.z")"},
    {R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})", R"({"z":1})", ""},
    {R"({"type":"object","x-kubernetes-embedded-resource":true,"properties":{}})",
     R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})", ""},
    {R"({"type":"object","maxProperties":1,"additionalProperties":true})", R"({"a":1,"b":2})",
     "x | Too many: 2: must have at most 1 items"},
    {R"({"type":"object","minProperties":1,"additionalProperties":true})", "{}",
     "x | Invalid value: 0: x in body should have at least 1 properties"},
    {R"({"type":"integer","oneOf":[{"minimum":5},{"maximum":5}]})", "5",
     "x | Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). "
     "Found 2 valid alternatives"},
    {R"({"type":"integer","oneOf":[{"minimum":5},{"maximum":3}]})", "4",
     "x | Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). "
     "Found none valid"},
    {R"({"type":"integer","anyOf":[{"minimum":5},{"maximum":3}]})", "4",
     "x | Invalid value: \"\": \"x\" must validate at least one schema (anyOf)"},
    {R"({"type":"integer","allOf":[{"minimum":5},{"maximum":9}]})", "4",
     "x | Invalid value: \"\": \"x\" must validate all the schemas (allOf)"},
    {R"({"type":"integer","not":{"minimum":5}})", "6",
     "x | Invalid value: \"\": \"x\" must not validate the schema (not)"},
    {R"({"type":"object","properties":{"a":{},"b":{}},"oneOf":[{"required":["a"]},
         {"required":["b"]}]})",
     R"({"b":1})", ""},
};

TEST(SchemaCheck, SaysOfCustomKindsWhatAnApiServerSays) {
    for (const CheckCase& one : structural_cases) {
        const json::value schema =
            json::parse(fmt::format(R"({{"type":"object","properties":{{"x":{}}}}})", one.schema));

        const auto faults = faults_of(fmt::format(R"({{"x":{}}})", one.value), schema);

        if (one.fault.empty()) {
            EXPECT_THAT(faults, IsEmpty()) << one.schema << one.value;
        } else {
            EXPECT_THAT(faults, ElementsAre(std::string(one.fault))) << one.schema << one.value;
        }
    }
}

TEST(SchemaCheck, LeavesMetadataOfCustomKindsAlone) {
    const json::value schema = json::parse(R"({"type":"object","properties":{
        "metadata":{"type":"object"},"spec":{"type":"object"}}})");

    EXPECT_THAT(
        faults_of(R"({"apiVersion":"a/v1","kind":"A","metadata":{"name":"x"},"spec":{}})", schema),
        IsEmpty());
}

const json::value& typed_schema() {
    static const json::value schema = json::parse(R"({"type":"object",
      "x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"Pod"}],
      "properties":{"spec":{"allOf":[{"$ref":"#/components/schemas/Spec"}]},
        "status":{"type":"object","required":["phase"],"properties":{}}}})");
    return schema;
}

const json::object& typed_definitions() {
    static const json::value definitions = json::parse(R"({
      "Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]},
      "Spec":{"type":"object","properties":{
        "replicas":{"type":"integer","format":"int32"},"data":{"type":"string","format":"byte"},
        "policy":{"type":"string","enum":["Always","Never"]},"raw":{"type":"object"},
        "limits":{"type":"object",
          "additionalProperties":{"allOf":[{"$ref":"#/components/schemas/Quantity"}]}},
        "containers":{"type":"array","x-kubernetes-list-type":"map",
          "x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],
          "properties":{"name":{"type":"string","default":""},
            "protocol":{"type":"string","default":"TCP"}}}}}}})");
    return definitions.get_object();
}

struct TypedCase {
    std::string_view object;
    std::string_view fault;
};

TEST(SchemaCheck, SaysOfBuiltInKindsWhatDecodingWouldSay) {
    constexpr TypedCase cases[] = {
        {R"({"spec":{"replicas":"three"}})",
         "spec.replicas | json: cannot unmarshal string into Go struct field Spec.spec.replicas of "
         "type int32"},
        {R"({"spec":{"replicas":1.5}})",
         "spec.replicas | json: cannot unmarshal number 1.5 into Go struct field "
         "Spec.spec.replicas of type int32"},
        {R"({"spec":{"replicas":3000000000}})",
         "spec.replicas | json: cannot unmarshal number 3000000000 into Go struct field "
         "Spec.spec.replicas of type int32"},
        {R"({"spec":{"replicas":null}})", ""},
        {R"({"spec":[]})",
         "spec | json: cannot unmarshal array into Go struct field .spec of type .Spec"},
        {R"({"spec":{"limits":{"cpu":"1","memory":1,"x":2.5}}})", ""},
        {R"({"spec":{"limits":{"cpu":true}}})",
         "spec.limits.cpu | quantities must match the regular expression "
         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        {R"({"spec":{"data":"YQ=="}})", ""},
        {R"({"spec":{"data":"a"}})", "spec.data | illegal base64 data at input byte 1"},
        {R"({"spec":{"policy":""}})", ""},
        {R"({"spec":{"policy":"Maybe"}})",
         R"(spec.policy | Unsupported value: "Maybe": supported values: "Always", "Never")"},
        {R"({"spec":{"raw":{"anything":1}}})", ""},
        {R"({"spec":{"containers":[{"name":"a","foo":1}]}})",
         R"(spec.containers[0].foo | unknown field "spec.containers[0].foo")"},
        {R"({"spec":{"containers":[{}]}})", "spec.containers[0].name | Required value"},
        {R"({"spec":{"foo":1}})", R"(spec.foo | unknown field "spec.foo")"},
        {R"({"status":{}})", ""},
    };
    for (const TypedCase& one : cases) {
        const auto faults = faults_of(one.object, typed_schema(), &typed_definitions());

        if (one.fault.empty()) {
            EXPECT_THAT(faults, IsEmpty()) << one.object;
        } else {
            EXPECT_THAT(faults, ElementsAre(std::string(one.fault))) << one.object;
        }
    }
}

TEST(SchemaCheck, StopsAtAHundredFaults) {
    json::object object;
    for (int i = 0; i < 300; ++i) { object.emplace(fmt::format("f{}", i), i); }

    EXPECT_EQ(check(object, Schema(typed_schema(), &typed_definitions())).size(), 100U);
}

TEST(SchemaPrune, DropsWhatNoSchemaKnows) {
    const json::value schema = json::parse(R"({"type":"object","properties":{"spec":{
        "type":"object","properties":{"a":{"type":"integer"},
          "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
          "list":{"type":"array","items":{"type":"object","properties":{"b":{}}}}}}}})");
    json::value object = json::parse(R"({"apiVersion":"a/v1","metadata":{"name":"x"},"extra":1,
        "spec":{"a":1,"z":2,"free":{"y":{"x":1}},"list":[{"b":1,"c":2}]}})");

    prune(object, Schema(schema, nullptr));

    EXPECT_EQ(object, json::parse(R"({"apiVersion":"a/v1","metadata":{"name":"x"},
        "spec":{"a":1,"free":{"y":{"x":1}},"list":[{"b":1}]}})"));
}

TEST(SchemaDefaults, FillInWhatIsNotThere) {
    const json::value schema = json::parse(R"({"type":"object","properties":{"spec":{
        "type":"object","default":{},"properties":{"a":{"type":"integer","default":1},
          "b":{"type":"integer","default":2,"nullable":true},
          "c":{"type":"integer","default":0},
          "list":{"type":"array","items":{"type":"object","properties":{
            "d":{"type":"string","default":"x"}}}}}}}})");
    json::value empty = json::object();
    json::value given = json::parse(R"({"spec":{"a":null,"b":null,"c":5,"list":[{},{"d":"y"}]}})");

    fill_defaults(empty, Schema(schema, nullptr));
    fill_defaults(given, Schema(schema, nullptr));

    EXPECT_EQ(empty, json::parse(R"({"spec":{"a":1,"b":2,"c":0}})"));
    EXPECT_EQ(given,
              json::parse(R"({"spec":{"a":1,"b":null,"c":5,"list":[{"d":"x"},{"d":"y"}]}})"));
}

TEST(SchemaDefaults, OfBuiltInKindsDoNotHideWhatIsMissing) {
    json::value object = json::parse(R"({"spec":{"containers":[{}]}})");

    fill_defaults(object, Schema(typed_schema(), &typed_definitions()));

    EXPECT_EQ(object, json::parse(R"({"spec":{"containers":[{"protocol":"TCP"}]}})"));
}

TEST(Pattern, TakesItsTimeInBounds) {
    const Pattern bomb("^(a+)+$");
    EXPECT_FALSE(bomb.matches(std::string(2'000, 'a') + "b"));
    EXPECT_TRUE(bomb.matches(std::string(2'000, 'a')));

    EXPECT_TRUE(Pattern(std::string(1'000, '(')).matches("x"));
    EXPECT_TRUE(Pattern("a{1000}{1000}{1000}").matches("x"));
    EXPECT_TRUE(Pattern("^b$").matches(std::string(Pattern::text_bytes_max + 1, 'a')));
    EXPECT_FALSE(Pattern("^b$").matches(std::string(Pattern::text_bytes_max, 'a')));
}

TEST(Format, KnowsTimesAndBase64) {
    EXPECT_TRUE(has_format("2024-02-29T23:59:59.123456Z", "date-time"));
    EXPECT_TRUE(has_format("2024-01-01T00:00:00+01:00", "date-time"));
    for (const char* text :
         {"", "2024", "2023-02-29T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00",
          "2024-01-01T00:00:00.Z", "2024-01-01 00:00:00Z"}) {
        EXPECT_FALSE(has_format(text, "date-time")) << text;
    }
    EXPECT_TRUE(has_format("", "byte"));
    EXPECT_TRUE(has_format("YWI=", "byte"));
    for (const char* text : {"Y", "YWI", "Y=I=", "YW-_", "Y==="}) {
        EXPECT_FALSE(has_format(text, "byte")) << text;
    }
    EXPECT_TRUE(has_format("anything", "hostname"));
}

}  // namespace
}  // namespace muster::lab
