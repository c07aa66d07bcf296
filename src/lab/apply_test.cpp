#include "lab/apply.h"

#include "lab/field_set.h"
#include "lab/field_type.h"
#include "lab/field_walk.h"

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

json::value from_text(std::string_view text) {
    boost::system::error_code wrong;
    json::value value = json::parse(text, wrong);
    EXPECT_FALSE(wrong) << text;
    return value;
}

/// A kind with one of each: maps, a list with keys, sets, lists and maps that are one.
const Schema& small_schema() {
    static const json::value raw = from_text(R"({"type": "object", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": {
            "replicas": {"type": "integer"},
            "paused": {"type": "boolean"},
            "selector": {"type": "object", "x-kubernetes-map-type": "atomic",
                         "additionalProperties": {"type": "string"}},
            "command": {"type": "array", "items": {"type": "string"}},
            "zones": {"type": "array", "items": {"type": "string"},
                      "x-kubernetes-list-type": "set"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "containers": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {
                    "name": {"type": "string"}, "image": {"type": "string"},
                    "tty": {"type": "boolean"},
                    "ports": {"type": "array", "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["port", "protocol"],
                        "items": {"type": "object", "properties": {
                            "port": {"type": "integer"}, "name": {"type": "string"},
                            "protocol": {"type": "string", "default": "TCP"}}}}}}}}},
        "status": {"type": "object", "properties": {"ready": {"type": "integer"}}}}})");
    static const Schema schema(raw, nullptr);
    return schema;
}

/// Requests one after the other to one object, a second between them.
class Cluster {
public:
    /// The message when it was refused.
    std::string apply(std::string_view who, std::string_view configuration, bool force = false,
                      std::string_view subresource = "") {
        std::vector<FieldConflict> conflicts;
        Result<json::value> result =
            apply_configuration(live, whole(configuration), small_schema(),
                                manager(who, subresource), force, conflicts);
        if (!result) {
            EXPECT_EQ(conflicts.empty(), result.error().code != Code::conflict);
            return result.error().message;
        }
        live = *std::move(result);
        live.get_object()["metadata"].get_object()["uid"] = "u1";
        return {};
    }

    void update(std::string_view who, std::string_view object, std::string_view subresource = "") {
        json::value after = whole(object);
        after.get_object()["metadata"].get_object()["uid"] = "u1";
        note_update(live, after, small_schema(), manager(who, subresource));
        live = std::move(after);
    }

    /// A part of the live object: "spec".
    [[nodiscard]] std::string part(std::string_view name) const {
        const json::value* found = live.get_object().if_contains(name);
        return found == nullptr ? "" : json::serialize(*found);
    }

    /// "Apply kubectl: .spec.replicas; Update ..."
    [[nodiscard]] std::string owners() const {
        std::string out;
        const json::value* list =
            live.get_object().at("metadata").get_object().if_contains("managedFields");
        if (list == nullptr) { return out; }
        for (const json::value& value : list->get_array()) {
            const json::object& entry = value.get_object();
            if (!out.empty()) { out += "; "; }
            out += std::string(entry.at("operation").get_string()) + ' ' +
                   std::string(entry.at("manager").get_string());
            if (const json::value* subresource = entry.if_contains("subresource")) {
                out += '/' + std::string(subresource->get_string());
            }
            out += ':';
            for (const std::string& path : FieldSet::parse(entry.at("fieldsV1"))->paths()) {
                out += ' ' + path;
            }
        }
        return out;
    }

    json::value live;

private:
    /// With what every object has.
    static json::value whole(std::string_view text) {
        json::value value = from_text(text);
        json::object& object = value.get_object();
        object["apiVersion"] = "v1";
        object["kind"] = "Small";
        if (!object.contains("metadata")) { object["metadata"] = json::object(); }
        object["metadata"].get_object()["name"] = "one";
        return value;
    }

    Manager manager(std::string_view who, std::string_view subresource) {
        return {.name = std::string(who),
                .api_version = "v1",
                .subresource = std::string(subresource),
                .time = "2026-01-01T00:00:0" + std::to_string(++second_) + "Z"};
    }

    int second_ = 0;
};

