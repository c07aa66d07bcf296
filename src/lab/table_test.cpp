#include "lab/table.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

constexpr std::int64_t now = 1'800'000'000;  // 2027-01-15T08:00:00Z

json::object object(std::string_view text) { return json::parse(text).as_object(); }

json::object table_for(std::string_view group, std::string_view kind, const json::object& one,
                       RowObject row_object = RowObject::none,
                       const json::array* columns = nullptr) {
    const json::object* const objects[] = {&one};
    return table_of(group, kind, objects, columns, row_object, now);
}

std::string cells_of(std::string_view group, std::string_view kind, std::string_view text) {
    const json::object table = table_for(group, kind, object(text));
    return json::serialize(table.at("rows").at(0).at("cells"));
}

/// "Name Ready +Node": `+` before those of `-o wide`.
std::string headers_of(std::string_view group, std::string_view kind) {
    const json::object table = table_for(group, kind, object("{}"));
    std::string out;
    for (const json::value& column : table.at("columnDefinitions").as_array()) {
        if (!out.empty()) { out += " | "; }
        if (column.at("priority").as_int64() > 0) { out += '+'; }
        out += column.at("name").as_string().c_str();
    }
    EXPECT_EQ(table.at("columnDefinitions").as_array().size(),
              table.at("rows").at(0).at("cells").as_array().size());
    return out;
}

TEST(Age, IsRoundedAsTheCommandLineDoes) {
    struct Case {
        std::int64_t seconds;
        std::string_view expected;
    };
    constexpr std::int64_t hour = 3600;
    constexpr std::int64_t day = 24 * hour;
    constexpr Case cases[] = {
        {-2, "<invalid>"},
        {-1, "0s"},
        {0, "0s"},
        {5, "5s"},
        {119, "119s"},
        {120, "2m"},
        {150, "2m30s"},
        {599, "9m59s"},
        {600, "10m"},
        {659, "10m"},
        {3 * hour - 1, "179m"},
        {3 * hour, "3h"},
        {3 * hour + 20 * 60, "3h20m"},
        {8 * hour - 1, "7h59m"},
        {8 * hour, "8h"},
        {2 * day - 1, "47h"},
        {2 * day, "2d"},
        {2 * day + 5 * hour, "2d5h"},
        {8 * day - 1, "7d23h"},
        {8 * day, "8d"},
        {730 * day - 1, "729d"},
        {730 * day, "2y"},
        {735 * day, "2y5d"},
        {2920 * day - 1, "7y364d"},
        {2920 * day, "8y"},
    };
    for (const Case& one : cases) { EXPECT_EQ(age(one.seconds), one.expected) << one.seconds; }
}

