#include "lab/protobuf_test.h"

#include "lab/api_fixture_test.h"
#include "lab/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

using testing::HasSubstr;

Result<json::object> read(std::string_view bytes) {
    return read_protobuf(bytes, built_in_wire_table());
}

/// What a message of a kind comes to, without its kind.
json::value told(std::string_view api_version, std::string_view kind, const ProtobufText& message) {
    auto object = read(in_envelope(api_version, kind, message.bytes()));
    if (!object) { return json::value(object.error().message); }
    EXPECT_EQ(object->at("apiVersion").as_string(), api_version);
    EXPECT_EQ(object->at("kind").as_string(), kind);
    object->erase("apiVersion");
    object->erase("kind");
    return json::value(std::move(*object));
}

/// The names in JSON, those of inline messages too.
std::set<std::string> names_of(std::size_t message) {
    std::set<std::string> out;
    for (const WireField& field : built_in_wire_table().fields(message)) {
        if (field.is_inline) {
            out.merge(names_of(field.message));
        } else {
            out.insert(field.name);
        }
    }
    return out;
}

std::string message_name(std::string_view schema) {
    std::string out = "k8s.io." + std::string(schema.substr(std::string_view("io.k8s.").size()));
    if (const std::size_t at = out.find("apiextensions-apiserver"); at != std::string::npos) {
        out.replace(at, std::string_view("apiextensions-apiserver").size(),
                    "apiextensions_apiserver");
    }
    return out;
}

}  // namespace

TEST(WireTable, HasTheFieldsThatTheSchemasHave) {
    const WireTable& table = built_in_wire_table();
    EXPECT_EQ(table.origin(), built_in_schemas().origin());

    int compared = 0;
    for (const auto& [name, schema] : built_in_schemas().definitions()) {
        const std::size_t* message = table.find_message(message_name(name));
        const json::value* properties = schema.as_object().if_contains("properties");
        if (message == nullptr || properties == nullptr) { continue; }
        std::set<std::string> in_schema;
        for (const auto& [field, type] : properties->as_object()) { in_schema.emplace(field); }
        if (schema.as_object().contains("x-kubernetes-group-version-kind")) {
            in_schema.erase("apiVersion");  // they stand in the envelope
            in_schema.erase("kind");
        }
        EXPECT_EQ(names_of(*message), in_schema) << std::string(name);
        ++compared;
    }
    EXPECT_GT(compared, 500);
}

TEST(WireTable, HasEveryKindThatIsServedAndNoCustomOne) {
    const WireTable& table = built_in_wire_table();
    for (const ResourceType& type : built_in_resources()) {
        const bool is_custom = type.group.ends_with("volcano.sh");
        EXPECT_EQ(table.find(type.api_version(), type.kind) == nullptr, is_custom)
            << type.api_version() << " " << type.kind;
    }
    for (const auto& [version, kind] : {std::pair("v1", "DeleteOptions"),
                                        {"v1", "Binding"},
                                        {"policy/v1", "Eviction"},
                                        {"autoscaling/v1", "Scale"},
                                        {"authentication.k8s.io/v1", "TokenRequest"}}) {
        EXPECT_NE(table.find(version, kind), nullptr) << kind;
    }
}

TEST(WireTable, RefusesWhatIsNone) {
    for (const std::string_view text :
         {"", "[]", "{}", R"({"kubernetes":"1","kinds":{},"messages":{"a":[[1,"x","nobody",""]]}})",
          R"({"kubernetes":"1","kinds":{"/v1/A":"a"},"messages":{}})",
          R"({"kubernetes":"1","kinds":{},"messages":{"a":[[0,"x","string",""]]}})"}) {
        EXPECT_FALSE(WireTable::read(text)) << text;
    }
}

// The bytes are those of `kubectl create configmap`, taken apart.
TEST(Protobuf, ReadsAConfigMap) {
    const ProtobufText map =
        ProtobufText()
            .text(1, ProtobufText()
                         .text(1, "c")
                         .text(2, "")
                         .text(3, "default")
                         .varint(7, 0)
                         .text(8, "")  // a time that is zero
                         .bytes())
            .text(2, ProtobufText().text(1, "key").text(2, "w\xc3\xb6rter").bytes())
            .text(3, ProtobufText().text(1, "bin").text(2, std::string_view("\0\xff", 2)).bytes());

    EXPECT_EQ(
        told("v1", "ConfigMap", map),
        json::parse(R"({"metadata":{"name":"c","namespace":"default"},"data":{"key":"wörter"},)"
                    R"("binaryData":{"bin":"AP8="}})"));
}

