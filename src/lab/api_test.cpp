#include "lab/api_fixture_test.h"

#include <gmock/gmock.h>

namespace muster::lab {
namespace {

using testing::HasSubstr;

TEST_F(ApiTest, KeepsWhatIsCreatedUntilItIsDeleted) {
    const auto made = make_pod("a");

    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(at_path(made, "/status/phase"), "Pending");
    EXPECT_EQ(at_path(made, "/spec/restartPolicy"), "Always");
    EXPECT_EQ(at_path(made, "/metadata/uid").size(), 36u);
    EXPECT_EQ(at_path(ask("GET", pods + "/a"), "/metadata/uid"), at_path(made, "/metadata/uid"));
    EXPECT_EQ(ask("DELETE", pods + "/a").status, 200);
    EXPECT_EQ(ask("GET", pods + "/a").status, 404);
}

TEST_F(ApiTest, LetsNobodyInWithoutItsToken) {
    const net::HttpRequest request{
        .method = "GET", .target = pods, .headers = {}, .body = {}, .client_name = {}};

    const auto refused = api->handle(request);

    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(at_path(refused, "/reason"), "Unauthorized");
}

struct Refused {
    const char* name;
    const char* method;
    const char* target;
    const char* body;
    int status;
    const char* reason;
    const char* message;
};

class ApiRefuses : public ApiTest, public testing::WithParamInterface<Refused> {};

TEST_P(ApiRefuses, WithTheWordsOfKubernetes) {
    ASSERT_EQ(make_pod("there").status, 201);

    const auto answer = ask(GetParam().method, GetParam().target, GetParam().body);

    EXPECT_EQ(answer.status, GetParam().status) << answer.body;
    EXPECT_EQ(at_path(answer, "/reason"), GetParam().reason);
    EXPECT_THAT(at_path(answer, "/message"), HasSubstr(GetParam().message));
    EXPECT_EQ(at_path(answer, "/kind"), "Status");
    EXPECT_EQ(at_path(answer, "/code"), std::to_string(GetParam().status));
}

constexpr const char* default_pods = "/api/v1/namespaces/default/pods";

INSTANTIATE_TEST_SUITE_P(
    Each, ApiRefuses,
    testing::Values(
        Refused{"UnknownResource", "GET", "/api/v1/nonsense", "", 404, "NotFound",
                "could not find the requested resource"},
        Refused{"UnknownPod", "GET", "/api/v1/namespaces/default/pods/no", "", 404, "NotFound",
                "pods \"no\" not found"},
        Refused{"SameName", "POST", default_pods,
                R"({"metadata":{"name":"there"},"spec":{"containers":[{"name":"c","image":"i"}]}})",
                409, "AlreadyExists", "pods \"there\" already exists"},
        Refused{"UnknownNamespace", "POST", "/api/v1/namespaces/no/pods",
                R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})",
                404, "NotFound", "namespaces \"no\" not found"},
        Refused{"OtherNamespace", "POST", default_pods,
                R"({"metadata":{"name":"a","namespace":"kube-system"}})", 400, "BadRequest",
                "does not match the namespace sent on the request"},
        Refused{"NoContainers", "POST", default_pods, R"({"metadata":{"name":"a"},"spec":{}})", 422,
                "Invalid", "spec.containers: Required value"},
        Refused{"NoName", "POST", default_pods,
                R"({"metadata":{},"spec":{"containers":[{"name":"c","image":"i"}]}})", 422,
                "Invalid", "name or generateName is required"},
        Refused{"BadName", "POST", default_pods,
                R"({"metadata":{"name":"A_b"},"spec":{"containers":[{"name":"c","image":"i"}]}})",
                422, "Invalid", "a lowercase RFC 1123 subdomain"},
        Refused{"HalfAGpu", "POST", default_pods,
                R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i",
                   "resources":{"limits":{"nvidia.com/gpu":"500m"}}}]}})",
                422, "Invalid", "must be an integer"},
        Refused{"OtherKind", "POST", default_pods, R"({"apiVersion":"v1","kind":"Service"})", 400,
                "BadRequest", "converting (v1.Service) to (core.Pod): unknown conversion"},
        Refused{"NoJson", "POST", default_pods, "{", 400, "BadRequest", "json parse error"},
        Refused{"NoBody", "POST", default_pods, "", 400, "BadRequest",
                "unexpected end of JSON input (<empty>)"},
        Refused{
            "WrongType", "POST", default_pods,
            R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":7,"image":"i"}]}})", 400,
            "BadRequest",
            "json: cannot unmarshal number into Go struct field Container.spec.containers.name of "
            "type string"},
        Refused{
            "UnknownFieldWhenStrict", "POST",
            "/api/v1/namespaces/default/pods?fieldValidation=Strict",
            R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}],"no":1}})",
            400, "BadRequest", "strict decoding error: unknown field \"spec.no\""},
        Refused{"SameKeyTwiceWhenStrict", "POST",
                "/api/v1/namespaces/default/pods?fieldValidation=Strict",
                R"({"metadata":{"name":"a","name":"b"}})", 400, "BadRequest", "name"},
        Refused{"ANewPodSpec", "PUT", "/api/v1/namespaces/default/pods/there",
                R"({"metadata":{"name":"there"},"spec":{"containers":[{"name":"d","image":"i"}]}})",
                422, "Invalid", "pod updates may not change fields other than"},
        Refused{"AStaleVersion", "PUT", "/api/v1/namespaces/default/pods/there",
                R"({"metadata":{"name":"there","resourceVersion":"1"},
                   "spec":{"containers":[{"name":"c","image":"busybox"}]}})",
                409, "Conflict", "the object has been modified"},
        Refused{"BadSelector", "GET", "/api/v1/namespaces/default/pods?labelSelector=a%3D%3D%3Db",
                "", 400, "BadRequest", "found '=', expected: identifier"},
        Refused{"PutOnACollection", "PUT", default_pods, "{}", 405, "MethodNotAllowed",
                "does not allow this method"},
        Refused{"OtherUid", "DELETE", "/api/v1/namespaces/default/pods/there",
                R"({"preconditions":{"uid":"other"}})", 409, "Conflict",
                "the UID in the precondition (other) does not match"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(ApiTest, WarnsOfUnknownFieldsAndDropsThem) {
    const auto made =
        ask("POST", pods,
            R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}],
                             "no":1}})");

    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(at_path(made, "/spec/no"), "");
    const auto warning = std::find_if(made.headers.begin(), made.headers.end(),
                                      [](const auto& header) { return header.name == "Warning"; });
    ASSERT_NE(warning, made.headers.end());
    EXPECT_EQ(warning->value, R"(299 - "unknown field \"spec.no\"")");
}

