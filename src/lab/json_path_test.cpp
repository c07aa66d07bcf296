#include "lab/json_path.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

TEST(JsonPath, FindsInOrder) {
    const json::object root = json::parse(R"({"a":{"b":7,"x.y":"dotted","none":null},
        "list":[{"type":"A","status":"1","n":1},{"type":"B","status":"2","n":2},{"n":3}],
        "odd]":{"q":1}})")
                                  .as_object();
    struct Case {
        std::string_view path;
        std::string_view expected;
    };
    constexpr Case cases[] = {
        {".a.b", "7"},
        {"{.a.b}", "7"},
        {"$.a.b", "7"},
        {".a['x.y']", "\"dotted\""},
        {".a.x\\.y", "\"dotted\""},
        {"['a'].b", "7"},
        {"['odd]'].q", "1"},
        {".a.none", "null"},
        {".a.missing", ""},
        {".a.b.c", ""},
        {".missing.b", ""},
        {".list[0].status", "\"1\""},
        {".list[-1].n", "3"},
        {".list[3].n", ""},
        {".list[-4].n", ""},
        {".list[*].n", "1 2 3"},
        {".list[?(@.type==\"B\")].status", "\"2\""},
        {".list[?(@.type == 'B')].status", "\"2\""},
        {".list[?(@.type!=\"B\")].status", "\"1\""},
        {".list[?(@.n==3)].n", "3"},
        {".list[?(@.type)].n", "1 2"},
        {".list[?(@.type==\"a]b\")].n", ""},
        {".a[0]", ""},
    };
    for (const Case& one : cases) {
        const auto found = select_path(root, one.path);

        ASSERT_TRUE(found.has_value()) << one.path << ": " << found.error().message;
        std::string text;
        for (const json::value* value : *found) {
            text += (text.empty() ? "" : " ") + json::serialize(*value);
        }
        EXPECT_EQ(text, one.expected) << one.path;
    }
}

TEST(JsonPath, RefusesWhatIsNone) {
    const json::object root = json::parse(R"({"a":[{}]})").as_object();
    for (const std::string_view path : {"", ".", "a", "[0]", ".a[", ".a[x]", ".a[]",
                                        ".a[?(type==1)]", ".a..b", ".a]", ".a[?(@.b[?(@.c)])]"}) {
        EXPECT_FALSE(select_path(root, path).has_value()) << path;
    }
    EXPECT_FALSE(select_path(root, "." + std::string(5000, 'a')).has_value());
}

}  // namespace
}  // namespace muster::lab
