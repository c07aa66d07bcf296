#include "lab/node_faults.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

NodeFaults faults(const char* annotations) {
    return faults_of(
        boost::json::parse(std::string(R"({"metadata":{"annotations":)") + annotations + "}}")
            .as_object());
}

TEST(NodeFaults, AreReadFromAnnotations) {
    const NodeFaults all = faults(R"({"lab.muster/failed":"power","lab.muster/flap":"10s",
        "lab.muster/slow":"3","lab.muster/spot":"2m","lab.muster/gpu-3":"79",
        "lab.muster/gpu-0":"63"})");

    EXPECT_EQ(all, (NodeFaults{.is_failed = true,
                               .flap = 10'000,
                               .slow = 3,
                               .notice = 120'000,
                               .gpus = {{0, 63}, {3, 79}}}));
}

TEST(NodeFaults, WhatCanNotBeReadIsNone) {
    EXPECT_EQ(faults(R"({"lab.muster/failed":"","lab.muster/flap":"often","lab.muster/slow":"-4",
        "lab.muster/spot":"","lab.muster/gpu-x":"79","lab.muster/gpu-64":"79",
        "lab.muster/gpu-1":"fire","lab.muster/gpu-2":79})"),
              NodeFaults{});
    EXPECT_EQ(faults_of({}), NodeFaults{});
}

TEST(NodeFaults, AnXidIsOfTheApplicationOrOfTheGpu) {
    EXPECT_EQ(effect_of_xid(31), XidEffect::warns);
    EXPECT_EQ(effect_of_xid(63), XidEffect::degrades);
    EXPECT_EQ(effect_of_xid(79), XidEffect::kills);
    EXPECT_EQ(effect_of_xid(777), XidEffect::degrades);  // unknown ones are bad too
    EXPECT_EQ(meaning_of_xid(79), "the GPU fell off the bus");
    EXPECT_EQ(meaning_of_xid(777), "");
}

}  // namespace
}  // namespace muster::lab
