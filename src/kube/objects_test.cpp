#include "kube/objects.h"

#include "kube/events.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::kube {
namespace {

namespace json = boost::json;

const json::object& example() {
    static const json::value value = json::parse(R"({"apiVersion":"v1","kind":"Pod",
        "metadata":{"name":"p","namespace":"team","uid":"u1","labels":{"a.b/c":"d"},
                    "ownerReferences":[{"kind":"X"},{"kind":"Job","controller":true}]},
        "spec":{"nodeName":"n1","priority":7,"hostNetwork":true},
        "status":{"conditions":[{"type":"Ready","status":"False"}]}})");
    return value.as_object();
}

TEST(Objects, AreReadByPath) {
    const json::object& pod = example();

    EXPECT_EQ(text_at(pod, "spec.nodeName"), "n1");
    EXPECT_EQ(text_at(pod, "spec.priority"), "");
    EXPECT_EQ(text_at(pod, "spec.nodeName.more"), "");
    EXPECT_EQ(int_at(pod, "spec.priority"), 7);
    EXPECT_EQ(int_at(pod, "spec.nothing", -1), -1);
    EXPECT_TRUE(flag_at(pod, "spec.hostNetwork"));
    EXPECT_EQ(name_of(pod), ObjectName("team", "p"));
    EXPECT_EQ(label_of(pod, "a.b/c"), "d");
    EXPECT_EQ(annotation_of(pod, "a.b/c"), "");
    EXPECT_EQ(condition_of(pod, "Ready"), "False");
    ASSERT_NE(controller_of(pod), nullptr);
    EXPECT_EQ(text_at(*controller_of(pod), "kind"), "Job");
    EXPECT_EQ(text_at(owner_reference(pod), "uid"), "u1");
}

TEST(Times, AreWrittenAndReadBack) {
    EXPECT_EQ(time_text(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(time_text(1'795'946'400'250), "2026-11-29T10:00:00Z");
    EXPECT_EQ(micro_time_text(1'795'946'400'250), "2026-11-29T10:00:00.250000Z");
    EXPECT_EQ(read_time("2026-11-29T10:00:00Z"), 1'795'946'400'000);
    EXPECT_EQ(read_time("2026-11-29T10:00:00.25Z"), 1'795'946'400'250);
    EXPECT_EQ(read_time("2026-11-29T12:30:00+02:30"), 1'795'946'400'000);
    EXPECT_EQ(read_time("2026-11-29T09:00:00.5-01:00"), 1'795'946'400'500);
    for (const char* bad :
         {"", "2026-11-29", "2026-13-29T10:00:00Z", "2026-11-29T25:00:00Z", "2026-11-29T10:00:00",
          "2026-11-29T10:00:00.Z", "x026-11-29T10:00:00Z", "2026-11-29T10:00:00+02:00Z"}) {
        EXPECT_EQ(read_time(bad), -1) << bad;
    }
}

/// Keeps calls until a test answers them.
class KeepingTransport : public Transport {
public:
    void call(Call call, Done done) override {
        calls.push_back(std::move(call));
        waiting.push_back(std::move(done));
    }
    std::unique_ptr<Stream> stream(Call, std::function<void(std::string_view)>, Done) override {
        return nullptr;
    }
    void after(std::int64_t, std::function<void()>) override {}
    void answer_all(int status) {
        const auto all = std::move(waiting);
        waiting.clear();
        for (const auto& done : all) { done(Answer{.status = status, .body = ""}); }
    }

    std::vector<Call> calls;
    std::vector<Done> waiting;
};

TEST(Calls, SayWhatTheyDo) {
    KeepingTransport transport;
    const Resource pods{.group = "", .version = "v1", .plural = "pods"};

    create_object(transport, pods, "team", example());
    patch_object(transport, {.resource = pods, .name = {"team", "p"}, .rest = "status"},
                 {{"status", json::object()}});
    delete_object(transport, pods, {"team", "p"},
                  {.uid = "u1", .grace = 0, .propagation = "Background"});

    ASSERT_EQ(transport.calls.size(), 3u);
    EXPECT_EQ(transport.calls[0].method + " " + transport.calls[0].target,
              "POST /api/v1/namespaces/team/pods");
    EXPECT_EQ(transport.calls[1].target, "/api/v1/namespaces/team/pods/p/status");
    EXPECT_EQ(transport.calls[1].content_type, "application/merge-patch+json");
    const json::object options = json::parse(transport.calls[2].body).as_object();
    EXPECT_EQ(transport.calls[2].method, "DELETE");
    EXPECT_EQ(int_at(options, "gracePeriodSeconds", -1), 0);
    EXPECT_EQ(text_at(options, "preconditions.uid"), "u1");
    EXPECT_EQ(text_at(options, "propagationPolicy"), "Background");
}

TEST(EventRecorder, CountsTheSameEventOnTheOneThatExists) {
    KeepingTransport transport;
    EventRecorder events(transport, [] { return std::int64_t{1'000}; }, "kubelet");

    for (int i = 0; i < 3; ++i) { events.record(example(), "Warning", "BackOff", "again"); }
    EXPECT_EQ(transport.calls.size(), 1u);
    transport.answer_all(201);
    ASSERT_EQ(transport.calls.size(), 2u);
    events.record(example(), "Warning", "BackOff", "another");

    EXPECT_EQ(transport.calls[1].method, "PATCH");
    EXPECT_EQ(int_at(json::parse(transport.calls[1].body).as_object(), "count"), 3);
    EXPECT_EQ(transport.calls[2].method, "POST");
    const json::object event = json::parse(transport.calls[0].body).as_object();
    EXPECT_EQ(text_at(event, "involvedObject.uid"), "u1");
    EXPECT_EQ(transport.calls[1].target, path_of({.group = "", .version = "v1", .plural = "events"},
                                                 "team", text_at(event, "metadata.name")));
}

TEST(EventRecorder, WritesAnewWhatHasExpired) {
    KeepingTransport transport;
    EventRecorder events(transport, [] { return std::int64_t{1'000}; }, "kubelet");
    events.record(example(), "Normal", "Started", "once");
    transport.answer_all(201);
    events.record(example(), "Normal", "Started", "once");
    transport.answer_all(404);

    events.record(example(), "Normal", "Started", "once");

    ASSERT_EQ(transport.calls.size(), 3u);
    EXPECT_EQ(transport.calls[2].method, "POST");
    EXPECT_EQ(transport.calls[2].target, "/api/v1/namespaces/team/events");
}

}  // namespace
}  // namespace muster::kube