TEST_F(ApiTest, ADryRunSaysWhatWouldBeAndKeepsNothing) {
    const auto made = ask("POST", pods + "?dryRun=All", pod("a"));

    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(ask("GET", pods + "/a").status, 404);
}

TEST_F(ApiTest, MakesNamesUp) {
    const std::string body =
        R"({"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"c","image":"i"}]}})";
    const std::string first = at_path(ask("POST", pods, body), "/metadata/name");
    const std::string second = at_path(ask("POST", pods, body), "/metadata/name");

    EXPECT_EQ(first.size(), 9u);
    EXPECT_TRUE(first.starts_with("web-"));
    EXPECT_NE(first, second);
}

TEST_F(ApiTest, ListsInPagesWhatSelectorsTake) {
    for (int i = 0; i < 5; ++i) {
        const char* tier = i % 2 == 0 ? "even" : "odd";
        ASSERT_EQ(make_pod(fmt::format("p{}", i), fmt::format(R"(,"labels":{{"tier":"{}"}})", tier))
                      .status,
                  201);
    }

    const auto page = ask("GET", pods + "?limit=2");
    const std::string token = at_path(page, "/metadata/continue");
    const auto rest = ask("GET", pods + "?limit=10&continue=" + token);

    EXPECT_EQ(parsed(page).at("items").as_array().size(), 2u);
    EXPECT_EQ(at_path(page, "/metadata/remainingItemCount"), "3");
    EXPECT_EQ(at_path(rest, "/items/0/metadata/name"), "p2");
    EXPECT_EQ(parsed(rest).at("items").as_array().size(), 3u);
    const auto odd = ask("GET", pods + "?labelSelector=tier%20in%20(odd)");
    EXPECT_EQ(parsed(odd).at("items").as_array().size(), 2u);
    const auto one = ask("GET", pods + "?fieldSelector=metadata.name%3Dp3,status.phase%3DPending");
    EXPECT_EQ(parsed(one).at("items").as_array().size(), 1u);
}

TEST_F(ApiTest, ListsTheStateOfAVersionOnlyWhileItIsTheLast) {
    ASSERT_EQ(make_pod("a").status, 201);
    const std::string version = at_path(ask("GET", pods), "/metadata/resourceVersion");
    const std::string exact = pods + "?resourceVersionMatch=Exact&resourceVersion=" + version;

    EXPECT_EQ(ask("GET", exact).status, 200);
    ASSERT_EQ(make_pod("b").status, 201);
    EXPECT_EQ(ask("GET", exact).status, 410);
}