TEST(Apply, OwnsWhatItAppliesAndNothingElse) {
    Cluster cluster;

    EXPECT_EQ(cluster.apply("a", R"({"metadata": {"labels": {"x": "1"}, "finalizers": ["f"]},
        "spec": {"replicas": 3, "selector": {"x": "1"}, "command": ["sleep"], "zones": ["z"],
                 "free": {"deep": {"er": [1]}},
                 "containers": [{"name": "app", "ports": [{"port": 80}]}]},
        "status": {"ready": 1}})"),
              "");

    EXPECT_EQ(cluster.owners(),
              R"(Apply a: .metadata.finalizers[="f"] .metadata.labels.x .spec.command)"
              R"( .spec.replicas .spec.selector .spec.containers[name="app"])"
              R"( .spec.containers[name="app"].name)"
              R"( .spec.containers[name="app"].ports[port=80,protocol="TCP"])"
              R"( .spec.containers[name="app"].ports[port=80,protocol="TCP"].port)"
              R"( .spec.free.deep .spec.free.deep.er .spec.zones[="z"])");
}

TEST(Apply, RefusesToChangeWhatSomebodyElseOwns) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3, "paused": true}})"), "");
    const json::value before = cluster.live;

    EXPECT_EQ(cluster.apply("b", R"({"spec": {"replicas": 4}})"),
              R"(Apply failed with 1 conflict: conflict with "a": .spec.replicas)");
    EXPECT_EQ(cluster.apply("b", R"({"spec": {"replicas": 4, "paused": false}})"),
              "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.paused\n"
              "- .spec.replicas");

    EXPECT_EQ(cluster.live, before);
}

TEST(Apply, NamesWhoUpdatedWithTheVersion) {
    Cluster cluster;
    cluster.update("edit", R"({"spec": {"replicas": 3}})");
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"paused": true}})"), "");

    EXPECT_EQ(cluster.apply("b", R"({"spec": {"replicas": 4, "paused": false}})"),
              "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.paused\n"
              "conflicts with \"edit\" using v1:\n- .spec.replicas");
}

TEST(Apply, SharesWhatBothWantAlike) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3}})"), "");

    EXPECT_EQ(cluster.apply("b", R"({"spec": {"replicas": 3.0}})"), "");

    EXPECT_EQ(cluster.owners(), "Apply a: .spec.replicas; Apply b: .spec.replicas");
    // The first lets go: the field stays, for it is the other's too.
    EXPECT_EQ(cluster.apply("a", R"({})"), "");
    EXPECT_EQ(cluster.owners(), "Apply b: .spec.replicas");
    EXPECT_EQ(cluster.part("spec"), R"({"replicas":3})");
}

TEST(Apply, ByForceTakesOver) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3, "paused": true}})"), "");

    EXPECT_EQ(cluster.apply("b", R"({"spec": {"replicas": 4}})", true), "");

    EXPECT_EQ(cluster.owners(), "Apply a: .spec.paused; Apply b: .spec.replicas");
    EXPECT_EQ(cluster.part("spec"), R"({"replicas":4,"paused":true})");
}

struct Removal {
    std::string_view name;
    std::string_view first;
    std::string_view second;  // of the same manager
    std::string_view left;    // of spec
};

TEST(Apply, TakesAwayWhatItDoesNotApplyAnyMore) {
    const Removal cases[] = {
        {"a field", R"({"spec": {"replicas": 1, "paused": true}})", R"({"spec": {"paused": true}})",
         R"({"paused":true})"},
        {"an item of a list with keys",
         R"({"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b"}]}})",
         R"({"spec": {"containers": [{"name": "b"}]}})", R"({"containers":[{"name":"b"}]})"},
        {"a field of an item", R"({"spec": {"containers": [{"name": "a", "image": "i"}]}})",
         R"({"spec": {"containers": [{"name": "a"}]}})", R"({"containers":[{"name":"a"}]})"},
        {"an item of a set", R"({"spec": {"zones": ["x", "y", "z"]}})",
         R"({"spec": {"zones": ["z", "x"]}})", R"({"zones":["z","x"]})"},
        {"a list that is one", R"({"spec": {"command": ["a"], "replicas": 1}})",
         R"({"spec": {"replicas": 1}})", R"({"replicas":1})"},
        {"the key of a map nobody describes", R"({"spec": {"free": {"a": {"b": 1}, "c": 2}}})",
         R"({"spec": {"free": {"c": 2}}})", R"({"free":{"c":2}})"},
        {"all but the empty map", R"({"spec": {"replicas": 1}})", R"({"spec": {}})", "{}"},
        {"all of it", R"({"spec": {"containers": [{"name": "a"}]}})", R"({})", ""},
    };

    for (const Removal& one : cases) {
        Cluster cluster;
        ASSERT_EQ(cluster.apply("a", one.first), "") << one.name;

        EXPECT_EQ(cluster.apply("a", one.second), "") << one.name;

        EXPECT_EQ(cluster.part("spec"), one.left) << one.name;
    }
}

