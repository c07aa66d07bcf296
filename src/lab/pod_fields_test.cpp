// docs/reference/kubernetes.md says of each field of a pod what becomes of it. None that the server
// has is missing there, and none is unknown to the reader.
#include "dialect/kubernetes.h"
#include "lab/schemas.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace muster::lab {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

/// The names between backquotes in the table of fields: "spec.volumes", ".hostIP".
std::set<std::string> told() {
    std::ifstream file(MUSTER_EXAMPLES "/../docs/reference/kubernetes.md");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = text.find("## Fields of a pod");
    EXPECT_NE(begin, std::string::npos);
    text = text.substr(begin, text.find("## Storage") - begin);
    std::set<std::string> out;
    std::stringstream words(text);
    std::string word;
    for (bool is_name = false; std::getline(words, word, '`'); is_name = !is_name) {
        if (is_name) { out.insert(word); }
    }
    return out;
}

Schema pod_spec() {
    const auto pod = built_in_schemas().find("", "v1", "Pod");
    return *pod->property("spec");
}

std::vector<std::string> fields_of(const Schema& schema) {
    std::vector<std::string> out;
    for (const auto& [name, value] : schema.raw().at("properties").as_object()) {
        out.emplace_back(name);
    }
    return out;
}

TEST(PodFields, AreAllInTheTable) {
    const std::set<std::string> names = told();
    const Schema spec = pod_spec();

    for (const std::string& field : fields_of(spec)) {
        EXPECT_TRUE(names.contains("spec." + field)) << field;
    }
    const auto check_part = [&](const Schema& part, const std::string& path) {
        for (const std::string& field : fields_of(part)) {
            EXPECT_TRUE(names.contains("." + field) || names.contains(path + field))
                << path << field;
        }
    };
    check_part(*spec.property("topologySpreadConstraints")->items(),
               "spec.topologySpreadConstraints[].");
    check_part(*spec.property("tolerations")->items(), "spec.tolerations[].");
    const auto affinity = spec.property("affinity");
    const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
    check_part(*affinity->property("podAffinity")->property(required)->items(),
               "spec.affinity.podAffinity…[].");
    check_part(*affinity->property("nodeAffinity")
                    ->property(required)
                    ->property("nodeSelectorTerms")
                    ->items(),
               "spec.affinity.nodeAffinity…[].");
    check_part(*spec.property("containers")->items()->property("resources"),
               "spec.containers[].resources.");
}

TEST(PodFields, AreAllKnownToTheReader) {
    for (const std::string& field : fields_of(pod_spec())) {
        json::object spec{{"containers", json::array{json::object{{"name", "c"}}}}};
        spec.emplace(field, "x");
        const json::object pod{{"apiVersion", "v1"},
                               {"kind", "Pod"},
                               {"metadata", {{"name", "p"}}},
                               {"spec", std::move(spec)}};
        const std::vector<SourceText> sources{{"pod.json", json::serialize(pod)}};

        const auto read = dialect::read_jobs(sources);

        if (!read) { EXPECT_THAT(read.error().message, Not(HasSubstr("unknown field"))) << field; }
    }
}

}  // namespace
}  // namespace muster::lab
