#include "lab/discovery.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace muster::lab {
namespace {

namespace json = boost::json;

const json::object* named(const json::value& list, std::string_view key, std::string_view name) {
    for (const json::value& one : list.as_array()) {
        if (one.at(key).as_string() == name) { return &one.as_object(); }
    }
    return nullptr;
}

/// The group that kubectl takes for a word: the first that has it as a plural, singular or short
/// name; the core group goes first.
std::string group_of(std::string_view word) {
    for (const ResourceType& type : built_in_resources()) {
        if (type.plural == word || type.singular == word ||
            std::ranges::find(type.short_names, word) != type.short_names.end()) {
            return type.group;
        }
    }
    return "nobody";
}

TEST(Resources, GiveShortWordsToWhomUsersMean) {
    struct Case {
        std::string_view word;
        std::string_view group;
    };
    constexpr Case cases[] = {
        {"podgroup", "scheduling.volcano.sh"},
        {"podgroups", "scheduling.volcano.sh"},
        {"pg", "scheduling.volcano.sh"},
        {"queue", "scheduling.volcano.sh"},
        {"q", "scheduling.volcano.sh"},
        {"job", "batch"},
        {"jobs", "batch"},
        {"vcjob", "batch.volcano.sh"},
        {"vj", "batch.volcano.sh"},
        {"events", ""},
        {"ev", ""},
        {"hn", "topology.volcano.sh"},
        {"workloads", "scheduling.k8s.io"},
        {"pc", "scheduling.k8s.io"},
        {"crd", "apiextensions.k8s.io"},
        {"daemonsets", "nobody"},
    };
    for (const Case& one : cases) { EXPECT_EQ(group_of(one.word), one.group) << one.word; }
}

TEST(Resources, AreEachThereOnce) {
    std::set<std::string> seen;
    for (const ResourceType& type : built_in_resources()) {
        EXPECT_TRUE(seen.insert(type.api_version() + "/" + type.plural).second) << type.plural;
    }
    EXPECT_EQ(built_in_resources().front().api_version(), "v1");
}

TEST(Resources, KnowTheirSubresources) {
    for (const ResourceType& type : built_in_resources()) {
        if (type.kind == "Pod") {
            EXPECT_TRUE(type.has("eviction"));
            EXPECT_FALSE(type.has("scale"));
        }
        if (type.kind == "PodGroup") {
            EXPECT_TRUE(type.has("status")) << type.group;
            EXPECT_FALSE(type.has("scale")) << type.group;
        }
    }
}

TEST(Discovery, ListsTheCoreGroup) {
    const json::object list = api_resources(built_in_resources(), "", "v1");

    EXPECT_EQ(list.at("kind"), "APIResourceList");
    EXPECT_EQ(list.at("groupVersion"), "v1");
    const json::object* pods = named(list.at("resources"), "name", "pods");
    ASSERT_NE(pods, nullptr);
    EXPECT_EQ(json::value(*pods), json::parse(R"({"name":"pods","singularName":"pod",
        "namespaced":true,"kind":"Pod","verbs":["create","delete","deletecollection","get","list",
        "patch","update","watch"],"shortNames":["po"],"categories":["all"]})"));
    const json::object* eviction = named(list.at("resources"), "name", "pods/eviction");
    ASSERT_NE(eviction, nullptr);
    EXPECT_EQ(json::value(*eviction), json::parse(R"({"name":"pods/eviction","singularName":"",
        "namespaced":true,"group":"policy","version":"v1","kind":"Eviction",
        "verbs":["create"]})"));
    EXPECT_EQ(named(list.at("resources"), "name", "deployments"), nullptr);
}

TEST(Discovery, ListsScaleInItsOwnGroup) {
    const json::object list = api_resources(built_in_resources(), "apps", "v1");

    EXPECT_EQ(list.at("apiVersion"), "v1");
    const json::object* scale = named(list.at("resources"), "name", "deployments/scale");
    ASSERT_NE(scale, nullptr);
    EXPECT_EQ(scale->at("group"), "autoscaling");
    EXPECT_EQ(scale->at("kind"), "Scale");
    const json::object* status = named(list.at("resources"), "name", "deployments/status");
    ASSERT_NE(status, nullptr);
    EXPECT_FALSE(status->contains("group"));
    EXPECT_EQ(status->at("kind"), "Deployment");
}

TEST(Discovery, OffersQuestionsForCreationOnly) {
    const json::object list = api_resources(built_in_resources(), "authorization.k8s.io", "v1");

    EXPECT_EQ(list.at("resources").at(0).at("verbs"), json::parse(R"(["create"])"));
}

TEST(Discovery, PrefersTheFirstVersion) {
    const json::object groups = api_groups(built_in_resources());

    EXPECT_EQ(groups.at("kind"), "APIGroupList");
    EXPECT_EQ(named(groups.at("groups"), "name", ""), nullptr);
    const json::object* group = named(groups.at("groups"), "name", "scheduling.k8s.io");
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->at("versions"), json::parse(R"([
        {"groupVersion":"scheduling.k8s.io/v1","version":"v1"},
        {"groupVersion":"scheduling.k8s.io/v1beta1","version":"v1beta1"},
        {"groupVersion":"scheduling.k8s.io/v1alpha3","version":"v1alpha3"}])"));
    EXPECT_EQ(group->at("preferredVersion").at("version"), "v1");
    EXPECT_EQ(api_group(built_in_resources(), "apps").at("kind"), "APIGroup");
}