TEST(Apply, LeavesWhatOthersHaveInsideOfWhatItLetsGo) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 1,
        "containers": [{"name": "app", "image": "i"}, {"name": "log", "image": "j"}]}})"),
              "");
    ASSERT_EQ(cluster.apply("b", R"({"spec": {"containers": [{"name": "app", "tty": true}]}})"),
              "");

    EXPECT_EQ(cluster.apply("a", R"({"spec": {"replicas": 1}})"), "");

    EXPECT_EQ(cluster.part("spec"), R"({"replicas":1,"containers":[{"name":"app","tty":true}]})");
    EXPECT_EQ(cluster.owners(),
              R"(Apply b: .spec.containers[name="app"] .spec.containers[name="app"].name)"
              R"( .spec.containers[name="app"].tty; Apply a: .spec.replicas)");
}

TEST(Apply, LeavesWhatAnUpdateSetInside) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"containers": [{"name": "app", "image": "i"}]}})"),
              "");
    json::value changed = cluster.live;
    changed.get_object()["spec"].get_object()["replicas"] = 7;
    cluster.update("scaler", json::serialize(changed));

    EXPECT_EQ(cluster.apply("a", R"({})"), "");

    EXPECT_EQ(cluster.part("spec"), R"({"replicas":7})");
    EXPECT_EQ(cluster.owners(), "Update scaler: .spec.replicas");
}

TEST(Apply, OrdersListsByTheConfigurationAndKeepsTheRestInPlace) {
    const struct {
        std::string_view live;
        std::string_view applied;
        std::string_view merged;
    } cases[] = {
        {R"(["a","b","c"])", R"(["b"])", R"(["a","b","c"])"},
        {R"(["a","b","c"])", R"(["c","a"])", R"(["b","c","a"])"},
        {R"(["a","b"])", R"(["x","b","y"])", R"(["a","x","b","y"])"},
        {R"(["a"])", R"(["b"])", R"(["a","b"])"},
        {R"(["a","b","c","d"])", R"(["d","n","b"])", R"(["a","c","d","n","b"])"},
        {R"([])", R"(["b","a"])", R"(["b","a"])"},
        {R"(["a"])", R"([])", R"(["a"])"},
    };

    for (const auto& one : cases) {
        Cluster cluster;
        const auto zones = [](std::string_view list) {
            return R"({"spec": {"replicas": 1, "zones": )" + std::string(list) + "}}";
        };
        cluster.update("someone", zones(one.live));

        EXPECT_EQ(cluster.apply("a", zones(one.applied)), "");

        EXPECT_EQ(json::serialize(cluster.live.at("spec").at("zones")), one.merged)
            << one.live << " + " << one.applied;
    }
}

TEST(Apply, ReplacesWhatIsOneAsAWhole) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply(
                  "a", R"({"spec": {"command": ["x", "y"], "selector": {"p": "1", "q": "2"}}})"),
              "");

    EXPECT_EQ(cluster.apply("b", R"({"spec": {"command": ["x", "z"]}})"),
              R"(Apply failed with 1 conflict: conflict with "a": .spec.command)");
    EXPECT_EQ(cluster.apply("a", R"({"spec": {"command": ["z"], "selector": {"q": "3"}}})"), "");

    EXPECT_EQ(cluster.part("spec"), R"({"command":["z"],"selector":{"q":"3"}})");
}

TEST(Apply, RefusesListsWhoseItemsCannotBeTold) {
    Cluster cluster;

    EXPECT_EQ(cluster.apply("a", R"({"spec": {"containers": [{"name": "x"}, {"name": "x"}]}})"),
              R"(.spec.containers: duplicate entries for key [name="x"])");
    EXPECT_EQ(cluster.apply("a", R"({"spec": {"containers": [{"image": "x"}]}})"),
              R"(.spec.containers: an item has no key field "name")");
    EXPECT_EQ(cluster.apply("a", R"({"metadata": {"managedFields": []}})"),
              "metadata.managedFields must be nil");
}

