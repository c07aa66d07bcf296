// A thousand watches, each by a socket of its own, while ten thousand pods are made: fifteen
// gigabytes.
#include "lab/watch_reader_test.h"

#include <gtest/gtest.h>

namespace muster::lab {
namespace {

TEST_F(SocketWatches, AThousandWatchesOverSocketsAreToldOfTenThousandPods) { watch(1'000, 10'000); }

}  // namespace
}  // namespace muster::lab