TEST_F(ApiTest, BindsAPodOnce) {
    ASSERT_EQ(make_pod("a").status, 201);
    const std::string binding = R"({"metadata":{"name":"a"},"target":{"kind":"Node","name":"n1"}})";

    EXPECT_EQ(ask("POST", pods + "/a/binding", binding).status, 201);

    const auto bound = ask("GET", pods + "/a");
    EXPECT_EQ(at_path(bound, "/spec/nodeName"), "n1");
    EXPECT_EQ(at_path(bound, "/status/conditions/0/type"), "PodScheduled");
    const auto again = ask("POST", pods + "/a/binding", binding);
    EXPECT_EQ(again.status, 409);
    EXPECT_THAT(again.body, HasSubstr("is already assigned to node"));
    ASSERT_EQ(make_pod("b").status, 201);
    EXPECT_EQ(ask("POST", pods + "/b/binding",
                  R"({"metadata":{"name":"b","uid":"other"},"target":{"name":"n1"}})")
                  .status,
              409);
}

TEST_F(ApiTest, ABoundPodStaysUntilItsKubeletLetsItGo) {
    ASSERT_EQ(make_pod("a").status, 201);
    ASSERT_EQ(ask("POST", pods + "/a/binding", R"({"target":{"name":"n1"}})").status, 201);

    const auto leaving = ask("DELETE", pods + "/a");

    EXPECT_EQ(at_path(leaving, "/metadata/deletionGracePeriodSeconds"), "30");
    EXPECT_EQ(ask("GET", pods + "/a").status, 200);
    EXPECT_EQ(ask("DELETE", pods + "/a?gracePeriodSeconds=0").status, 200);
    EXPECT_EQ(ask("GET", pods + "/a").status, 404);
}

TEST_F(ApiTest, ABudgetKeepsAPodFromBeingEvicted) {
    ASSERT_EQ(make_pod("a", R"(,"labels":{"app":"web"})").status, 201);
    ask("PATCH", pods + "/a/status", R"({"status":{"phase":"Running"}})",
        {{"Content-Type", "application/merge-patch+json"}});
    ASSERT_EQ(ask("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                  R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,
                     "selector":{"matchLabels":{"app":"web"}}}})")
                  .status,
              201);

    const auto refused = ask("POST", pods + "/a/eviction", R"({"metadata":{"name":"a"}})");

    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(at_path(refused, "/reason"), "TooManyRequests");
    ASSERT_EQ(make_pod("free").status, 201);
    EXPECT_EQ(ask("POST", pods + "/free/eviction", R"({"metadata":{"name":"free"}})").status, 201);
    EXPECT_EQ(ask("GET", pods + "/free").status, 404);
}

TEST_F(ApiTest, TextOfASecretIsKeptAsData) {
    const auto made = ask("POST", "/api/v1/namespaces/default/secrets",
                          R"({"metadata":{"name":"s"},"data":{"a":"AA=="},
                              "stringData":{"b":"pass","c":"words","d":"secret"}})");

    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(at_path(made, "/data"),
              R"({"a":"AA==","b":"cGFzcw==","c":"d29yZHM=","d":"c2VjcmV0"})");
    EXPECT_EQ(at_path(made, "/stringData"), "");
    EXPECT_EQ(at_path(made, "/type"), "Opaque");
}

TEST_F(ApiTest, StatusAndSpecChangeApart) {
    ASSERT_EQ(make_pod("a").status, 201);
    const Headers merge{{"Content-Type", "application/merge-patch+json"}};

    const auto status = ask("PATCH", pods + "/a/status",
                            R"({"status":{"phase":"Running"},"spec":{"nodeName":"x"}})", merge);
    const auto main =
        ask("PATCH", pods + "/a",
            R"({"status":{"phase":"Failed"},"metadata":{"labels":{"k":"v"}}})", merge);

    EXPECT_EQ(at_path(status, "/status/phase"), "Running");
    EXPECT_EQ(at_path(status, "/spec/nodeName"), "");
    EXPECT_EQ(at_path(main, "/status/phase"), "Running");
    EXPECT_EQ(at_path(main, "/metadata/labels/k"), "v");
}

TEST_F(ApiTest, AppliesByManagersAndTellsTheirConflicts) {
    const std::string target = "/api/v1/namespaces/default/configmaps/c?fieldManager=";
    const Headers apply{{"Content-Type", "application/apply-patch+yaml"}};
    const auto config = [](const char* value) {
        return fmt::format(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{k: {}}}\n", value);
    };

    EXPECT_EQ(ask("PATCH", target + "one", config("a"), apply).status, 201);
    EXPECT_EQ(ask("PATCH", target + "one", config("b"), apply).status, 200);
    const auto conflicts = ask("PATCH", target + "two", config("c"), apply);

    EXPECT_EQ(conflicts.status, 409);
    EXPECT_THAT(at_path(conflicts, "/message"), HasSubstr("conflict with \"one\": .data.k"));
    const auto forced = ask("PATCH", target + "two&force=true", config("c"), apply);
    EXPECT_EQ(at_path(forced, "/data/k"), "c");
}

