#include "codec/field.h"

#include <gtest/gtest.h>

#include <functional>

namespace muster {
namespace {

Documents read(std::string name, std::string text) {
    const std::vector<SourceText> sources = {{std::move(name), std::move(text)}};
    auto documents = read_documents(sources);
    EXPECT_TRUE(documents) << (documents ? "" : documents.error().message);
    return std::move(documents).value();
}

constexpr const char* job = R"(kind: Job
spec:
  replicas: six
  minus: -1
  huge: 99999999999999999999999
  half: 0.5
  octal: 0644
  on: on
  quoted: "on"
  cpu: 1.5
  memory: 16Gi
  bad: lots
  labels: {nvidia.com/gpu.product: 5}
  tasks:
  - name: a
  - replicas: [1]
)";

TEST(Field, SaysWhereAndWhatWasFoundAndExpected) {
    struct Case {
        std::function<void(const Field&)> read;
        const char* error;
    };
    const Case cases[] = {
        {[](const Field& f) { (void)f["replicas"].integer(0, INT64_MAX); },
         "job.yaml:3: spec.replicas: found \"six\", expected a whole number ≥ 0"},
        {[](const Field& f) { (void)f["minus"].integer(0, 10); },
         "job.yaml:4: spec.minus: found -1, expected a whole number from 0 to 10"},
        {[](const Field& f) { (void)f["huge"].integer(0, 10); },
         "job.yaml:5: spec.huge: found 1e+23, expected a whole number ≥ 0"},
        {[](const Field& f) { (void)f["half"].integer(0, 10); },
         "job.yaml:6: spec.half: found 0.5, expected a whole number ≥ 0"},
        {[](const Field& f) { (void)f["on"].text(); },
         "job.yaml:8: spec.on: found true, expected text (put it in quotes)"},
        {[](const Field& f) { (void)f["quoted"].boolean(); },
         "job.yaml:9: spec.quoted: found \"on\", expected true or false"},
        {[](const Field& f) { (void)f["bad"].quantity(100); },
         "job.yaml:12: spec.bad: found \"lots\", expected a quantity ≥ 0 such as 2, 500m or 16Gi"},
        {[](const Field& f) { (void)f["minus"].quantity(100); },
         "job.yaml:4: spec.minus: found -1, expected a quantity ≥ 0 such as 2, 500m or 16Gi"},
        {[](const Field& f) { (void)f["memory"].quantity(100); },
         "job.yaml:11: spec.memory: found \"16Gi\", expected at most 100"},
        {[](const Field& f) { (void)f["labels"]["nvidia.com/gpu.product"].text(); },
         "job.yaml:13: spec.labels[\"nvidia.com/gpu.product\"]: found 5, expected text (put it in "
         "quotes)"},
        {[](const Field& f) { (void)f["tasks"].items()[1]["replicas"].integer(0, 5); },
         "job.yaml:16: spec.tasks[1].replicas: found a list, expected a whole number ≥ 0"},
        {[](const Field& f) { (void)f["tasks"]["name"]; },
         "job.yaml:15: spec.tasks: found a list, expected a mapping"},
        {[](const Field& f) { (void)f["template"]["metadata"]["name"].name(); },
         "job.yaml:3: spec.template.metadata.name: found nothing, expected a name of at most 253 "
         "printable characters"},
    };
    const Documents documents = read("job.yaml", job);

    for (const Case& item : cases) {
        Faults faults;
        item.read(Field(documents.all()[0], faults)["spec"]);

        ASSERT_EQ(faults.all().size(), 1U) << item.error;
        EXPECT_EQ(faults.error().message, item.error);
    }
}

TEST(Field, ReadsScalarsAsKubectlDoes) {
    const Documents documents = read("job.yaml", job);
    Faults faults;
    const Field spec = Field(documents.all()[0], faults)["spec"];

    EXPECT_EQ(spec["octal"].integer(0, 1000), 0644);
    EXPECT_TRUE(spec["on"].boolean());
    EXPECT_EQ(spec["quoted"].text(), "on");
    EXPECT_EQ(spec["cpu"].quantity_milli(1'000'000), 1500);
    EXPECT_EQ(spec["memory"].quantity(INT64_MAX), std::int64_t{16} << 30);
    EXPECT_EQ(spec["absent"].integer(1, 5, 3), 3);
    EXPECT_EQ(spec["absent"]["deeper"].text("x"), "x");
    EXPECT_TRUE(faults.is_empty());
}

TEST(Field, ItemsOfAJsonListKnowTheirPath) {
    const Documents documents =
        read("nodes.json",
             R"({"kind":"List","items":[{"kind":"Node"},{"kind":"Node","spec":{"x":"1"}}]})");
    Faults faults;

    (void)Field(documents.all()[1], faults)["spec"]["x"].integer(0, 1);

    EXPECT_EQ(faults.error().message,
              "nodes.json: items[1].spec.x: found \"1\", expected a whole number ≥ 0");
}

}  // namespace
}  // namespace muster
