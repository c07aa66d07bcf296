// Refusals as a kube-apiserver 1.37.2 words them; tools/lab_difference compares many more with a
// real one.
#include "lab/check_metadata.h"
#include "lab/kind_rules.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace muster::lab {
namespace {

namespace json = boost::json;

const ResourceType& type_of(std::string_view plural) {
    return *std::ranges::find(built_in_resources(), plural, &ResourceType::plural);
}

std::string told(const std::vector<ApiCause>& causes) {
    std::string out;
    for (const ApiCause& one : causes) {
        out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", one.field, one.message);
    }
    return out;
}

struct NewCase {
    const char* name;
    const char* plural;
    const char* object;
    const char* causes;
};
class NewObjects : public testing::TestWithParam<NewCase> {};

TEST_P(NewObjects, AreRefusedWithTheirCauses) {
    const json::value object = json::parse(GetParam().object);

    EXPECT_EQ(told(check_kind(type_of(GetParam().plural), object.get_object())), GetParam().causes);
}

#define POD(REST) R"({"spec":{"restartPolicy":"Always","containers":[{"name":"a","image":"b")" REST
#define IN_POD(REST)                                                                               \
    R"({"spec":{"restartPolicy":"Always","containers":[{"name":"a","image":"b"}],)" REST "}}"
#define SET(REST)                                                                                   \
    R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},)" \
    R"("spec":{"restartPolicy":"Always","containers":[{"name":"a","image":"b"}]}},)" REST "}}"

INSTANTIATE_TEST_SUITE_P(
    Of, NewObjects,
    testing::Values(
        NewCase{"AGoodPod", "pods", POD("}]}}"), ""},
        NewCase{"HalfAGpu", "pods", POD(R"(,"resources":{"limits":{"nvidia.com/gpu":"500m"}}}]}})"),
                "spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"500m\": "
                "must be an integer"},
        NewCase{"AGpuRequestAlone", "pods",
                POD(R"(,"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}})"),
                "spec.containers[0].resources.limits: Required value: Limit must be set for non "
                "overcommitable resources"},
        NewCase{"MoreThanTheLimit", "pods",
                POD(R"(,"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}}]}})"),
                "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or "
                "equal to cpu limit of 1"},
        NewCase{
            "APortTwice", "pods",
            POD(R"(,"ports":[{"containerPort":1,"name":"w"},{"containerPort":2,"name":"w"}]}]}})"),
            "spec.containers[0].ports[1].name: Duplicate value: \"w\""},
        NewCase{"AMountOfNothing", "pods",
                POD(R"(,"volumeMounts":[{"name":"v","mountPath":"/x"}]}]}})"),
                "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        NewCase{"AProbeOfTwoKinds", "pods",
                POD(R"(,"livenessProbe":{"exec":{},"tcpSocket":{}}}]}})"),
                "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than "
                "1 handler type"},
        NewCase{"AVolumeOfTwoKinds", "pods",
                IN_POD(R"("volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}}])"),
                "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"},
        NewCase{"ATolerationOfNothing", "pods",
                IN_POD(R"("tolerations":[{"key":"a","operator":"Is"}])"),
                "spec.tolerations[0].operator: Unsupported value: \"Is\": supported values: "
                "\"Equal\", \"Exists\""},
        NewCase{"AGateAndANode", "pods",
                IN_POD(R"("nodeName":"n","schedulingGates":[{"name":"g"}])"),
                "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been "
                "cleared"},
        NewCase{
            "AnAffinityWithoutTerms", "pods",
            IN_POD(R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                       {"nodeSelectorTerms":[]}}})"),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms: Required value: must have at least one node selector term"},
        NewCase{"AClaimThatIsNotThere", "pods",
                POD(R"(,"resources":{"claims":[{"name":"gpu"}]}}]}})"),
                "spec.containers[0].resources.claims[0]: Not found: \"gpu\": must be one of the "
                "names in pod.spec.resourceClaims which is empty"},
        NewCase{"ABadKey", "configmaps", R"({"data":{"a b":"x"}})",
                "data[a b]: Invalid value: \"a b\": a valid config key must consist of "
                "alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
                "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"},
        NewCase{"ATlsSecretWithoutItsKey", "secrets",
                R"({"type":"kubernetes.io/tls","data":{"tls.crt":"eA=="}})",
                "data[tls.key]: Required value"},
        NewCase{"TwoPortsWithoutNames", "services",
                R"({"spec":{"type":"ClusterIP","ports":[{"port":1},{"port":2}]}})",
                "spec.ports[0].name: Required value; spec.ports[1].name: Required value"},
        NewCase{"ATaintOfNoEffect", "nodes",
                R"({"spec":{"taints":[{"key":"a","effect":"Never"}]}})",
                "metadata.taints[0].effect: Unsupported value: \"Never\": supported values: "
                "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""},
        NewCase{"AnUnknownQuota", "resourcequotas", R"({"spec":{"hard":{"pods":"500m"}}})",
                "spec.hard[pods]: Invalid value: \"500m\": must be an integer"},
        NewCase{"NegativeReplicas", "deployments",
                SET(R"("replicas":-1,"strategy":{"type":"RollingUpdate"})"),
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
        NewCase{"NoRoomToRoll", "deployments",
                SET(R"("strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,
                    "maxUnavailable":0}})"),
                "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
                "`maxSurge` is 0"},
        NewCase{
            "ASelectorOfNobody", "replicasets",
            R"({"spec":{"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{"labels":{"a":"b"}},
                   "spec":{"restartPolicy":"Always","containers":[{"name":"a","image":"b"}]}}}})",
            "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
            "match template `labels`"},
        NewCase{"SixFields", "cronjobs",
                R"({"spec":{"schedule":"* * * * * *","jobTemplate":{"spec":{"template":{"spec":{
                   "restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}}}})",
                "spec.schedule: Invalid value: \"* * * * * *\": expected exactly 5 fields, found "
                "6: [* * * * * *]"},
        NewCase{"BothBudgets", "poddisruptionbudgets", R"({"spec":{"minAvailable":"101%"}})",
                "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%"},
        NewCase{"ALeaseOfNoTime", "leases", R"({"spec":{"leaseDurationSeconds":0}})",
                "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
        NewCase{"APriorityOfTheSystem", "priorityclasses",
                R"({"metadata":{"name":"a"},"value":1000000001})",
                "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
        NewCase{"AClaimOfNoClass", "resourceclaims",
                R"({"spec":{"devices":{"requests":[{"name":"a","exactly":{
                   "allocationMode":"ExactCount","count":1}}]}}})",
                "spec.devices.requests[0].exactly.deviceClassName: Required value"}),
    [](const auto& one) { return std::string(one.param.name); });