TEST(Table, HasTheColumnsThatPeopleKnow) {
    struct Case {
        std::string_view group;
        std::string_view kind;
        std::string_view columns;
    };
    constexpr Case cases[] = {
        {"", "Pod",
         "Name | Ready | Status | Restarts | Age | +IP | +Node | +Nominated Node | "
         "+Readiness Gates"},
        {"", "Node",
         "Name | Status | Roles | Age | Version | +Internal-IP | +External-IP | "
         "+OS-Image | +Kernel-Version | +Container-Runtime"},
        {"", "Event",
         "Last Seen | Type | Reason | Object | +Subobject | +Source | Message | "
         "+First Seen | +Count | +Name"},
        {"events.k8s.io", "Event",
         "Last Seen | Type | Reason | Object | +Subobject | +Source | "
         "Message | +First Seen | +Count | +Name"},
        {"", "Namespace", "Name | Status | Age"},
        {"", "ConfigMap", "Name | Data | Age"},
        {"", "Secret", "Name | Type | Data | Age"},
        {"", "ServiceAccount", "Name | Age"},
        {"", "LimitRange", "Name | Created At"},
        {"", "ResourceQuota", "Name | Request | Limit | Age"},
        {"", "Service", "Name | Type | Cluster-IP | External-IP | Port(s) | Age | +Selector"},
        {"apps", "Deployment",
         "Name | Ready | Up-to-date | Available | Age | +Containers | "
         "+Images | +Selector"},
        {"apps", "ReplicaSet",
         "Name | Desired | Current | Ready | Age | +Containers | +Images | "
         "+Selector"},
        {"apps", "StatefulSet", "Name | Ready | Age | +Containers | +Images"},
        {"batch", "Job",
         "Name | Status | Completions | Duration | Age | +Containers | +Images | "
         "+Selector"},
        {"batch", "CronJob",
         "Name | Schedule | Timezone | Suspend | Active | Last Schedule | Age "
         "| +Containers | +Images | +Selector"},
        {"policy", "PodDisruptionBudget",
         "Name | Min Available | Max Unavailable | Allowed Disruptions | Age"},
        {"scheduling.k8s.io", "PriorityClass",
         "Name | Value | Global-Default | Age | PreemptionPolicy"},
        {"scheduling.k8s.io", "PodGroup", "Name | Policy | Workload | Status | Age"},
        {"scheduling.k8s.io", "CompositePodGroup", "Name | Policy | Workload | Age"},
        {"scheduling.k8s.io", "Workload", "Name | Age"},
        {"coordination.k8s.io", "Lease", "Name | Holder | Age"},
        {"resource.k8s.io", "ResourceClaim", "Name | State | Age"},
        {"resource.k8s.io", "ResourceSlice", "Name | Node | Driver | Pool | Age"},
        {"apiextensions.k8s.io", "CustomResourceDefinition",
         "Name | Scope | Versions | Created At | +Group | +Kind | +ShortNames | +Established"},
        {"batch.volcano.sh", "Job", "Name | STATUS | minAvailable | RUNNINGS | AGE | +QUEUE"},
        {"scheduling.volcano.sh", "PodGroup",
         "Name | STATUS | minMember | RUNNINGS | AGE | +QUEUE"},
        {"scheduling.volcano.sh", "Queue", "Name | PARENT"},
        {"topology.volcano.sh", "HyperNode", "Name | Tier | TierName | NodeCount | Age"},
        {"example.com", "Anything", "Name | Age"},
    };
    for (const Case& one : cases) {
        EXPECT_EQ(headers_of(one.group, one.kind), one.columns) << one.group << " " << one.kind;
    }
}

TEST(Table, StandsOnObjectsOfWrongTypes) {
    const std::string wrong =
        R"({"metadata":7,"spec":{"containers":3,"ports":[1],"initContainers":[null]},
            "status":{"conditions":{"a":1},"containerStatuses":["x"],"addresses":[2],
            "initContainerStatuses":[4],"hard":[1],"podIPs":[3]},"data":"x"})";
    for (const std::string_view kind : {"Pod", "Node", "Event", "Service", "ResourceQuota"}) {
        EXPECT_NE(cells_of("", kind, wrong), "") << kind;
    }
}

TEST(Table, CarriesMetadataTheWholeObjectOrNone) {
    const json::object pod = object(R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"}})");

    const json::object none = table_for("", "Pod", pod, RowObject::none);
    const json::object metadata = table_for("", "Pod", pod, RowObject::metadata);
    const json::object whole = table_for("", "Pod", pod, RowObject::whole);

    EXPECT_EQ(none.at("kind"), "Table");
    EXPECT_EQ(none.at("apiVersion"), "meta.k8s.io/v1");
    EXPECT_TRUE(none.at("rows").at(0).at("object").is_null());
    EXPECT_EQ(metadata.at("rows").at(0).at("object"),
              json::parse(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",
                              "metadata":{"name":"p"}})"));
    EXPECT_EQ(whole.at("rows").at(0).at("object"), json::value(pod));
}

TEST(Table, MarksFinishedPods) {
    const auto conditions = [](std::string_view phase) {
        const json::object pod{{"status", json::object{{"phase", phase}}}};
        const json::object table = table_for("", "Pod", pod);
        const json::object& row = table.at("rows").at(0).as_object();
        return row.contains("conditions")
                   ? std::string(row.at("conditions").at(0).at("reason").as_string())
                   : std::string();
    };

    EXPECT_EQ(conditions("Running"), "");
    EXPECT_EQ(conditions("Succeeded"), "Succeeded");
    EXPECT_EQ(conditions("Failed"), "Failed");
}

