#include "kube/budgets.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::kube {
namespace {

namespace json = boost::json;

TEST(Budgets, SelectAsPolicyV1Says) {
    struct Case {
        const char* selector;
        const char* labels;
        bool is_selected;
    };
    const std::vector<Case> cases = {
        {"{}", "{}", true},
        {"null", "{}", false},
        {R"({"matchLabels":{"a":"b"}})", R"({"a":"b","c":"d"})", true},
        {R"({"matchLabels":{"a":"b"}})", R"({"a":"c"})", false},
        {R"({"matchLabels":{"a":"b"}})", "{}", false},
        {R"({"matchExpressions":[{"key":"a","operator":"In","values":["x","y"]}]})", R"({"a":"y"})",
         true},
        {R"({"matchExpressions":[{"key":"a","operator":"In","values":["x"]}]})", "{}", false},
        {R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["x"]}]})", "{}", true},
        {R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["x"]}]})", R"({"a":"x"})",
         false},
        {R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})", R"({"a":""})", true},
        {R"({"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})", R"({"a":""})", false},
        {R"({"matchExpressions":[{"key":"a","operator":"Near"}]})", R"({"a":""})", false},
        {R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"Exists"}]})",
         R"({"a":"b"})", false},
    };
    for (const Case& one : cases) {
        const json::value selector = json::parse(one.selector);
        EXPECT_EQ(selects(&selector, json::parse(one.labels).as_object()), one.is_selected)
            << one.selector << " of " << one.labels;
    }
    EXPECT_FALSE(selects(nullptr, {}));
}

std::vector<json::object> pods(int count, const std::string& status) {
    std::vector<json::object> out;
    for (int i = 0; i < count; ++i) {
        json::object pod =
            object_of(R"({"metadata":{"labels":{"app":"a"}},"status":)" + status + "}");
        pod["metadata"].as_object()["name"] = "p" + std::to_string(i);
        out.push_back(std::move(pod));
    }
    return out;
}

std::string budget(const std::string& name, const std::string& spec, const std::string& status) {
    return R"({"metadata":{"generation":2,"name":")" + name + R"("},"spec":{"selector":)" + spec +
           R"(},"status":{"observedGeneration":2,)" + status + "}}";
}
std::string list(const std::string& items) { return R"({"items":[)" + items + "]}"; }

constexpr const char* running = R"({"phase":"Running"})";

TEST(Budgets, AllOfTheGangGoesOrNone) {
    const std::string four = list(budget("b", "{}", R"("disruptionsAllowed":4)"));

    EXPECT_EQ(forbidding_budget(four, pods(4, running)), "");
    EXPECT_EQ(forbidding_budget(four, pods(5, running)), "budget b allows 4 of the 5 pods to go");
    EXPECT_EQ(forbidding_budget(list(""), pods(5, running)), "");
    EXPECT_EQ(forbidding_budget("no JSON", pods(5, running)), "");
}

TEST(Budgets, PodsThatDoNotRunAskNoBudget) {
    const std::string none = list(budget("b", "{}", R"("disruptionsAllowed":0)"));

    EXPECT_EQ(forbidding_budget(none, pods(2, R"({"phase":"Pending"})")), "");
    EXPECT_EQ(forbidding_budget(none, pods(2, R"({"phase":"Failed"})")), "");
}

TEST(Budgets, PodsThatAreNotReadyGoWhereTheBudgetIsKeptWithoutThem) {
    const auto unready =
        pods(2, R"({"phase":"Running","conditions":[{"type":"Ready","status":"False"}]})");
    const std::string kept = R"("disruptionsAllowed":0,"currentHealthy":3,"desiredHealthy":3)";
    const std::string broken = R"("disruptionsAllowed":0,"currentHealthy":2,"desiredHealthy":3)";

    EXPECT_EQ(forbidding_budget(list(budget("b", "{}", kept)), unready), "");
    EXPECT_NE(forbidding_budget(list(budget("b", "{}", broken)), unready), "");
    EXPECT_EQ(
        forbidding_budget(
            list(budget("b", R"({},"unhealthyPodEvictionPolicy":"AlwaysAllow")", broken)), unready),
        "");
}

TEST(Budgets, OfTwoForOnePodNoneCanBeKept) {
    const std::string two = list(budget("b", "{}", R"("disruptionsAllowed":9)") + "," +
                                 budget("c", "{}", R"("disruptionsAllowed":9)"));

    EXPECT_EQ(forbidding_budget(two, pods(1, running)),
              "p0 is in two budgets, b and c, which no eviction is allowed");
}

TEST(Budgets, ANewOneIsWaitedFor) {
    const std::string fresh = R"({"items":[{"metadata":{"generation":1,"name":"b"},)"
                              R"("spec":{"selector":{}},"status":{"disruptionsAllowed":0}}]})";

    EXPECT_EQ(forbidding_budget(fresh, pods(1, running)), "budget b is new and not counted yet");
}

TEST(Budgets, OthersAreNotAsked) {
    const std::string other =
        list(budget("b", R"({"matchLabels":{"app":"other"}})", R"("disruptionsAllowed":0)"));

    EXPECT_EQ(forbidding_budget(other, pods(3, running)), "");
}

}  // namespace
}  // namespace muster::kube
