#include "codec/fields_test.h"

namespace muster {
namespace {

TEST(Fields, AreAllThatTheModelHas) {
    check_fields<Fact>();
    check_fields<Plan>();
    check_fields<Snapshot>();
    check_fields<Policy>();
    check_fields<Ordered>();
    check_fields<Conflict>();
}

TEST(Fields, AreReadableAsJson) {
    JsonWriter out;
    write_json(out, Fact(TaskBound{.workload = "w",
                                   .task = 3,
                                   .node = "n",
                                   .has_devices = true,
                                   .devices = {.gpus = 5, .mig = {{1, 4}}}}));

    EXPECT_EQ(out.text(),
              R"({"kind":"task_bound","workload":"w","task":3,"node":"n","has_devices":true,)"
              R"("devices":{"gpus":[0,2],"mig":[{"gpu":1,"start":4}],"numa":-1}})");
}

}  // namespace
}  // namespace muster