TEST(Apply, NullIsAFieldThatIsNotThere) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3, "paused": true}})"), "");

    EXPECT_EQ(cluster.apply("b", R"({"spec": {"replicas": null}})"),
              R"(Apply failed with 1 conflict: conflict with "a": .spec.replicas)");
    EXPECT_EQ(cluster.apply("a", R"({"metadata": {"creationTimestamp": null},
                                     "spec": {"replicas": null, "paused": true}})"),
              "");

    EXPECT_EQ(cluster.part("spec"), R"({"paused":true})");
    EXPECT_EQ(cluster.owners(), "Apply a: .spec.paused .spec.replicas");
}

TEST(Apply, KeepsWhatTheSystemSetAndOwnsNoneOfIt) {
    Cluster cluster;
    cluster.live = from_text(R"({"apiVersion": "v1", "kind": "Small", "metadata": {"name": "one",
        "uid": "u1", "creationTimestamp": "2025-01-01T00:00:00Z", "labels": {"old": "1"}}})");

    EXPECT_EQ(cluster.apply("a", R"({"metadata": {"uid": "other", "creationTimestamp": null,
                                                  "labels": {"new": "2"}}})"),
              "");

    // Nobody had asked before who owns what, so that what was there is of nobody in particular.
    EXPECT_EQ(cluster.owners(),
              "Apply a: .metadata.labels.new; Update before-first-apply: .metadata.labels"
              " .metadata.labels.old");
    const json::object& metadata = cluster.live.at("metadata").get_object();
    EXPECT_EQ(metadata.at("uid"), "u1");
    EXPECT_EQ(metadata.at("creationTimestamp"), "2025-01-01T00:00:00Z");
    EXPECT_EQ(json::serialize(metadata.at("labels")), R"({"old":"1","new":"2"})");
}

TEST(Apply, StatusIsOfItsSubresource) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3}, "status": {"ready": 1}})"), "");

    EXPECT_EQ(
        cluster.apply("b", R"({"spec": {"replicas": 4}, "status": {"ready": 2}})", false, "status"),
        "");
    EXPECT_EQ(cluster.apply("c", R"({"status": {"ready": 3}})", false, "status"),
              "Apply failed with 1 conflict: conflict with \"b\" with subresource \"status\": "
              ".status.ready");

    EXPECT_EQ(cluster.owners(), "Apply a: .spec.replicas; Apply b/status: .status.ready");
}

TEST(NoteUpdate, OwnsAllThatANewObjectHas) {
    Cluster cluster;

    cluster.update("create", R"({"metadata": {"labels": {"x": "1"}}, "spec": {"replicas": 1,
        "containers": [{"name": "app"}]}, "status": {"ready": 1}})");

    EXPECT_EQ(cluster.owners(),
              "Update create: .spec .metadata.labels .metadata.labels.x .spec.containers"
              " .spec.replicas .spec.containers[name=\"app\"]"
              " .spec.containers[name=\"app\"].name");
}

TEST(NoteUpdate, OwnsNoPartThatIsThereInEveryObjectOfItsKind) {
    const json::value definitions = from_text(R"({"Spec": {"type": "object",
        "required": ["containers"], "properties": {"replicas": {"type": "integer"},
        "containers": {"type": "array", "items": {"type": "string"},
                       "x-kubernetes-list-type": "set"}}}})");
    const json::value raw = from_text(R"({"type": "object", "properties": {
        "spec": {"allOf": [{"$ref": "#/components/schemas/Spec"}], "default": {}}}})");
    json::value object =
        from_text(R"({"metadata": {}, "spec": {"replicas": 1, "containers": ["a"]}})");

    note_update({}, object, Schema(raw, &definitions.get_object()),
                {.name = "create", .api_version = "v1", .subresource = "", .time = "t"});

    EXPECT_EQ(json::serialize(object.at("metadata").at("managedFields").at(0)),
              R"({"manager":"create","operation":"Update","apiVersion":"v1","time":"t",)"
              R"("fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:containers":{"v:\"a\"":{}},)"
              R"("f:replicas":{}}}})");
}

TEST(NoteUpdate, TakesWhatItChangesFromEverybody) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3, "paused": true}})"), "");
    json::value changed = cluster.live;
    changed.get_object()["spec"].get_object()["replicas"] = 5;

    cluster.update("scaler", json::serialize(changed));

    EXPECT_EQ(cluster.owners(), "Apply a: .spec.paused; Update scaler: .spec.replicas");
    EXPECT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3, "paused": true}})"),
              R"(Apply failed with 1 conflict: conflict with "scaler" using v1: .spec.replicas)");
}

