#include "lab/patch.h"

#include "lab/values.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace muster::lab {
namespace {

namespace json = boost::json;

struct PatchCase {
    std::string_view name;
    std::string_view document;
    std::string_view patch;
    std::string_view expected;
};

// Appendix A of RFC 6902, and what it leaves to its text.
constexpr PatchCase json_patch_cases[] = {
    {"add a field", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
     R"({"baz":"qux","foo":"bar"})"},
    {"add an item", R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
     R"({"foo":["bar","qux","baz"]})"},
    {"remove a field", R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])",
     R"({"foo":"bar"})"},
    {"remove an item", R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
     R"({"foo":["bar","baz"]})"},
    {"replace", R"({"baz":"qux"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
     R"({"baz":"boo"})"},
    {"move a field", R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
     R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
     R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
    {"move an item", R"({"foo":["all","grass","cows","eat"]})",
     R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
     R"({"foo":["all","cows","eat","grass"]})"},
    {"move to itself", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
    {"copy", R"({"a":{"b":[1]}})", R"([{"op":"copy","from":"/a/b","path":"/c"}])",
     R"({"a":{"b":[1]},"c":[1]})"},
    {"test holds", R"({"baz":"qux","foo":["a",2,"c"]})",
     R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
     R"({"baz":"qux","foo":["a",2,"c"]})"},
    {"numbers by value", R"({"n":1,"l":[2.0]})",
     R"([{"op":"test","path":"/n","value":1.0},{"op":"test","path":"/l","value":[2]}])",
     R"({"n":1,"l":[2.0]})"},
    {"add an object", R"({"foo":"bar"})",
     R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
     R"({"foo":"bar","child":{"grandchild":{}}})"},
    {"unknown members are ignored", R"({"foo":"bar"})",
     R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])", R"({"foo":"bar","baz":"qux"})"},
    {"escapes", R"({"/":9,"~1":10})",
     R"([{"op":"test","path":"/~01","value":10},{"op":"replace","path":"/~1","value":8}])",
     R"({"/":8,"~1":10})"},
    {"a resource's name", R"({"capacity":{}})",
     R"([{"op":"add","path":"/capacity/nvidia.com~1gpu","value":"4"}])",
     R"({"capacity":{"nvidia.com/gpu":"4"}})"},
    {"add behind the last", R"({"foo":["bar"]})",
     R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])", R"({"foo":["bar",["abc","def"]]})"},
    {"add over what is there", R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])",
     R"({"a":2})"},
    {"the whole document", R"({"a":1})", R"([{"op":"replace","path":"","value":[]}])", "[]"},
    {"an empty name", R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
};

TEST(JsonPatch, DoesWhatTheStandardShows) {
    for (const PatchCase& one : json_patch_cases) {
        const auto patched = json_patch(json::parse(one.document), json::parse(one.patch));

        ASSERT_TRUE(patched) << one.name << ": " << patched.error().message;
        EXPECT_EQ(*patched, json::parse(one.expected)) << one.name;
    }
}

TEST(JsonPatch, TakesAMissingMemberForNullAsAServerDoes) {
    constexpr PatchCase cases[] = {
        {"replace", R"({})", R"([{"op":"replace","path":"/x","value":1}])", R"({"x":1})"},
        {"test", R"({})", R"([{"op":"test","path":"/x","value":null}])", R"({})"},
        {"copy", R"({})", R"([{"op":"copy","from":"/y","path":"/x"}])", R"({"x":null})"},
        {"add", R"({})", R"([{"op":"add","path":"/x"}])", R"({"x":null})"},
        {"escape", R"({})", R"([{"op":"add","path":"/~2~","value":1}])", R"({"~2~":1})"},
        {"slash", R"({})", R"([{"op":"add","path":"data/x","value":1}])", R"({"x":1})"},
    };
    for (const PatchCase& one : cases) {
        const auto patched = json_patch(json::parse(one.document), json::parse(one.patch));

        ASSERT_TRUE(patched) << one.patch;
        EXPECT_EQ(*patched, json::parse(one.expected)) << one.patch;
    }
}