TEST(Protobuf, WritesEachTypeAsJsonDoes) {
    const auto pod = [](const ProtobufText& spec) { return ProtobufText().text(2, spec.bytes()); };
    const auto container = [&](const ProtobufText& one) {
        return pod(ProtobufText().text(2, one.bytes()));
    };
    const auto port = [](const ProtobufText& value) {
        return ProtobufText().text(
            2, ProtobufText().text(1, ProtobufText().text(4, value.bytes()).bytes()).bytes());
    };
    const auto meta_of = [](const ProtobufText& one) {
        return ProtobufText().text(1, one.bytes());
    };
    const auto time = [](std::uint64_t seconds) {
        return ProtobufText().varint(1, seconds).varint(2, 999'999'999).bytes();
    };
    struct Case {
        std::string_view what;
        std::string_view version;
        std::string_view kind;
        ProtobufText message;
        std::string_view expected;
    };
    const std::vector<Case> cases = {
        {"a pointer to 0 is there", "apps/v1", "Deployment",
         ProtobufText().text(2, ProtobufText().varint(1, 0).varint(5, 0).bytes()),
         R"({"spec":{"replicas":0}})"},
        {"a number below 0", "scheduling.k8s.io/v1", "PriorityClass",
         ProtobufText().varint(2, static_cast<std::uint64_t>(-5)).varint(3, 1),
         R"({"value":-5,"globalDefault":true})"},
        {"empty objects are there", "v1", "Pod", pod(ProtobufText()).text(3, ""),
         R"({"spec":{},"status":{}})"},
        {"a field of an inline message", "v1", "Pod",
         pod(ProtobufText().text(
             1,
             ProtobufText()
                 .text(1, "v")
                 .text(2, ProtobufText().text(2, ProtobufText().text(1, "Memory").bytes()).bytes())
                 .bytes())),
         R"({"spec":{"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}]}})"},
        {"quantities", "v1", "Pod",
         container(ProtobufText().text(1, "c").text(
             8, ProtobufText()
                    .text(1, ProtobufText()
                                 .text(1, "nvidia.com/gpu")
                                 .text(2, ProtobufText().text(1, "2").bytes())
                                 .bytes())
                    .text(1, ProtobufText().text(1, "cpu").bytes())
                    .bytes())),
         R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"2","cpu":"0"}}}]}})"},
        {"a number of int or string", "v1", "Service",
         port(ProtobufText().varint(1, 0).varint(2, 8080).text(3, "")),
         R"({"spec":{"ports":[{"targetPort":8080}]}})"},
        {"a string of int or string", "v1", "Service",
         port(ProtobufText().varint(1, 1).varint(2, 0).text(3, "http")),
         R"({"spec":{"ports":[{"targetPort":"http"}]}})"},
        {"a time", "v1", "Namespace", meta_of(ProtobufText().text(8, time(1'790'000'000))),
         R"({"metadata":{"creationTimestamp":"2026-09-21T14:13:20Z"}})"},
        {"the epoch is a time", "v1", "Namespace", meta_of(ProtobufText().text(8, time(0))),
         R"({"metadata":{"creationTimestamp":"1970-01-01T00:00:00Z"}})"},
        {"the first time", "v1", "Namespace",
         meta_of(ProtobufText().text(8, time(static_cast<std::uint64_t>(-62'135'596'800)))),
         R"({"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}})"},
        {"a time with microseconds", "coordination.k8s.io/v1", "Lease",
         ProtobufText().text(2, ProtobufText().text(3, time(1)).bytes()),
         R"({"spec":{"acquireTime":"1970-01-01T00:00:01.999999Z"}})"},
        {"who owns which field", "v1", "Namespace",
         meta_of(ProtobufText().text(
             17,
             ProtobufText().text(7, ProtobufText().text(1, R"({"f:data":{}})").bytes()).bytes())),
         R"({"metadata":{"managedFields":[{"fieldsV1":{"f:data":{}}}]}})"},
        {"numbers one by one and packed", "v1", "Pod",
         pod(ProtobufText().text(
             14, ProtobufText().varint(4, 7).text(4, std::string_view("\x08\x80\x01", 3)).bytes())),
         R"({"spec":{"securityContext":{"supplementalGroups":[7,8,128]}}})"},
        {"a message in two parts is one", "v1", "Namespace",
         meta_of(ProtobufText().text(1, "a")).text(1, ProtobufText().text(3, "b").bytes()),
         R"({"metadata":{"name":"a","namespace":"b"}})"},
        {"the last of two", "v1", "Namespace", meta_of(ProtobufText().text(1, "a").text(1, "b")),
         R"({"metadata":{"name":"b"}})"},
        {"what is no UTF-8 is replaced", "v1", "Namespace",
         meta_of(ProtobufText().text(1, "a\xff")), "{\"metadata\":{\"name\":\"a\xef\xbf\xbd\"}}"},
        {"what is not known is skipped", "v1", "Namespace",
         ProtobufText().varint(99, 1).text(98, "x").fixed64(97, 3).raw("\xa5\x06"
                                                                       "abcd"),
         "{}"},
        {"lists in maps", "authentication.k8s.io/v1", "TokenReview",
         ProtobufText().text(
             3,
             ProtobufText()
                 .text(2,
                       ProtobufText()
                           .text(4, ProtobufText()
                                        .text(1, "scopes")
                                        .text(2, ProtobufText().text(1, "a").text(1, "b").bytes())
                                        .bytes())
                           .bytes())
                 .bytes()),
         R"({"status":{"user":{"extra":{"scopes":["a","b"]}}}})"},
    };
    for (const Case& one : cases) {
        EXPECT_EQ(told(one.version, one.kind, one.message), json::parse(one.expected)) << one.what;
    }
}

TEST(Protobuf, ReadsTheSchemaOfADefinition) {
    const std::string leaf = ProtobufText().text(5, "string").bytes();
    const auto entry = [](std::uint32_t number, std::string_view key, std::string_view value) {
        return ProtobufText()
            .text(number, ProtobufText().text(1, key).text(2, value).bytes())
            .bytes();
    };
    const std::uint64_t half = std::bit_cast<std::uint64_t>(0.5);
    const std::string schema =
        ProtobufText()
            .text(8, ProtobufText().text(1, R"({"a":1})").bytes())
            .fixed64(9, half)
            .text(24, ProtobufText().text(2, leaf).text(2, leaf).bytes())
            .raw(entry(29, "p", leaf))
            .text(30, ProtobufText().varint(1, 1).bytes())
            .raw(entry(32, "d", ProtobufText().text(2, "x").text(2, "y").bytes()))
            .raw(entry(32, "e", ProtobufText().text(1, leaf).bytes()))
            .text(33, ProtobufText().varint(1, 1).text(2, leaf).bytes())
            .bytes();
    const ProtobufText definition = ProtobufText().text(
        2, ProtobufText()
               .text(7, ProtobufText().text(4, ProtobufText().text(1, schema).bytes()).bytes())
               .bytes());

    EXPECT_EQ(told("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition),
              json::parse(R"({"spec":{"versions":[{"schema":{"openAPIV3Schema":{"default":{"a":1},)"
                          R"("maximum":5E-1,"items":[{"type":"string"},{"type":"string"}],)"
                          R"("properties":{"p":{"type":"string"}},"additionalProperties":true,)"
                          R"("dependencies":{"d":["x","y"],"e":{"type":"string"}},)"
                          R"("additionalItems":{"type":"string"}}}}]}})"));
}

TEST(Protobuf, ReadsObjectsWithinObjects) {
    const auto revision = [](std::string_view raw) {
        return ProtobufText().text(2, ProtobufText().text(1, raw).bytes());
    };
    const std::string space = in_envelope(
        "v1", "Namespace", ProtobufText().text(1, ProtobufText().text(1, "n").bytes()).bytes());

    EXPECT_EQ(told("apps/v1", "ControllerRevision", revision(R"({"a":[1]})")),
              json::parse(R"({"data":{"a":[1]}})"));
    EXPECT_EQ(
        told("apps/v1", "ControllerRevision", revision(space)),
        json::parse(R"({"data":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n"}}})"));
    EXPECT_EQ(told("apps/v1", "ControllerRevision", revision("")), json::parse("{}"));
}

TEST(Protobuf, ReadsJsonInTheEnvelope) {
    const auto object = read(in_envelope("", "", R"({"kind":"Pod"})", "application/json"));

    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(json::serialize(*object), R"({"kind":"Pod"})");
}

TEST(Protobuf, RefusesWhatIsMalformed) {
    const auto space = [](const ProtobufText& message) {
        return in_envelope("v1", "Namespace", message.bytes());
    };
    const auto time = [&](std::uint64_t seconds, std::uint64_t nanos) {
        return space(ProtobufText().text(
            1, ProtobufText()
                   .text(8, ProtobufText().varint(1, seconds).varint(2, nanos).bytes())
                   .bytes()));
    };
    std::string nested;
    for (int i = 0; i < 100; ++i) {
        nested =
            in_envelope("apps/v1", "ControllerRevision",
                        ProtobufText().text(2, ProtobufText().text(1, nested).bytes()).bytes());
    }
    const std::size_t* schema = built_in_wire_table().find_message(
        "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    ASSERT_NE(schema, nullptr);
    std::string deep;
    for (int i = 0; i < 10'000; ++i) { deep = ProtobufText().text(28, deep).bytes(); }
    const std::string definition = in_envelope(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition",
        ProtobufText()
            .text(2,
                  ProtobufText()
                      .text(7, ProtobufText().text(4, ProtobufText().text(1, deep).bytes()).bytes())
                      .bytes())
            .bytes());
    const std::uint64_t no_number =
        std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
    struct Case {
        std::string_view what;
        std::string bytes;
        std::string_view expected;
    };
    const std::vector<Case> cases = {
        {"nothing", "", "does not begin"},
        {"JSON", R"({"kind":"Pod"})", "does not begin"},
        {"no kind", std::string("k8s\0", 4), "no kind \"\" is registered"},
        {"a kind of nobody", in_envelope("v1", "Gadget", ""), "no kind \"Gadget\""},
        {"a kind of a custom group", in_envelope("batch.volcano.sh/v1alpha1", "Job", ""),
         "no kind"},
        {"a packed body", std::string("k8s\0", 4) + ProtobufText().text(3, "gzip").bytes(),
         "encoding \"gzip\""},
        {"an end within a number", space(ProtobufText().raw("\x80")), "ends within a number"},
        {"a number without end", space(ProtobufText().raw(std::string(11, '\xff'))), "too long"},
        {"an end within a field",
         space(ProtobufText().raw("\x0a\x05"
                                  "abc")),
         "within a field"},
        {"a length of 2^63", space(ProtobufText().raw("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")),
         "within a field"},
        {"an end within a fixed number",
         space(ProtobufText().raw("\x09"
                                  "abc")),
         "within a number"},
        {"the field 0", space(ProtobufText().raw(std::string_view("\x02\x00", 2))), "no number"},
        {"a group", space(ProtobufText().raw("\x0b")), "unknown form"},
        {"a number for an object", space(ProtobufText().varint(1, 1)), "wrong form"},
        {"a text for a number",
         in_envelope("scheduling.k8s.io/v1", "PriorityClass", ProtobufText().text(2, "x").bytes()),
         "wrong form"},
        {"a time after 9999", time(253'402'300'800, 0), "out of range"},
        {"a time before 1", time(static_cast<std::uint64_t>(-62'135'596'801), 0), "out of range"},
        {"too many nanoseconds", time(0, 1'000'000'000), "out of range"},
        {"broken JSON within",
         in_envelope("apps/v1", "ControllerRevision",
                     ProtobufText().text(2, ProtobufText().text(1, "{").bytes()).bytes()),
         "what is JSON in it"},
        {"envelopes without end", nested, "too deep"},
        {"schemas without end", definition, "too deep"},
        {"a number that is none",
         in_envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                     ProtobufText()
                         .text(2, ProtobufText()
                                      .text(7, ProtobufText()
                                                   .text(4, ProtobufText()
                                                                .text(1, ProtobufText()
                                                                             .fixed64(9, no_number)
                                                                             .bytes())
                                                                .bytes())
                                                   .bytes())
                                      .bytes())
                         .bytes()),
         "a number is none"},
    };
    for (const Case& one : cases) {
        const auto object = read(one.bytes);
        ASSERT_FALSE(object) << one.what;
        EXPECT_THAT(object.error().message, HasSubstr(one.expected)) << one.what;
    }
}

// However it is cut off, there is an answer and no crash.
TEST(Protobuf, TakesABodyThatIsCutAnywhere) {
    const std::string whole = protobuf_of(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},
            "spec":{"containers":[{"name":"c","image":"i","env":[{"name":"x","value":"y"}],
            "resources":{"limits":{"nvidia.com/gpu":"1"}}}],"terminationGracePeriodSeconds":0}})");
    ASSERT_TRUE(read(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto object = read(std::string_view(whole).substr(0, size));
        EXPECT_TRUE(!object || object->contains("kind")) << size;
    }
}

class ProtobufApi : public ApiTest {
protected:
    net::HttpResponse send(std::string method, std::string target, std::string_view json) {
        return api->handle(
            {.method = std::move(method),
             .target = std::move(target),
             .headers = {{"Authorization", "Bearer secret"},
                         {"Accept", "application/vnd.kubernetes.protobuf,application/json"},
                         {"Content-Type", "application/vnd.kubernetes.protobuf"}},
             .body = protobuf_of(json),
             .client_name = {}});
    }
};

TEST_F(ProtobufApi, TakesItForEveryRequestWithABody) {
    const auto made = send("POST", pods,
                           R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
                               "spec":{"containers":[{"name":"c","image":"busybox"}]}})");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(at_path(made, "/spec/containers/0/image"), "busybox");

    const auto bound = send("POST", pods + "/p/binding",
                            R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},
                                "target":{"kind":"Node","name":"node-0"}})");
    EXPECT_EQ(bound.status, 201) << bound.body;
    EXPECT_EQ(at_path(ask("GET", pods + "/p"), "/spec/nodeName"), "node-0");

    const auto evicted = send("POST", pods + "/p/eviction",
                              R"({"apiVersion":"policy/v1","kind":"Eviction",
                                  "metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":7}})");
    EXPECT_EQ(evicted.status, 201) << evicted.body;
    EXPECT_EQ(at_path(ask("GET", pods + "/p"), "/metadata/deletionGracePeriodSeconds"), "7");

    const auto removed =
        send("DELETE", pods + "/p",
             R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0})");
    EXPECT_EQ(removed.status, 200) << removed.body;
    EXPECT_EQ(ask("GET", pods + "/p").status, 404);
}

TEST_F(ProtobufApi, TakesScalesAndUpdates) {
    const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
    const std::string_view web =
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{
            "replicas":0,"selector":{"matchLabels":{"app":"web"}},"template":{
            "metadata":{"labels":{"app":"web"}},
            "spec":{"containers":[{"name":"c","image":"busybox"}]}}}})";
    ASSERT_EQ(send("POST", deployments, web).status, 201);
    EXPECT_EQ(at_path(ask("GET", deployments + "/web"), "/spec/replicas"), "0");

    const auto scaled = send("PUT", deployments + "/web/scale",
                             R"({"apiVersion":"autoscaling/v1","kind":"Scale",
                                 "metadata":{"name":"web"},"spec":{"replicas":3}})");
    EXPECT_EQ(scaled.status, 200) << scaled.body;
    EXPECT_EQ(at_path(ask("GET", deployments + "/web"), "/spec/replicas"), "3");

    const auto updated = send("PUT", deployments + "/web", web);
    EXPECT_EQ(updated.status, 200) << updated.body;
    EXPECT_EQ(at_path(ask("GET", deployments + "/web"), "/spec/replicas"), "0");
}

TEST_F(ProtobufApi, RefusesWhatItCannotRead) {
    const auto refused =
        api->handle({.method = "POST",
                     .target = pods,
                     .headers = {{"Authorization", "Bearer secret"},
                                 {"Content-Type", "application/vnd.kubernetes.protobuf"}},
                     .body = "{}",
                     .client_name = {}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(at_path(refused, "/reason"), "BadRequest");
    EXPECT_THAT(at_path(refused, "/message"), HasSubstr("protobuf"));
}

}  // namespace muster::lab
