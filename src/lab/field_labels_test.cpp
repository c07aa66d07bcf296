#include "lab/field_labels.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;

std::string refusal(std::string_view group, std::string_view plural, std::string_view fields) {
    ResourceType type;
    type.group = group;
    type.plural = plural;
    type.kind = "Thing";
    type.is_custom = group == "example.com";
    const auto done = check_field_labels(type, parse_field_selector(fields).value());
    return done ? "" : done.error().message;
}

TEST(FieldLabels, AreThoseOfTheKind) {
    EXPECT_EQ(refusal("", "pods", "spec.nodeName=a,status.phase!=Running"), "");
    EXPECT_EQ(refusal("", "pods", "spec.containers=a"),
              "field label not supported: spec.containers");
    EXPECT_EQ(refusal("", "configmaps", "metadata.name=a"), "");
    EXPECT_EQ(refusal("", "configmaps", "data.a=b"),
              "\"data.a\" is not a known field selector: only \"metadata.name\", "
              "\"metadata.namespace\"");
    EXPECT_EQ(refusal("batch", "jobs", "spec.suspend=true"),
              "field label \"spec.suspend\" not supported for Thing");
    EXPECT_EQ(refusal("example.com", "things", "spec.size=1"),
              "field label not supported: spec.size");
}

TEST(FieldLabels, HaveValuesOfObjects) {
    const json::object object =
        json::parse(R"({"spec":{"hostNetwork":true},"status":{"succeeded":2},
        "reportingComponent":"c"})")
            .get_object();

    EXPECT_EQ(field_label_value(object, "spec.hostNetwork"), "true");
    EXPECT_EQ(field_label_value(object, "spec.unschedulable"), "false");
    EXPECT_EQ(field_label_value(object, "status.successful"), "2");
    EXPECT_EQ(field_label_value(object, "source"), "c");
    EXPECT_EQ(field_label_value(object, "spec.nodeName"), "");
}

}  // namespace
}  // namespace muster::lab