struct RefusedPatch {
    std::string_view patch;
    Code code;
    std::string_view words;
};

TEST(JsonPatch, RefusesWhatMakesNoSense) {
    const json::value document = json::parse(R"({"a":{"b":1},"l":[1,2],"e":[]})");
    constexpr RefusedPatch cases[] = {
        {R"({})", Code::invalid, "list of operations"},
        {R"([1])", Code::invalid, "operation 0: expected an object"},
        {R"([{"op":"add","path":"/x/y","value":1}])", Code::not_found, "no field \"x\""},
        {R"([{"op":"remove","path":"/x/y"}])", Code::not_found,
         "operation 0 (remove \"/x/y\"): no field \"x\""},
        {R"([{"op":"remove","path":""}])", Code::invalid, "whole document"},
        {R"([{"op":"test","path":"/a/b","value":"1"}])", Code::conflict,
         "test failed: found 1, expected \"1\""},
        {R"([{"op":"add","path":"/l/3","value":1}])", Code::not_found, "index 3 is out of range"},
        {R"([{"op":"replace","path":"/l/2","value":1}])", Code::not_found, "out of range"},
        {R"([{"op":"remove","path":"/e/0"}])", Code::not_found, "empty"},
        {R"([{"op":"remove","path":"/l/-"}])", Code::not_found, "behind the last"},
        {R"([{"op":"add","path":"/l/01","value":1}])", Code::invalid, "not an index"},
        {R"([{"op":"add","path":"/l/-1","value":1}])", Code::invalid, "not an index"},
        {R"([{"op":"add","path":"/l/99999999999999999999","value":1}])", Code::not_found, "range"},
        {R"([{"op":"add","path":"/a/b/c","value":1}])", Code::not_found, "neither object nor list"},
        {R"([{"op":"add","path":"a","value":1}])", Code::invalid, "has no \"/\""},
        {R"([{"op":"add","value":1}])", Code::invalid, "\"path\" is missing"},
        {R"([{"op":"move","path":"/x"}])", Code::invalid, "\"from\" is missing"},
        {R"([{"op":1,"path":"/x"}])", Code::invalid, "\"op\" is not a string"},
        {R"([{"op":"spam","path":"/x"}])", Code::invalid, "expected add, remove"},
        {R"([{"op":"move","from":"/a","path":"/a/c"}])", Code::invalid, "into itself"},
        {R"([{"op":"move","from":"","path":"/c"}])", Code::invalid, "into itself"},
    };
    for (const RefusedPatch& one : cases) {
        const auto patched = json_patch(document, json::parse(one.patch));

        ASSERT_FALSE(patched) << one.patch;
        EXPECT_EQ(patched.error().code, one.code) << one.patch;
        EXPECT_THAT(patched.error().message, testing::HasSubstr(std::string(one.words)));
    }
}