TEST_F(ApiTest, ScalesWhatHasReplicas) {
    ASSERT_EQ(ask("POST", "/apis/apps/v1/namespaces/default/deployments",
                  R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                     "template":{"metadata":{"labels":{"a":"b"}},
                     "spec":{"containers":[{"name":"c","image":"i"}]}}}})")
                  .status,
              201);
    const std::string target = "/apis/apps/v1/namespaces/default/deployments/d";

    const auto scaled = ask("PUT", target + "/scale", R"({"spec":{"replicas":3}})");

    EXPECT_EQ(at_path(scaled, "/kind"), "Scale");
    const auto changed = ask("GET", target);
    EXPECT_EQ(at_path(changed, "/spec/replicas"), "3");
    EXPECT_EQ(at_path(changed, "/metadata/generation"), "2");
}

TEST_F(ApiTest, ServesWhatADefinitionDescribes) {
    const std::string things = "/apis/example.com/v1/namespaces/default/things";
    ASSERT_EQ(ask("GET", things).status, 404);
    const auto defined =
        ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            R"({"metadata":{"name":"things.example.com"},"spec":{"group":"example.com",
               "scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
               "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
               {"type":"object","properties":{"spec":{"type":"object","required":["size"],
               "properties":{"size":{"type":"integer","minimum":1},
               "mode":{"type":"string","default":"slow"}}}}}}}]}})");
    ASSERT_EQ(defined.status, 201) << defined.body;
    const auto thing = [](const char* spec) {
        return fmt::format(R"({{"apiVersion":"example.com/v1","kind":"Thing",)"
                           R"("metadata":{{"name":"t"}},"spec":{}}})",
                           spec);
    };

    const auto bad = ask("POST", things, thing(R"({"size":0})"));
    const auto made = ask("POST", things, thing(R"({"size":2})"));

    EXPECT_EQ(bad.status, 422);
    EXPECT_THAT(at_path(bad, "/message"), HasSubstr("spec.size"));
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(at_path(made, "/spec/mode"), "slow");
    EXPECT_EQ(
        ask("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com")
            .status,
        200);
    EXPECT_EQ(ask("GET", things).status, 404);
}

TEST_F(ApiTest, AnswersWithTablesToWhoAsksForThem) {
    ASSERT_EQ(make_pod("a").status, 201);

    const auto table =
        ask("GET", pods, "",
            {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}});

    EXPECT_EQ(at_path(table, "/kind"), "Table");
    EXPECT_EQ(at_path(table, "/columnDefinitions/0/name"), "Name");
    EXPECT_EQ(at_path(table, "/rows/0/cells/0"), "a");
}

TEST_F(ApiTest, NobodyOwnsWhatWasLoadedUntilItIsApplied) {
    const auto owners = "/metadata/managedFields";
    const auto merge = Headers{{"Content-Type", "application/merge-patch+json"}};
    ASSERT_TRUE(api->load([&]() -> Result<> {
        EXPECT_EQ(make_pod("loaded").status, 201);
        return {};
    }));
    ASSERT_EQ(make_pod("made").status, 201);

    EXPECT_EQ(at_path(ask("GET", pods + "/loaded"), owners), "");
    EXPECT_NE(at_path(ask("GET", pods + "/made"), owners), "");
    const auto labelled = api->handle({.method = "PATCH",
                                       .target = pods + "/loaded",
                                       .headers = {{"Authorization", "Bearer secret"}, merge[0]},
                                       .body = R"({"metadata":{"labels":{"a":"b"}}})",
                                       .client_name = {}});
    EXPECT_EQ(at_path(labelled, "/metadata/labels/a"), "b") << labelled.body;
    EXPECT_EQ(at_path(labelled, owners), "");
    const auto applied = api->handle(
        {.method = "PATCH",
         .target = pods + "/loaded?fieldManager=me",
         .headers = {{"Authorization", "Bearer secret"},
                     {"Content-Type", "application/apply-patch+yaml"}},
         .body =
             R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"loaded","labels":{"c":"d"}}})",
         .client_name = {}});
    EXPECT_THAT(at_path(applied, owners), HasSubstr(R"("manager":"me")")) << applied.body;
}

}  // namespace
}  // namespace muster::lab