TEST(NoteUpdate, WhatIsRemovedIsOfNobody) {
    Cluster cluster;
    ASSERT_EQ(cluster.apply("a", R"({"spec": {"replicas": 3}})"), "");
    ASSERT_EQ(cluster.apply("b", R"({"spec": {"paused": true}})"), "");

    cluster.update("edit", R"({"spec": {"replicas": 3}})");

    EXPECT_EQ(cluster.owners(), "Apply a: .spec.replicas");
}

TEST(NoteUpdate, WhatChangesNothingLeavesTheTimes) {
    Cluster cluster;
    cluster.update("a", R"({"spec": {"replicas": 3}})");
    const json::value before = cluster.live;

    cluster.update("a", R"({"spec": {"replicas": 3}})");
    cluster.update("b", R"({"spec": {"replicas": 3}, "status": {}})");

    EXPECT_EQ(json::serialize(cluster.live.at("metadata").at("managedFields")),
              json::serialize(before.at("metadata").at("managedFields")));
}

TEST(NoteUpdate, EachSubresourceHasAnEntry) {
    Cluster cluster;
    cluster.update("kubelet", R"({"spec": {"replicas": 3}})");

    cluster.update("kubelet", R"({"spec": {"replicas": 3}, "status": {"ready": 1}})", "status");

    EXPECT_EQ(cluster.owners(),
              "Update kubelet: .spec .spec.replicas; Update kubelet/status: .status .status.ready");
}

TEST(NoteUpdate, WhoSendsNoManagedFieldsKeepsThemAndWhoEmptiesThemEmptiesThem) {
    for (const std::string_view sent : {"[]", "[{}]"}) {
        Cluster cluster;
        cluster.update("a", R"({"spec": {"replicas": 3}})");
        cluster.update("a", R"({"spec": {"replicas": 3}})");
        ASSERT_EQ(cluster.owners(), "Update a: .spec .spec.replicas");

        cluster.update("a", R"({"metadata": {"managedFields": )" + std::string(sent) +
                                R"(}, "spec": {"replicas": 4}})");

        EXPECT_EQ(cluster.owners(), "");
    }
}

TEST(NoteUpdate, KeepsNoMoreThanTenUpdates) {
    json::value live;
    for (int i = 0; i < 15; ++i) {
        json::value after = live.is_null() ? from_text(R"({"metadata": {"uid": "u"}})") : live;
        const std::string name = "m" + std::to_string(10 + i);
        after.get_object()["metadata"].get_object()["labels"].emplace_object();
        for (int k = 0; k <= i; ++k) {
            after.get_object()["metadata"].get_object()["labels"].get_object()[std::to_string(k)] =
                "x";
        }
        note_update(live, after, small_schema(),
                    {.name = name, .api_version = "v1", .subresource = "", .time = name});
        live = std::move(after);
    }

    const json::array& entries = live.at("metadata").at("managedFields").get_array();

    ASSERT_EQ(entries.size(), 10U);
    EXPECT_EQ(entries[0].at("manager"), "ancient-changes");
    EXPECT_EQ(FieldSet::parse(entries[0].at("fieldsV1"))->paths().size(), 7U);
}

TEST(FieldWalk, TellsWhatBecameAnotherKindOfValue) {
    const FieldType type = FieldType::of_object(small_schema());
    const json::value scalar = from_text(R"({"spec": {"free": {"a": 1}}})");
    const json::value map = from_text(R"({"spec": {"free": {"a": {"b": 1}}}})");

    const FieldChanges changes = compare_fields(scalar, map, type);
    const FieldChanges back = compare_fields(map, scalar, type);

    EXPECT_EQ(changes.modified.paths(), std::vector<std::string>{".spec.free.a"});
    EXPECT_EQ(changes.added.paths(), std::vector<std::string>{".spec.free.a.b"});
    EXPECT_EQ(back.modified.paths(), std::vector<std::string>{".spec.free.a"});
    EXPECT_EQ(back.removed.paths(), std::vector<std::string>{".spec.free.a.b"});
}

