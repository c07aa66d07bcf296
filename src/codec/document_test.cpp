#include "codec/document.h"

#include "codec/field.h"
#include "codec/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::HasSubstr;

Result<Documents> read(std::string text, std::string name = "job.yaml") {
    const std::vector<SourceText> sources = {{std::move(name), std::move(text)}};
    return read_documents(sources);
}

std::string error_of(std::string text, std::string name = "job.yaml") {
    const auto documents = read(std::move(text), std::move(name));
    return documents ? "no error" : documents.error().message;
}

std::string repeat(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) { out += text; }
    return out;
}

TEST(Documents, SplitYamlAtSeparatorsAndSkipEmptyOnes) {
    const auto documents =
        read("# nothing\n---\nkind: Node\n---\n---\nkind: Pod\napiVersion: v1\n");

    ASSERT_TRUE(documents);
    ASSERT_EQ(documents->all().size(), 2U);
    EXPECT_EQ(documents->all()[0].kind, "Node");
    EXPECT_EQ(documents->all()[1].api_version, "v1");
}

TEST(Documents, FlattenListsOfBothFormats) {
    const auto json =
        read(R"({"kind":"List","items":[{"kind":"Node"},{"kind":"PodList","items":[{}]}]})");
    const auto yaml = read("kind: NodeList\napiVersion: v1\nitems:\n- metadata: {name: a}\n");

    ASSERT_TRUE(json);
    ASSERT_EQ(json->all().size(), 2U);
    EXPECT_EQ(json->all()[1].kind, "Pod");
    EXPECT_EQ(json->all()[1].prefix, "items[1].items[0]");
    ASSERT_TRUE(yaml);
    EXPECT_EQ(yaml->all().at(0).kind, "Node");
    EXPECT_EQ(yaml->all().at(0).api_version, "v1");
}

TEST(Documents, ConcatenatedJsonIsSeveralDocuments) {
    const auto documents = read("{\"kind\":\"A\"}\n{\"kind\":\"B\"}\n");

    ASSERT_TRUE(documents);
    EXPECT_EQ(documents->all().size(), 2U);
}

struct Bad {
    const char* name;
    std::string text;
    std::string error;
};

TEST(Documents, RefuseBadInputWithItsPlace) {
    const std::string bomb = [] {
        std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
        for (int i = 1; i < 10; ++i) {
            const std::string last = "*a" + std::to_string(i - 1);
            text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
            for (int k = 0; k < 9; ++k) { text += ", " + last; }
            text += "]\n";
        }
        return text;
    }();
    const Bad cases[] = {
        {"json depth", repeat("[", 100'000), "nested deeper than 100"},
        {"json object depth", repeat("{\"a\":", 100'000), "nested deeper than 100"},
        {"yaml flow depth", "a: " + repeat("[", 100'000), "job.yaml:1"},
        {"yaml block depth", repeat("- ", 10'000), "job.yaml:1"},
        {"alias bomb", bomb, "aliases expand to"},
        {"alias of itself", "a: &a [*a]\n", "job.yaml:1: a[0]: an alias inside its own anchor"},
        {"unknown alias", "a: *b\n", "job.yaml:1: not YAML"},
        {"yaml duplicate", "kind: Pod\nspec:\n  a: 1\n  a: 2\n",
         "job.yaml:4: spec.a: duplicate key \"a\""},
        {"json duplicate", R"({"kind":"Pod","spec":[{"a":1,"a":2}]})",
         "spec[0].a: duplicate key \"a\""},
        {"nul", std::string("kind: P\nx: a\0b", 14), "job.yaml:2: found a NUL byte"},
        {"truncated json", R"({"kind":"Pod","spec":)", "ends inside a value"},
        {"truncated yaml", "kind: Pod\nspec: {a: [1, 2\n", "not YAML"},
        {"bad json", "{\n\"a\": 1,\n}", "job.yaml:3: byte 10: not JSON"},
        {"json tail", "{} x", "not JSON"},
        {"bad utf-8", "{\"a\":\"\xff\"}", "not JSON"},
        {"tabs", "kind: Pod\n\tspec: 1\n", "not YAML"},
        {"scalar", "just text\n", "found no mapping"},
        {"list", "[1, 2]", "found no mapping"},
        {"complex key", "? [a]\n: b\n", "expected text"},
        {"items", "kind: List\nitems: 3\n", "job.yaml:2: items: found no list"},
        {"stray comma", ",^", "job.yaml:1: not YAML"},
        {"unknown tag", "a: !!python/object x\n", "unknown tag"},
    };

    for (const Bad& bad : cases) {
        EXPECT_THAT(error_of(bad.text), HasSubstr(bad.error)) << bad.name;
    }
}

TEST(Documents, TakeLongLines) {
    const std::string line(10'000'000, 'x');

    EXPECT_TRUE(read("kind: Pod\nspec: " + line + "\n"));
    EXPECT_TRUE(read("kind: Pod\nspec: \"" + line + "\"\n"));
    EXPECT_TRUE(read("{\"kind\":\"" + line + "\"}"));
}

TEST(Documents, AliasesAndMergeKeysAreCopies) {
    const auto documents = read("base: &b {x: 1, y: 2}\nspec:\n  <<: *b\n  y: 3\nagain: *b\n");

    ASSERT_TRUE(documents);
    Faults faults;
    const Field root(documents->all().at(0), faults);
    EXPECT_EQ(root["spec"]["x"].integer(0, 9), 1);
    EXPECT_EQ(root["spec"]["y"].integer(0, 9), 3);
    EXPECT_EQ(root["again"]["y"].integer(0, 9), 2);
    EXPECT_TRUE(faults.is_empty());
}

}  // namespace
}  // namespace muster