TEST(Discovery, IsEmptyForWhatIsNotServed) {
    EXPECT_TRUE(api_group(built_in_resources(), "example.com").empty());
    EXPECT_TRUE(api_group(built_in_resources(), "").empty());
    EXPECT_TRUE(api_resources(built_in_resources(), "apps", "v2").empty());
}

TEST(Discovery, AggregatesGroupsOfOneRoot) {
    const json::object core = aggregated(built_in_resources(), true);
    const json::object others = aggregated(built_in_resources(), false);

    EXPECT_EQ(core.at("kind"), "APIGroupDiscoveryList");
    EXPECT_EQ(core.at("apiVersion"), "apidiscovery.k8s.io/v2");
    ASSERT_EQ(core.at("items").as_array().size(), 1U);
    const json::value& version = core.at("items").at(0).at("versions").at(0);
    EXPECT_EQ(version.at("version"), "v1");
    const json::object* pods = named(version.at("resources"), "resource", "pods");
    ASSERT_NE(pods, nullptr);
    EXPECT_EQ(pods->at("scope"), "Namespaced");
    EXPECT_EQ(pods->at("singularResource"), "pod");
    EXPECT_EQ(pods->at("responseKind"), json::parse(R"({"group":"","kind":"Pod","version":""})"));
    const json::object* eviction = named(pods->at("subresources"), "subresource", "eviction");
    ASSERT_NE(eviction, nullptr);
    EXPECT_EQ(eviction->at("responseKind").at("group"), "policy");
    EXPECT_EQ(others.at("items").at(0).at("metadata").at("name"), "apps");
}

TEST(Discovery, ShowsCustomResources) {
    std::vector<ResourceType> served(built_in_resources().begin(), built_in_resources().end());
    served.push_back(ResourceType{.group = "stable.example.com",
                                  .version = "v1",
                                  .kind = "CronTab",
                                  .plural = "crontabs",
                                  .singular = "crontab",
                                  .short_names = {"ct"},
                                  .categories = {"all"},
                                  .is_namespaced = false,
                                  .subresources = {},
                                  .is_custom = true,
                                  .is_create_only = false});

    const json::object list = api_resources(served, "stable.example.com", "v1");

    EXPECT_EQ(list.at("resources").at(0).at("name"), "crontabs");
    EXPECT_EQ(list.at("resources").at(0).at("namespaced"), false);
    EXPECT_TRUE(
        openapi_index(served).at("paths").as_object().contains("apis/stable.example.com/v1"));
}

TEST(Discovery, TellsTheVersion) {
    const json::object version = version_info("1.37.2");

    EXPECT_EQ(version.at("major"), "1");
    EXPECT_EQ(version.at("minor"), "37");
    EXPECT_EQ(version.at("gitVersion"), "v1.37.2+muster");
    EXPECT_EQ(api_versions().at("versions"), json::parse(R"(["v1"])"));
}

}  // namespace
}  // namespace muster::lab
