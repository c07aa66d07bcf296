#include "lab/api_fixture_test.h"
#include "lab/exec_session.h"
#include "lab/shell_place.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view good_status = "\x03{\"metadata\":{},\"status\":\"Success\"}";

ShellOutput output(std::string out, std::string err, int code, bool copies = false) {
    return {.out = std::move(out), .err = std::move(err), .code = code, .copies_input = copies};
}

}  // namespace

TEST(ExecSession, SendsEachChannelAndHowItEnded) {
    const auto said =
        make_exec_session(output("out\n", "err\n", 0), {.has_output = true, .has_errors = true})
            ->begin();

    EXPECT_THAT(said.messages, ElementsAre("\x01out\n",
                                           "\x02"
                                           "err\n",
                                           good_status));
    EXPECT_TRUE(said.is_last);
}

TEST(ExecSession, TellsTheExitCode) {
    const auto said = make_exec_session(output("", "", 7), {.has_output = true})->begin();

    ASSERT_THAT(said.messages, SizeIs(1));
    ASSERT_THAT(said.messages[0], StartsWith("\x03"));
    EXPECT_EQ(json::parse(said.messages[0].substr(1)), json::parse(R"({"metadata":{},
        "status":"Failure","reason":"NonZeroExitCode",
        "message":"command terminated with non-zero exit code: exit status 7",
        "details":{"causes":[{"reason":"ExitCode","message":"7"}]}})"));
}

TEST(ExecSession, SendsWhatIsAskedForOnly) {
    const auto said = make_exec_session(output("out", "err", 0), {.has_errors = true})->begin();

    EXPECT_THAT(said.messages, ElementsAre("\x02"
                                           "err",
                                           good_status));
}

TEST(ExecSession, HasOneWayOutAtATerminal) {
    const auto session =
        make_exec_session(output("a\nb\n", "c\n", 0), {.has_output = true, .is_terminal = true});

    const auto said = session->begin();

    EXPECT_THAT(said.messages, ElementsAre("\x01"
                                           "a\r\nb\r\nc\r\n"));
    EXPECT_FALSE(said.is_last);
    EXPECT_GT(said.again_ms, 0);
    const auto last = session->hear("\x04{\"Width\":80}");
    EXPECT_THAT(last.messages, ElementsAre(good_status));
    EXPECT_TRUE(last.is_last);
}

TEST(ExecSession, HearsTheInputOutAndEndsWithoutItsEnd) {
    const auto session =
        make_exec_session(output("a", "", 0), {.has_input = true, .has_output = true});

    const auto said = session->begin();
    EXPECT_THAT(said.messages, ElementsAre("\x01"
                                           "a"));
    EXPECT_FALSE(said.is_last);
    EXPECT_GT(said.again_ms, 0);
    EXPECT_FALSE(session->hear(std::string("\0abc", 4)).is_last);
    const auto last = session->go_on();
    EXPECT_THAT(last.messages, ElementsAre(good_status));
    EXPECT_TRUE(last.is_last);
}

