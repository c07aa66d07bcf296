#include "kube/task_table.h"

#include <gtest/gtest.h>

namespace muster::kube {
namespace {

TaskPod pod(const std::string& name, const std::string& node) {
    return {.name = {"team", name}, .uid = name, .node = node, .group = "team/g"};
}

TaskStatus ordered(const std::string& node) {
    TaskStatus out;
    out.state = TaskState::placed;
    out.node = node;
    return out;
}

WorkloadSpec gang(std::int32_t size) {
    WorkloadSpec out;
    out.name = "team/g";
    out.groups.emplace_back();
    out.groups.back().count = size;
    out.groups.back().minimum = size;
    return out;
}

// After a crash the numbers are new. A pod that waits may be any task that was only ordered; were
// it one that was ordered to the node on which another pod runs, the node would be asked twice.
TEST(TaskTable, WhatRunsTakesTheNumbersOfItsNodeBeforeWhatWaits) {
    const WorkloadSpec workload = gang(4);
    const TaskPods read{
        {0, pod("a", "n2")}, {1, pod("b", "")}, {2, pod("c", "n2")}, {3, pod("d", "")}};
    const std::vector<TaskStatus> known{ordered("n1"), ordered("n2"), ordered("n2"), ordered("n3")};

    const TaskPods settled = settle(read, workload, {}, workload, known);

    ASSERT_EQ(settled.size(), 4U);
    EXPECT_EQ(settled.at(1).name.second, "a");
    EXPECT_EQ(settled.at(2).name.second, "c");
    EXPECT_EQ(settled.at(3).name.second, "d");  // its own
    EXPECT_EQ(settled.at(0).name.second, "b");
}

}  // namespace
}  // namespace muster::kube