struct MetadataCase {
    const char* name;
    const char* plural;
    const char* metadata;
    const char* field;  // of the first cause; empty without one
};
class Metadata : public testing::TestWithParam<MetadataCase> {};

TEST_P(Metadata, IsTheSameForAllKinds) {
    const json::object object{{"metadata", json::parse(GetParam().metadata)}};
    Causes out;

    check_metadata(type_of(GetParam().plural), object, out);

    const std::vector<ApiCause> causes = out.take();
    EXPECT_EQ(causes.empty() ? "" : causes[0].field, GetParam().field) << told(causes);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Metadata,
    testing::Values(
        MetadataCase{"Good", "pods",
                     R"({"name":"a.b","labels":{"x/y":"z"},"annotations":{"A":"?"}})", ""},
        MetadataCase{"NoName", "pods", R"({})", "metadata.name"},
        MetadataCase{"ADotInANamespace", "namespaces", R"({"name":"a.b"})", "metadata.name"},
        MetadataCase{"ABadPrefix", "pods", R"({"name":"a","generateName":"B_"})",
                     "metadata.generateName"},
        MetadataCase{"APrefixWithADash", "pods", R"({"name":"a-x","generateName":"a-"})", ""},
        MetadataCase{"ALabel", "pods", R"({"name":"a","labels":{"x":"y z"}})", "metadata.labels"},
        MetadataCase{"AFinalizer", "pods", R"({"name":"a","finalizers":["mine"]})",
                     "metadata.finalizers[0]"},
        MetadataCase{
            "AnOwnerWithoutUid", "pods",
            R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p"}]})",
            "metadata.ownerReferences[0].uid"}),
    [](const auto& one) { return std::string(one.param.name); });

struct ChangeCase {
    const char* name;
    const char* plural;
    const char* before;
    const char* now;
    const char* causes;
};
class Changes : public testing::TestWithParam<ChangeCase> {};

TEST_P(Changes, OfWhatIsFixedAreRefused) {
    const json::value before = json::parse(GetParam().before);
    const json::value now = json::parse(GetParam().now);

    EXPECT_EQ(
        told(check_kind_update(type_of(GetParam().plural), now.get_object(), before.get_object())),
        GetParam().causes);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Changes,
    testing::Values(
        ChangeCase{"AnImmutableMap", "configmaps", R"({"immutable":true,"data":{"a":"1"}})",
                   R"({"immutable":true,"data":{"a":"2"}})",
                   "data: Forbidden: field is immutable when `immutable` is set"},
        ChangeCase{"FewerTolerations", "pods", R"({"spec":{"tolerations":[{"key":"a"}]}})",
                   R"({"spec":{"tolerations":[]}})",
                   "spec.tolerations: Forbidden: existing toleration can not be modified except "
                   "its tolerationSeconds"},
        ChangeCase{"ALongerDeadline", "pods", R"({"spec":{"activeDeadlineSeconds":5}})",
                   R"({"spec":{"activeDeadlineSeconds":6}})",
                   "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to "
                   "previous value"},
        ChangeCase{"MoreCompletions", "jobs", R"({"spec":{"completions":1}})",
                   R"({"spec":{"completions":2}})",
                   "spec.completions: Invalid value: 2: field is immutable"},
        ChangeCase{"IndexesGrowWithWhatRuns", "jobs",
                   R"({"spec":{"completionMode":"Indexed","completions":1,"parallelism":1}})",
                   R"({"spec":{"completionMode":"Indexed","completions":2,"parallelism":2}})", ""},
        ChangeCase{"APriority", "priorityclasses", R"({"value":1})", R"({"value":2})",
                   "value: Forbidden: may not be changed in an update."}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster::lab
