#include "lab/field_set.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {
namespace {

namespace json = boost::json;

json::value read_json(std::string_view text) {
    boost::system::error_code wrong;
    json::value value = json::parse(text, wrong);
    EXPECT_FALSE(wrong) << text;
    return value;
}

FieldSet set_of(std::string_view text) {
    Result<FieldSet> set = FieldSet::parse(read_json(text));
    EXPECT_TRUE(set.has_value()) << text;
    return set ? *std::move(set) : FieldSet();
}

TEST(FieldSet, IsWrittenInKubernetesOrder) {
    const struct {
        std::string_view read;
        std::string_view written;
    } cases[] = {
        {R"({})", R"({})"},
        {R"({"f:b":{},"f:a":{}})", R"({"f:a":{},"f:b":{}})"},
        {R"({"f:labels":{"f:app":{},".":{}}})", R"({"f:labels":{".":{},"f:app":{}}})"},
        {R"({"v:2":{},"v:10":{},"v:\"a\"":{},"v:false":{},"f:x":{}})",
         R"({"f:x":{},"v:2":{},"v:10":{},"v:\"a\"":{},"v:false":{}})"},
        {R"({"k:{\"protocol\":\"TCP\",\"containerPort\":80}":{".":{}}})",
         R"({"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}})"},
        {R"({"v:1.0":{},"v:1.5":{},"i:2":{},"z:of a later version":{}})",
         R"({"v:1":{},"v:1.5":{},"i:2":{}})"},
        {R"({"v:0.30000000000000004":{}})", R"({"v:0.3":{}})"},
        {R"({"v:\"a<b\"":{}})", R"({"v:\"a\\u003cb\"":{}})"},
        {R"({"v:1":{},"v:1.0":{"f:a":{}}})", R"({"v:1":{".":{},"f:a":{}}})"},
    };

    for (const auto& one : cases) {
        EXPECT_EQ(json::serialize(set_of(one.read).write()), one.written) << one.read;
    }
}

TEST(FieldSet, RefusesWhatIsNoFieldsV1) {
    for (const std::string_view text :
         {R"([])", R"("f:a")", R"({"a":{}})", R"({"":{}})", R"({"f:a":1})", R"({"k:[1]":{}})",
          R"({"k:{\"a\":null}":{}})", R"({"v:{}":{}})", R"({"v:":{}})", R"({"i:x":{}})",
          R"({"i:-1":{}})", R"({"v:1e999":{}})", R"({"v:1.7976931348623158e308":{}})"}) {
        EXPECT_FALSE(FieldSet::parse(read_json(text)).has_value()) << text;
    }
}

TEST(FieldSet, PrintsPathsAsPeopleKnowThem) {
    const FieldSet set = set_of(
        R"({"f:metadata":{"f:finalizers":{"v:\"x\"":{}}},
            "f:spec":{"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},
                      "f:name":{}}},"f:replicas":{}},"i:3":{}})");

    const std::vector<std::string> expected{"[3]", R"(.metadata.finalizers[="x"])",
                                            ".spec.replicas",
                                            R"(.spec.ports[containerPort=80,protocol="TCP"])",
                                            R"(.spec.ports[containerPort=80,protocol="TCP"].name)"};
    EXPECT_EQ(set.paths(), expected);
}

TEST(FieldSet, ParentAndChildAreTwoMembers) {
    const FieldSet both = set_of(R"({"f:a":{".":{},"f:b":{}}})");
    const FieldSet parent = set_of(R"({"f:a":{}})");
    const FieldSet child = set_of(R"({"f:a":{"f:b":{}}})");

    EXPECT_EQ(parent.unite(child), both);
    EXPECT_EQ(both.subtract(parent), child);
    EXPECT_EQ(both.subtract(child), parent);
    EXPECT_TRUE(parent.intersect(child).is_empty());
    EXPECT_EQ(both.intersect(child), child);
}

FieldStep any_step(std::mt19937_64& random) {
    const std::string text(random() % 3, "a\"\\<\n"[random() % 5]);
    switch (random() % 4) {
        case 0: return FieldStep::field(text);
        case 1: return FieldStep::item(static_cast<std::int64_t>(random() % 3) - 1);
        case 2: return FieldStep::item(static_cast<double>(random() % 2) + 0.5);
        default: break;
    }
    FieldStep key{.kind = FieldStep::Kind::key, .name = {}, .key = {}};
    key.key.emplace_back("a", text);
    if (random() % 2 == 0) { key.key.emplace_back("b", random() % 2 == 0); }
    return key;
}

FieldSet any_set(std::mt19937_64& random) {
    FieldSet out;
    for (std::uint64_t i = random() % 8; i > 0; --i) {
        std::vector<FieldStep> path;
        for (std::uint64_t k = random() % 4; k > 0; --k) { path.push_back(any_step(random)); }
        out.insert(path);
    }
    return out;
}

RC_GTEST_PROP(FieldSet, IsReadAsItWasWritten, (std::uint64_t seed)) {
    std::mt19937_64 random(seed);
    const FieldSet set = any_set(random);

    const Result<FieldSet> again = FieldSet::parse(set.write());

    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == set);
}

RC_GTEST_PROP(FieldSet, ObeysTheLawsOfSets, (std::uint64_t seed)) {
    std::mt19937_64 random(seed);
    const FieldSet a = any_set(random);
    const FieldSet b = any_set(random);

    RC_ASSERT(a.unite(b) == b.unite(a));
    RC_ASSERT(a.intersect(b) == b.intersect(a));
    RC_ASSERT(a.unite(a) == a);
    RC_ASSERT(a.intersect(a) == a);
    RC_ASSERT(a.subtract(a).is_empty());
    RC_ASSERT(a.subtract(b).unite(a.intersect(b)) == a);
    RC_ASSERT(a.unite(b).subtract(b) == a.subtract(b));
    RC_ASSERT(a.subtract(b).intersect(b).is_empty());
    RC_ASSERT(a.unite(b).paths().size() ==
              a.paths().size() + b.paths().size() - a.intersect(b).paths().size());
}

}  // namespace
}  // namespace muster::lab