TEST(Table, ShowsNodes) {
    EXPECT_EQ(cells_of("", "Node", R"({"metadata":{"name":"n1",
        "creationTimestamp":"2027-01-15T07:55:00Z",
        "labels":{"node-role.kubernetes.io/worker":"","node-role.kubernetes.io/gpu":"x",
        "kubernetes.io/role":"big"}},
        "spec":{"unschedulable":true},
        "status":{"conditions":[{"type":"Ready","status":"True"}],
        "addresses":[{"type":"Hostname","address":"n1"},{"type":"InternalIP","address":"10.0.0.1"}],
        "nodeInfo":{"kubeletVersion":"v1.37.2","osImage":"Linux","kernelVersion":"6.1",
        "architecture":"amd64","containerRuntimeVersion":"fake://1"}}})"),
              R"(["n1","Ready,SchedulingDisabled","big,gpu,worker","5m","v1.37.2","10.0.0.1",)"
              R"-("<none>","Linux","6.1 (amd64)","fake://1"])-");
    EXPECT_EQ(cells_of("", "Node", R"({"metadata":{"name":"n2"},
        "status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})"),
              R"(["n2","NotReady","<none>","<unknown>","","<none>","<none>","<unknown>",)"
              R"("<unknown>","<unknown>"])");
}

TEST(Table, ShowsEventsOfBothGroups) {
    EXPECT_EQ(cells_of("", "Event", R"({"metadata":{"name":"e"},"type":"Warning","count":3,
        "reason":"FailedScheduling","message":" 0/2 nodes \n","involvedObject":{"kind":"Pod",
        "name":"p","fieldPath":"spec"},"source":{"component":"muster","host":"h"},
        "firstTimestamp":"2027-01-15T07:00:00Z","lastTimestamp":"2027-01-15T07:59:50Z"})"),
              R"(["10s","Warning","FailedScheduling","pod/p","spec","muster, h","0/2 nodes","60m",)"
              R"(3,"e"])");
    EXPECT_EQ(cells_of("events.k8s.io", "Event", R"({"metadata":{"name":"e"},"type":"Normal",
        "reason":"Scheduled","note":"ok","regarding":{"kind":"PodGroup","name":"g"},
        "reportingController":"muster","eventTime":"2027-01-15T07:59:00.000000Z"})"),
              R"(["60s","Normal","Scheduled","podgroup/g","","muster","ok","60s",1,"e"])");
}

TEST(Table, ShowsWhatPodsUse) {
    EXPECT_EQ(cells_of("", "ConfigMap", R"({"metadata":{"name":"c"},"data":{"a":"","b":""},
        "binaryData":{"c":""}})"),
              R"(["c",3,"<unknown>"])");
    EXPECT_EQ(cells_of("", "ResourceQuota", R"({"metadata":{"name":"q"},"status":{"hard":
        {"pods":"10","limits.cpu":"4","requests.nvidia.com/gpu":8},"used":{"pods":"2"}}})"),
              R"(["q","pods: 2/10, requests.nvidia.com/gpu: 0/8","limits.cpu: 0/4","<unknown>"])");
    EXPECT_EQ(cells_of("", "Service", R"({"metadata":{"name":"s"},"spec":{"type":"ClusterIP",
        "clusterIPs":["None"],"ports":[{"port":80,"protocol":"TCP"},
        {"port":443,"nodePort":30443,"protocol":"TCP"}],"selector":{"b":"2","a":"1"}}})"),
              R"(["s","ClusterIP","None","<none>","80/TCP,443:30443/TCP","<unknown>","a=1,b=2"])");
}

TEST(Table, ShowsControllers) {
    EXPECT_EQ(cells_of("apps", "Deployment", R"({"metadata":{"name":"d"},"spec":{"replicas":3,
        "selector":{"matchLabels":{"app":"web"},"matchExpressions":[
        {"key":"tier","operator":"In","values":["b","a"]}]},
        "template":{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}]}}},
        "status":{"readyReplicas":1,"updatedReplicas":3,"availableReplicas":1}})"),
              R"-(["d","1/3",3,1,"<unknown>","a,b","i,j","app=web,tier in (a,b)"])-");
    EXPECT_EQ(cells_of("policy", "PodDisruptionBudget", R"({"metadata":{"name":"b"},
        "spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":2}})"),
              R"(["b","50%","N/A",2,"<unknown>"])");
    EXPECT_EQ(cells_of("batch", "CronJob", R"({"metadata":{"name":"c"},"spec":{
        "schedule":"* * * * *","suspend":false},"status":{"active":[{}],
        "lastScheduleTime":"2027-01-15T07:59:30Z"}})"),
              R"(["c","* * * * *","<none>","False",1,"30s","<unknown>","","","<none>"])");
}

