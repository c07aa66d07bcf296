#include "lab/selector.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

namespace muster::lab {
namespace {

namespace json = boost::json;
using Op = Requirement::Op;

json::object object(std::string_view text) { return json::parse(text).as_object(); }

TEST(LabelSelector, ReadsWhatUsersWrite) {
    struct Case {
        std::string_view text;
        Selector expected;
    };
    const std::vector<Case> cases = {
        {"", {}},
        {"  ", {}},
        {"app=web", {{"app", Op::in, {"web"}}}},
        {"app==web", {{"app", Op::in, {"web"}}}},
        {" app = web ", {{"app", Op::in, {"web"}}}},
        {"app!=web", {{"app", Op::not_in, {"web"}}}},
        {"app=", {{"app", Op::in, {""}}}},
        {"app=,b", {{"app", Op::in, {""}}, {"b", Op::exists, {}}}},
        {"app", {{"app", Op::exists, {}}}},
        {"!app", {{"app", Op::not_exists, {}}}},
        {"tier in (b, a,b)", {{"tier", Op::in, {"a", "b"}}}},
        {"tier notin (a)", {{"tier", Op::not_in, {"a"}}}},
        {"tier in (,a)", {{"tier", Op::in, {"", "a"}}}},
        {"tier in (a,)", {{"tier", Op::in, {"", "a"}}}},
        {"in in (in,notin)", {{"in", Op::in, {"in", "notin"}}}},
        {"gpus>4,gpus<9", {{"gpus", Op::greater, {"4"}}, {"gpus", Op::less, {"9"}}}},
        {"volcano.sh/job-name=dist", {{"volcano.sh/job-name", Op::in, {"dist"}}}},
    };
    for (const Case& one : cases) {
        const auto read = parse_label_selector(one.text);

        ASSERT_TRUE(read.has_value()) << one.text << ": " << read.error().message;
        EXPECT_EQ(*read, one.expected) << one.text;
    }
}

TEST(LabelSelector, RefusesInTheWordsOfTheServer) {
    struct Case {
        std::string_view text;
        std::string_view message;
    };
    constexpr Case cases[] = {
        {"=a", "found '=', expected: !, identifier, or 'end of string'"},
        {"a,", "found '', expected: identifier after ','"},
        {"a,,b", "found ',', expected: identifier after ','"},
        {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        {"a=b c", "found 'c', expected: ',' or 'end of string'"},
        {"!a=b", "found '=', expected: ',' or 'end of string'"},
        {"!", "unable to parse requirement: found '', expected: identifier"},
        {"a in", "unable to parse requirement: found '' expected: '('"},
        {"a in b", "unable to parse requirement: found 'b' expected: '('"},
        {"a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
        {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
        {"a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"},
        {"a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"},
        {"a=(", "unable to parse requirement: found '(', expected: identifier"},
        {"a>b",
         "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' "
         "operators, the value must be an integer"},
        {"a=-b",
         "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label "
         "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
         "and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
         "'my_value',  or '12345', regex used for validation is "
         "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
        {"_a=b",
         "unable to parse requirement: <nil>: Invalid value: \"_a\": name part must "
         "consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
         "an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
         "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
        {"/a",
         "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be "
         "non-empty"},
    };
    for (const Case& one : cases) {
        const auto read = parse_label_selector(one.text);

        ASSERT_FALSE(read.has_value()) << one.text;
        EXPECT_EQ(read.error().message, one.message) << one.text;
    }
}

TEST(LabelSelector, RefusesLongNames) {
    const auto key = parse_label_selector(std::string(64, 'a'));
    const auto value = parse_label_selector("a=" + std::string(64, 'b'));
    const auto prefix = parse_label_selector(std::string(254, 'a') + "/b");

    ASSERT_FALSE(key || value || prefix);
    EXPECT_NE(key.error().message.find("name part must be no more than 63 bytes"),
              std::string::npos);
    EXPECT_NE(value.error().message.find("must be no more than 63 bytes"), std::string::npos);
    EXPECT_NE(prefix.error().message.find("prefix part must be no more than 253 bytes"),
              std::string::npos);
}

TEST(LabelSelector, Matches) {
    const json::object labels = object(R"({"app":"web","gpus":"8","empty":"","word":"x"})");
    struct Case {
        std::string_view text;
        bool expected;
    };
    constexpr Case cases[] = {
        {"", true},
        {"app=web", true},
        {"app=db", false},
        {"app!=web", false},
        {"none!=web", true},
        {"app", true},
        {"!app", false},
        {"!none", true},
        {"app in (db,web)", true},
        {"none in (a)", false},
        {"none notin (a)", true},
        {"empty=", true},
        {"none=", false},
        {"gpus>4", true},
        {"gpus>8", false},
        {"gpus<9", true},
        {"word>1", false},
        {"none>1", false},
        {"app=web,gpus=4", false},
        {"app=web,gpus=8", true},
    };
    for (const Case& one : cases) {
        EXPECT_EQ(matches_labels(parse_label_selector(one.text).value(), &labels), one.expected)
            << one.text;
    }
    EXPECT_TRUE(matches_labels({}, nullptr));
    EXPECT_FALSE(matches_labels(parse_label_selector("a").value(), nullptr));
    EXPECT_TRUE(matches_labels(parse_label_selector("!a").value(), nullptr));
}

TEST(LabelSelector, OfAnObjectSelectsNothingWhenThereIsNone) {
    const json::object labels = object(R"({"app":"web"})");

    EXPECT_FALSE(matches_labels(read_label_selector(nullptr).value(), &labels));
    EXPECT_TRUE(matches_labels(read_label_selector(json::object()).value(), &labels));
}

TEST(LabelSelector, OfAnObjectReadsLabelsAndExpressions) {
    const json::value selector = json::parse(R"({"matchLabels":{"app":"web"},"matchExpressions":[
        {"key":"tier","operator":"In","values":["b","a"]},
        {"key":"zone","operator":"NotIn","values":["z"]},
        {"key":"x","operator":"Exists"},{"key":"y","operator":"DoesNotExist"}]})");

    const Selector expected = {{"app", Op::in, {"web"}},
                               {"tier", Op::in, {"a", "b"}},
                               {"zone", Op::not_in, {"z"}},
                               {"x", Op::exists, {}},
                               {"y", Op::not_exists, {}}};
    EXPECT_EQ(read_label_selector(selector).value(), expected);

    const auto wrong = read_label_selector(
        json::parse(R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})"));
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().message, "\"Gt\" is not a valid label selector operator");
}

TEST(FieldSelector, ReadsEqualsAndNot) {
    struct Case {
        std::string_view text;
        Selector expected;
    };
    const std::vector<Case> cases = {
        {"", {}},
        {"spec.nodeName=n1", {{"spec.nodeName", Op::in, {"n1"}}}},
        {"spec.nodeName==n1,,", {{"spec.nodeName", Op::in, {"n1"}}}},
        {"a!=b,c=", {{"a", Op::not_in, {"b"}}, {"c", Op::in, {""}}}},
        {"a=x\\,y\\=z\\\\", {{"a", Op::in, {"x,y=z\\"}}}},
    };
    for (const Case& one : cases) {
        const auto read = parse_field_selector(one.text);

        ASSERT_TRUE(read.has_value()) << one.text << ": " << read.error().message;
        EXPECT_EQ(*read, one.expected) << one.text;
    }
}

TEST(FieldSelector, RefusesInTheWordsOfTheServer) {
    struct Case {
        std::string_view text;
        std::string_view message;
    };
    constexpr Case cases[] = {
        {"a", "invalid selector: 'a'; can't understand 'a'"},
        {"a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"},
        {"a=b=c", "invalid field selector: unescaped character in value: 61"},
        {"a=b\\c", "invalid field selector: invalid escape sequence: \\c"},
        {"a=b\\", "invalid field selector: invalid escape sequence: \\"},
    };
    for (const Case& one : cases) {
        const auto read = parse_field_selector(one.text);

        ASSERT_FALSE(read.has_value()) << one.text;
        EXPECT_EQ(read.error().message, one.message) << one.text;
    }
}

TEST(FieldSelector, TakesAnAbsentFieldAsEmpty) {
    const auto value_of = [](std::string_view field) {
        return field == "spec.nodeName" ? std::string("n1") : std::string();
    };
    const auto matches = [&](std::string_view text) {
        return matches_fields(parse_field_selector(text).value(), value_of);
    };

    EXPECT_TRUE(matches("spec.nodeName=n1"));
    EXPECT_FALSE(matches("spec.nodeName!=n1"));
    EXPECT_TRUE(matches("status.phase="));
    EXPECT_TRUE(matches("status.phase!=Running"));
    EXPECT_FALSE(matches("spec.nodeName=n1,status.phase=Running"));
}

}  // namespace
}  // namespace muster::lab