/// Any configuration of the small kind.
std::string any_configuration(std::mt19937_64& random) {
    json::object spec;
    const auto dice = [&random](std::uint64_t below) { return random() % below; };
    const auto digit = [&dice](std::uint64_t below) { return std::to_string(dice(below)); };
    if (dice(2) == 0) { spec["replicas"] = dice(3); }
    if (dice(2) == 0) { spec["command"] = json::array{digit(2)}; }
    if (dice(2) == 0) { spec["selector"] = json::object{{digit(2), "x"}}; }
    for (const std::string_view list : {"zones", "containers"}) {
        json::array items;
        const std::uint64_t first = dice(5);
        const std::uint64_t stride = dice(4) + 1;
        for (std::uint64_t i = dice(5); i > 0; --i) {
            const std::string name = std::to_string((first + i * stride) % 5);
            if (list == "zones") {
                items.emplace_back(name);
                continue;
            }
            json::object item{{"name", name}};
            if (dice(2) == 0) { item["image"] = digit(2); }
            if (dice(3) == 0) { item["ports"] = json::array{json::object{{"port", dice(3)}}}; }
            items.emplace_back(std::move(item));
        }
        if (!items.empty()) { spec[list] = std::move(items); }
    }
    json::object labels;
    for (std::uint64_t i = dice(3); i > 0; --i) { labels[digit(3)] = digit(2); }
    json::object out{{"spec", std::move(spec)}};
    if (!labels.empty()) { out["metadata"] = json::object{{"labels", std::move(labels)}}; }
    return json::serialize(out);
}

RC_GTEST_PROP(Apply, TheSameAgainChangesNothing, (std::uint64_t seed)) {
    std::mt19937_64 random(seed);
    Cluster cluster;
    for (const std::string_view who : {"a", "b", "a", "c"}) {
        RC_ASSERT(cluster.apply(who, any_configuration(random), true).empty());
    }
    const std::string last = any_configuration(random);
    RC_ASSERT(cluster.apply("a", last, true).empty());
    const json::value before = cluster.live;

    RC_ASSERT(cluster.apply("a", last).empty());

    RC_ASSERT(json::serialize(cluster.live) == json::serialize(before));
}

RC_GTEST_PROP(Apply, WhatIsAppliedIsInTheResult, (std::uint64_t seed)) {
    std::mt19937_64 random(seed);
    Cluster cluster;
    for (const std::string_view who : {"b", "a", "c"}) {
        RC_ASSERT(cluster.apply(who, any_configuration(random), true).empty());
    }
    const std::string text = any_configuration(random);
    RC_ASSERT(cluster.apply("a", text, true).empty());

    const FieldType type = FieldType::of_object(small_schema());
    const json::value applied = from_text(text);
    const FieldChanges changes = compare_fields(applied, cluster.live, type);

    RC_ASSERT(changes.modified.is_empty());
    RC_ASSERT(changes.removed.is_empty());
}

RC_GTEST_PROP(Apply, OneManagerAloneHasExactlyWhatItApplied, (std::uint64_t seed)) {
    std::mt19937_64 random(seed);
    Cluster cluster;
    RC_ASSERT(cluster.apply("a", any_configuration(random)).empty());
    RC_ASSERT(cluster.apply("a", any_configuration(random)).empty());
    const std::string text = any_configuration(random);
    RC_ASSERT(cluster.apply("a", text).empty());

    Cluster fresh;
    RC_ASSERT(fresh.apply("a", text).empty());

    const FieldType type = FieldType::of_object(small_schema());
    RC_ASSERT(fields_of(cluster.live, type) == fields_of(fresh.live, type));
    RC_ASSERT(cluster.owners() == fresh.owners());
}

RC_GTEST_PROP(Apply, OwnersOwnOnlyWhatIsThere, (std::uint64_t seed)) {
    std::mt19937_64 random(seed);
    Cluster cluster;
    for (const std::string_view who : {"a", "b", "a", "b", "c"}) {
        const std::string configuration = any_configuration(random);
        if (who == "c") {
            cluster.update(who, configuration);
        } else {
            RC_ASSERT(cluster.apply(who, configuration, true).empty());
        }
        const FieldType type = FieldType::of_object(small_schema());
        const FieldSet there = compare_fields(json::object(), cluster.live, type).added;
        const json::value* list =
            cluster.live.at("metadata").get_object().if_contains("managedFields");
        if (list == nullptr) { continue; }
        for (const json::value& entry : list->get_array()) {
            const FieldSet fields = *FieldSet::parse(entry.at("fieldsV1"));
            RC_ASSERT(!fields.is_empty());
            RC_ASSERT(fields.subtract(there).is_empty());
        }
    }
}

}  // namespace
}  // namespace muster::lab