TEST(JsonPatch, BoundsItsWork) {
    const json::value operation = json::parse(R"({"op":"test","path":"","value":{}})");
    const json::value doubling = json::parse(R"({"op":"copy","from":"/l","path":"/l/-"})");
    const json::value deeper = json::parse(R"({"op":"copy","from":"","path":"/a"})");

    EXPECT_TRUE(json_patch(json::object(), json::array(10'000, operation)));
    for (const json::array& patch : {json::array(10'001, operation), json::array(200, deeper)}) {
        const auto refused = json_patch(json::object(), patch);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::limit);
    }
    const auto bomb = json_patch(json::parse(R"({"l":[1]})"), json::array(100, doubling));
    ASSERT_FALSE(bomb);
    EXPECT_EQ(bomb.error().code, Code::limit);
}

// Appendix A of RFC 7386.
constexpr PatchCase merge_patch_cases[] = {
    {"", R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
    {"", R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
    {"", R"({"a":"b"})", R"({"a":null})", R"({})"},
    {"", R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
    {"", R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
    {"", R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
    {"", R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
    {"", R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
    {"", R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
    {"", R"({"a":"b"})", R"(["c"])", R"(["c"])"},
    {"", R"({"a":"foo"})", "null", "null"},
    {"", R"({"a":"foo"})", R"("bar")", R"("bar")"},
    {"", R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
    {"", R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
    {"", R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
};

TEST(MergePatch, DoesWhatTheStandardShows) {
    for (const PatchCase& one : merge_patch_cases) {
        EXPECT_EQ(merge_patch(json::parse(one.document), json::parse(one.patch)),
                  json::parse(one.expected))
            << one.document << " with " << one.patch;
    }
}

/// Few names, so that documents meet.
json::value any_value(int levels) {
    const int kind = *rc::gen::inRange(0, levels > 0 ? 6 : 4);
    if (kind == 0) { return nullptr; }
    if (kind == 1) { return *rc::gen::inRange(0, 3); }
    if (kind == 2) { return *rc::gen::inRange(0, 2) == 0; }
    if (kind == 3) {
        return json::value(json::string(1, static_cast<char>(*rc::gen::inRange('x', '{'))));
    }
    const int size = *rc::gen::inRange(0, 4);
    if (kind == 4) {
        json::array list;
        for (int i = 0; i < size; ++i) { list.push_back(any_value(levels - 1)); }
        return list;
    }
    json::object object;
    for (int i = 0; i < size; ++i) {
        const std::string name(1, static_cast<char>(*rc::gen::inRange('a', 'e')));
        object.insert_or_assign(name, any_value(levels - 1));
    }
    return object;
}

json::value without_nulls(json::value value) {
    if (json::object* object = value.if_object()) {
        drop_fields(*object,
                    [&](std::string_view name) { return object->if_contains(name)->is_null(); });
        for (auto& field : *object) { field.value() = without_nulls(field.value()); }
    }
    return value;
}

/// The merge patch that makes `after` of `before`; neither has nulls in objects.
json::value difference(const json::value& before, const json::value& after) {
    if (!before.is_object() || !after.is_object()) { return after; }
    json::object out;
    for (const auto& field : before.get_object()) {
        if (!after.get_object().contains(field.key())) { out.emplace(field.key(), nullptr); }
    }
    for (const auto& field : after.get_object()) {
        const json::value* old = before.get_object().if_contains(field.key());
        if (old == nullptr) {
            out.emplace(field.key(), field.value());
        } else if (*old != field.value()) {
            out.emplace(field.key(), difference(*old, field.value()));
        }
    }
    return out;
}

RC_GTEST_PROP(MergePatch, TwiceIsOnce, ()) {
    const json::value document = any_value(3);
    const json::value patch = any_value(3);

    const json::value once = merge_patch(document, patch);

    RC_ASSERT(merge_patch(once, patch) == once);
}

RC_GTEST_PROP(MergePatch, OfADifferenceMakesTheOther, ()) {
    const json::value before = without_nulls(any_value(4));
    const json::value after = without_nulls(any_value(4));

    RC_ASSERT(merge_patch(before, difference(before, after)) == after);
}

RC_GTEST_PROP(Values, HaveOneIdentityWhenTheyAreTheSame, ()) {
    const json::value left = any_value(2);
    const json::value right = any_value(2);

    RC_ASSERT(same_value(left, right) == (identity(left) == identity(right)));
    RC_ASSERT(same_value(left, left));
}

TEST(Values, CompareNumbersOfAllKinds) {
    const auto compare = [](const char* left, const char* right) {
        return compare_numbers(json::parse(left), json::parse(right));
    };

    EXPECT_TRUE(compare("1", "1.0") == 0);
    EXPECT_TRUE(compare("18446744073709551615", "-1") > 0);
    EXPECT_TRUE(compare("9223372036854775807", "9223372036854775808") < 0);
    EXPECT_TRUE(compare("9007199254740993", "9007199254740992.0") > 0);
    EXPECT_TRUE(compare("1", "1.5") < 0);
    EXPECT_TRUE(compare("1e300", "1") > 0);
    EXPECT_EQ(identity(json::parse("2.0")), identity(json::parse("2")));
}

}  // namespace
}  // namespace muster::lab
