#include "etcd/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::etcd {
namespace {

TEST(EtcdAddress, SaysWhereAndHow) {
    const Address one = *read_address("etcd://a:2379,[::1]:2,10.0.0.1:3/muster/ledger");

    EXPECT_EQ(one.endpoints, (std::vector<Endpoint>{{"a", 2379}, {"::1", 2}, {"10.0.0.1", 3}}));
    EXPECT_EQ(one.prefix, "/muster/ledger");
    EXPECT_TRUE(one.is_tls);
    EXPECT_EQ(text_of(one), "etcd://a:2379,[::1]:2,10.0.0.1:3/muster/ledger");
    EXPECT_FALSE(read_address("etcd+http://a:1/x")->is_tls);
    EXPECT_EQ(*read_address(text_of(one)), one);
}

TEST(EtcdAddress, IsRefusedWithWhatIsWrong) {
    for (const char* bad :
         {"etcd://", "etcd://a:1", "etcd://a:1/", "etcd://a/x", "etcd://a:0/x", "etcd://:1/x",
          "etcd://a:1,/x", "etcd://a:1//x", "etcd://a:1/x/", "etcd://a:1/x y", "etcd://::1:2/x",
          "etcd://me@a:1/x", "http://a:1/x", "file"}) {
        const auto read = read_address(bad);
        ASSERT_FALSE(read) << bad;
        EXPECT_THAT(read.error().message, testing::HasSubstr("expected etcd://HOST:PORT")) << bad;
    }
    EXPECT_FALSE(is_address("etcd"));
    EXPECT_FALSE(is_address("/var/lib/etcd://x"));
}

}  // namespace
}  // namespace muster::etcd