TEST(Table, ShowsTheStatusOfJobs) {
    struct Case {
        std::string_view job;
        std::string_view status;
        std::string_view completions;
        std::string_view duration;
    };
    constexpr Case cases[] = {
        {R"({"spec":{"completions":4,"parallelism":2},"status":{"succeeded":1,
             "startTime":"2027-01-15T07:59:00Z"}})",
         "Running", "1/4", "60s"},
        {R"({"spec":{"parallelism":3}})", "Running", "0/1 of 3", ""},
        {R"({"spec":{"completions":1},"status":{"succeeded":1,"startTime":"2027-01-15T07:00:00Z",
             "completionTime":"2027-01-15T07:00:05Z","conditions":[
             {"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}})",
         "Complete", "1/1", "5s"},
        {R"({"status":{"conditions":[{"type":"Suspended","status":"True"}]}})", "Suspended", "0/1",
         ""},
        {R"({"status":{"conditions":[{"type":"Suspended","status":"False"},
             {"type":"Failed","status":"True"}]}})",
         "Failed", "0/1", ""},
        {R"({"metadata":{"deletionTimestamp":"2027-01-15T07:59:00Z"}})", "Terminating", "0/1", ""},
    };
    for (const Case& one : cases) {
        const json::array cells = json::parse(cells_of("batch", "Job", one.job)).as_array();

        EXPECT_EQ(cells[1].as_string(), one.status) << one.job;
        EXPECT_EQ(cells[2].as_string(), one.completions) << one.job;
        EXPECT_EQ(cells[3].as_string(), one.duration) << one.job;
    }
}

TEST(Table, ShowsGroups) {
    EXPECT_EQ(cells_of("scheduling.volcano.sh", "PodGroup", R"({"metadata":{"name":"g",
        "creationTimestamp":"2027-01-15T07:59:00Z"},"spec":{"minMember":6,"queue":"default"},
        "status":{"phase":"Running","running":6}})"),
              R"(["g","Running",6,6,"60s","default"])");
    EXPECT_EQ(cells_of("scheduling.volcano.sh", "PodGroup", R"({"metadata":{"name":"g"}})"),
              R"(["g",null,null,null,null,null])");
    EXPECT_EQ(cells_of("scheduling.k8s.io", "PodGroup", R"({"metadata":{"name":"g"},"spec":
        {"schedulingPolicy":{"gang":{"minCount":2}},"workloadRef":{"workloadName":"w"}},
        "status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"False"}]}})"),
              R"(["g","Gang","w","Unschedulable","<unknown>"])");
    EXPECT_EQ(cells_of("resource.k8s.io", "ResourceClaim", R"({"metadata":{"name":"c"},
        "status":{"allocation":{},"reservedFor":[{}]}})"),
              R"(["c","allocated,reserved","<unknown>"])");
}

TEST(Table, ShowsTheColumnsOfADefinition) {
    const json::array columns = json::parse(R"-([
        {"name":"Replicas","type":"integer","jsonPath":".spec.replicas","format":"int32",
         "description":"how many"},
        {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"},
        {"name":"Done","type":"boolean","jsonPath":".status.done"},
        {"name":"Share","type":"number","jsonPath":".spec.share"},
        {"name":"Seen","type":"date","jsonPath":".status.seen","priority":1},
        {"name":"Bad","type":"date","jsonPath":".spec.share"},
        {"name":"Text","type":"integer","jsonPath":".spec.text"},
        {"name":"Map","type":"string","jsonPath":".spec.map"},
        {"name":"None","type":"string","jsonPath":".spec.none"}])-")
                                    .as_array();
    const json::object one = object(R"({"metadata":{"name":"x"},"spec":{"replicas":3,"share":0.5,
        "text":"a","map":{"a":1}},"status":{"done":true,"seen":"2027-01-15T07:59:00Z",
        "conditions":[{"type":"Other","status":"False"},{"type":"Ready","status":"True"}]}})");

    const json::object table = table_for("example.com", "X", one, RowObject::none, &columns);

    EXPECT_EQ(json::serialize(table.at("rows").at(0).at("cells")),
              R"(["x",3,"True",true,5E-1,"60s",null,null,"{\"a\":1}",null])");
    EXPECT_EQ(table.at("columnDefinitions").at(1),
              json::parse(R"({"name":"Replicas","type":"integer","format":"int32",
                              "description":"how many","priority":0})"));
    EXPECT_EQ(table.at("columnDefinitions").at(5).at("priority"), 1);
}

}  // namespace
}  // namespace muster::lab