TEST(ExecSession, CutsWhatIsLong) {
    const auto said =
        make_exec_session(output(std::string(70'000, 'x'), "", 0), {.has_output = true})->begin();

    ASSERT_THAT(said.messages, SizeIs(4));
    EXPECT_THAT(said.messages[2], SizeIs(1 + 70'000 - 2 * 32'768));
}

TEST(ExecSession, CopiesInputToItsEnd) {
    const auto session =
        make_exec_session(output("", "", 0, true), {.has_input = true, .has_output = true});

    const auto first = session->begin();
    EXPECT_THAT(first.messages, IsEmpty());
    EXPECT_EQ(first.again_ms, 0);  // it waits for as long as it takes
    EXPECT_THAT(session->hear(std::string("\0abc", 4)).messages, ElementsAre("\x01"
                                                                             "abc"));
    EXPECT_THAT(session->hear("\x04{\"Width\":80}").messages, IsEmpty());  // a terminal's size
    EXPECT_THAT(session->hear("").messages, IsEmpty());
    EXPECT_THAT(session->hear("\xff\x01").messages, IsEmpty());  // the end of another channel
    const auto last = session->hear(std::string("\xff\0", 2));
    EXPECT_THAT(last.messages, ElementsAre(good_status));
    EXPECT_TRUE(last.is_last);
}

TEST(ExecSession, EndsInputAtATerminalWithControlD) {
    const auto session = make_exec_session(
        output("", "", 0, true), {.has_input = true, .has_output = true, .is_terminal = true});
    session->begin();

    const auto last = session->hear(std::string("\0hi\n\x04", 5));

    EXPECT_THAT(last.messages, ElementsAre("\x01hi\r\n", good_status));
    EXPECT_TRUE(last.is_last);
}

TEST(ShellPlace, KnowsEnvironmentAndDevices) {
    const json::object pod = json::parse(R"({"metadata":{"name":"p","namespace":"n","uid":"u",
        "annotations":{"a.b/rank":"3"}},"spec":{"nodeName":"node-0"},
        "status":{"podIP":"10.0.0.1"}})")
                                 .as_object();
    const json::object container = json::parse(R"({"name":"c",
        "envFrom":[{"configMapRef":{"name":"m"},"prefix":"P_"},{"configMapRef":{"name":"none"}}],
        "env":[{"name":"A","value":"1"},{"name":"A","value":"2"},{"name":"EMPTY"},
          {"name":"NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
          {"name":"RANK","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['a.b/rank']"}}},
          {"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},
          {"name":"HOSTS","valueFrom":{"configMapKeyRef":{"name":"m","key":"hosts"}}},
          {"name":"GONE","valueFrom":{"configMapKeyRef":{"name":"m","key":"gone"}}},
          {"name":"KEY","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
        "resources":{"limits":{"cpu":"4","nvidia.com/gpu":"2","nvidia.com/mig-1g.10gb":1}}})")
                                       .as_object();
    const json::object node = json::parse(R"({"metadata":{"labels":{
        "nvidia.com/gpu.product":"NVIDIA-GB200","nvidia.com/gpu.memory":"189471"}}})")
                                  .as_object();

    const ShellPlace place =
        shell_place(pod, container, &node, [](std::string_view plural, std::string_view name) {
            const bool is_there = plural == "configmaps" && name == "m";
            return is_there ? std::optional(json::parse(R"({"data":{"hosts":"x,y"}})").as_object())
                            : std::nullopt;
        });

    EXPECT_EQ(place.host, "p");
    EXPECT_EQ(place.product, "NVIDIA GB200");
    EXPECT_EQ(place.memory_mib, 189'471);
    ASSERT_THAT(place.devices, SizeIs(3));
    EXPECT_THAT(place.devices[0].uuid,
                testing::MatchesRegex("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
    EXPECT_NE(place.devices[0].uuid, place.devices[1].uuid);
    EXPECT_THAT(place.devices[2].uuid, StartsWith("MIG-"));
    EXPECT_EQ(place.devices[2].slice, "1g.10gb");
    auto env = place.env;
    EXPECT_EQ(env["NVIDIA_VISIBLE_DEVICES"],
              place.devices[0].uuid + "," + place.devices[1].uuid + "," + place.devices[2].uuid);
    env.erase("NVIDIA_VISIBLE_DEVICES");
    EXPECT_THAT(env,
                ElementsAre(std::pair("A", "2"), std::pair("EMPTY", ""), std::pair("HOSTS", "x,y"),
                            std::pair("IP", "10.0.0.1"), std::pair("NAME", "p"),
                            std::pair("P_hosts", "x,y"), std::pair("RANK", "3")));
}

class ExecApi : public ApiTest {
protected:
    /// A pod as it is once a kubelet has started it.
    void run_pod(const std::string& name, std::string_view state) {
        ASSERT_EQ(make_pod(name).status, 201);
        ASSERT_EQ(
            ask("POST", pods + "/" + name + "/binding", R"({"target":{"name":"node-0"}})").status,
            201);
        const auto done = ask("PATCH", pods + "/" + name + "/status",
                              fmt::format(R"({{"status":{{"containerStatuses":[{{"name":"c",
                                  "image":"","imageID":"","ready":true,"restartCount":0,
                                  "state":{{"{}":{{}}}}}}]}}}})",
                                          state),
                              {{"Content-Type", "application/merge-patch+json"}});
        ASSERT_EQ(done.status, 200) << done.body;
    }
    net::HttpResponse exec(const std::string& target, Headers more = {}) {
        Headers headers{{"Connection", "Upgrade"},
                        {"Upgrade", "websocket"},
                        {"Sec-WebSocket-Version", "13"},
                        {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
        if (more.empty()) { more = {{"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}}; }
        headers.insert(headers.end(), more.begin(), more.end());
        return ask("GET", pods + target, "", std::move(headers));
    }
};

TEST_F(ExecApi, RunsACommandAndTellsItsEnd) {
    run_pod("p", "running");

    const auto response =
        exec("/p/exec?container=c&command=sh&command=-c&command=hostname%3B+exit+3&stdout=true");

    ASSERT_EQ(response.status, 101) << response.body;
    ASSERT_NE(response.upgrade, nullptr);
    const auto words = response.upgrade->begin();
    EXPECT_TRUE(words.is_last);
    EXPECT_THAT(words.bytes, StartsWith("\x82\x03\x01p\n"));
    EXPECT_THAT(words.bytes, HasSubstr(R"({"reason":"ExitCode","message":"3"})"));
    EXPECT_THAT(words.bytes, testing::EndsWith("\x88\x02\x03\xe8"));
}

TEST_F(ExecApi, RefusesAsRealOnesDo) {
    run_pod("p", "running");
    run_pod("waiting", "waiting");
    ASSERT_EQ(make_pod("free").status, 201);
    ASSERT_EQ(
        ask("POST", pods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"two"},"spec":{
                  "nodeName":"node-0","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}})")
            .status,
        201);
    struct Case {
        std::string target;
        int status;
        std::string_view message;
    };
    const std::vector<Case> cases = {
        {"/none/exec?command=true", 404, "pods \\\"none\\\" not found"},
        {"/free/exec?command=true", 400, "pod free does not have a host assigned"},
        {"/waiting/exec?command=true", 500, "container not found (\"c\")"},
        {"/p/exec?command=true&container=x", 400, "container x is not valid for pod p"},
        {"/two/exec?command=true", 400,
         "a container name must be specified for pod two, choose one of: [a b]"},
        {"/p/exec", 400, "you must specify at least 1 command for the container"},
        {"/p/attach", 400, "nothing to attach to"},
        {"/p/portforward?ports=80", 400, "no port to forward to"},
    };
    for (const Case& one : cases) {
        const auto response = exec(one.target);
        EXPECT_EQ(response.status, one.status) << one.target;
        EXPECT_THAT(response.body, HasSubstr(one.message)) << one.target;
        EXPECT_EQ(response.upgrade, nullptr);
    }
    EXPECT_EQ(
        exec("/p/exec?command=true", {{"Sec-WebSocket-Protocol", "v3.channel.k8s.io"}}).status,
        400);
    EXPECT_EQ(ask("POST", pods + "/p/exec?command=true", "",
                  {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}})
                  .status,
              400);
    EXPECT_EQ(ask("DELETE", pods + "/p/exec").status, 405);
}

}  // namespace muster::lab
