// READY, STATUS and RESTARTS of pods.
#include "lab/table.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

struct PodCase {
    std::string_view name;
    std::string_view pod;
    std::string_view ready;
    std::string_view status;
    std::string_view restarts = "0";
};

constexpr PodCase pod_cases[] = {
    {"pending", R"({"spec":{"containers":[{"name":"a"}]},"status":{"phase":"Pending"}})", "0/1",
     "Pending"},
    {"evicted", R"({"status":{"phase":"Failed","reason":"Evicted"}})", "0/0", "Evicted"},
    {"gated", R"({"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",
        "status":"False","reason":"SchedulingGated"}]}})",
     "0/0", "SchedulingGated"},
    {"running", R"({"spec":{"containers":[{},{}]},"status":{"phase":"Running",
        "containerStatuses":[{"ready":true,"state":{"running":{}}},
        {"ready":false,"state":{"running":{}}}]}})",
     "1/2", "Running"},
    {"image", R"({"spec":{"containers":[{}]},"status":{"phase":"Pending","containerStatuses":[
        {"state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})",
     "0/1", "ImagePullBackOff"},
    {"crashing", R"({"spec":{"containers":[{}]},"status":{"phase":"Running","containerStatuses":[
        {"restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
        "lastState":{"terminated":{"finishedAt":"2027-01-15T07:59:00Z"}}}]}})",
     "0/1", "CrashLoopBackOff", "4 (60s ago)"},
    {"completed", R"({"spec":{"containers":[{}]},"status":{"phase":"Succeeded",
        "containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}})",
     "0/1", "Completed"},
    {"exit code", R"({"spec":{"containers":[{}]},"status":{"phase":"Failed",
        "containerStatuses":[{"state":{"terminated":{"exitCode":3}}}]}})",
     "0/1", "ExitCode:3"},
    {"signal", R"({"spec":{"containers":[{}]},"status":{"phase":"Failed",
        "containerStatuses":[{"state":{"terminated":{"exitCode":137,"signal":9}}}]}})",
     "0/1", "Signal:9"},
    {"one of two completed", R"({"spec":{"containers":[{},{}]},"status":{"phase":"Running",
        "conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
        {"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
        {"ready":true,"state":{"running":{}}}]}})",
     "1/2", "Running"},
    {"one of two completed, not ready", R"({"spec":{"containers":[{},{}]},"status":{
        "phase":"Running","containerStatuses":[
        {"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
        {"ready":true,"state":{"running":{}}}]}})",
     "1/2", "NotReady"},
    {"an error outdoes completed", R"({"spec":{"containers":[{},{}]},"status":{"phase":"Failed",
        "containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
        {"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}})",
     "0/2", "Error"},
    {"first init", R"({"spec":{"containers":[{}],"initContainers":[{"name":"i"}]},
        "status":{"phase":"Pending","initContainerStatuses":[{"name":"i",
        "state":{"waiting":{"reason":"PodInitializing"}}}],"containerStatuses":[
        {"state":{"waiting":{"reason":"PodInitializing"}}}]}})",
     "0/1", "Init:0/1"},
    {"second init fails", R"({"spec":{"containers":[{}],"initContainers":[{"name":"i"},
        {"name":"j"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"i",
        "state":{"terminated":{"exitCode":0}}},{"name":"j","restartCount":2,
        "state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}})",
     "0/1", "Init:Error", "2"},
    {"init exit code", R"({"spec":{"initContainers":[{"name":"i"}]},"status":{
        "initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":7}}}]}})",
     "0/0", "Init:ExitCode:7"},
    {"init back-off", R"({"spec":{"initContainers":[{"name":"i"}]},"status":{
        "initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})",
     "0/0", "Init:CrashLoopBackOff"},
    {"sidecar", R"({"spec":{"containers":[{}],"initContainers":[{"name":"s",
        "restartPolicy":"Always"}]},"status":{"phase":"Running","initContainerStatuses":[
        {"name":"s","started":true,"ready":true,"restartCount":1,"state":{"running":{}}}],
        "containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}}}]}})",
     "2/2", "Running", "3"},
    {"terminating", R"({"metadata":{"deletionTimestamp":"2027-01-15T07:59:00Z"},
        "status":{"phase":"Running"}})",
     "0/0", "Terminating"},
    {"deleted when done", R"({"metadata":{"deletionTimestamp":"2027-01-15T07:59:00Z"},
        "status":{"phase":"Succeeded"}})",
     "0/0", "Succeeded"},
    {"lost", R"({"metadata":{"deletionTimestamp":"2027-01-15T07:59:00Z"},
        "status":{"phase":"Running","reason":"NodeLost"}})",
     "0/0", "Unknown"},
};

json::array pod_row(const json::object& pod) {
    const json::object* const objects[] = {&pod};
    return table_of("", "Pod", objects, nullptr, RowObject::none, 1'800'000'000)
        .at("rows")
        .at(0)
        .at("cells")
        .as_array();
}

TEST(PodTable, ShowsTheStatusThatPeopleKnow) {
    for (const PodCase& one : pod_cases) {
        const json::array cells = pod_row(json::parse(one.pod).as_object());

        EXPECT_EQ(cells[1].as_string(), one.ready) << one.name;
        EXPECT_EQ(cells[2].as_string(), one.status) << one.name;
        EXPECT_EQ(cells[3].as_string(), one.restarts) << one.name;
    }
}

TEST(PodTable, ShowsWhereItRuns) {
    const json::array bare = pod_row(json::parse("{}").as_object());
    const json::array placed = pod_row(json::parse(R"({"spec":{"nodeName":"n1",
        "readinessGates":[{"conditionType":"a"},{"conditionType":"b"}]},"status":{
        "podIPs":[{"ip":"10.0.0.1"}],"nominatedNodeName":"n2","conditions":[
        {"type":"a","status":"True"},{"type":"b","status":"False"}]}})")
                                           .as_object());

    EXPECT_EQ(json::serialize(bare),
              R"(["","0/0","","0","<unknown>","<none>","<none>","<none>","<none>"])");
    EXPECT_EQ(placed[5], "10.0.0.1");
    EXPECT_EQ(placed[6], "n1");
    EXPECT_EQ(placed[7], "n2");
    EXPECT_EQ(placed[8], "1/2");
}

}  // namespace
}  // namespace muster::lab
