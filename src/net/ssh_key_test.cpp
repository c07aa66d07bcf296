#include "net/ssh_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::net {
namespace {

using testing::EndsWith;
using testing::StartsWith;

TEST(SshKey, IsAPairAsOpenSshReadsIt) {
    const auto key = make_ssh_key();
    ASSERT_TRUE(key.has_value()) << key.error().message;

    EXPECT_THAT(key->private_key, StartsWith("-----BEGIN RSA PRIVATE KEY-----\n"));
    EXPECT_THAT(key->private_key, EndsWith("-----END RSA PRIVATE KEY-----\n"));
    // The name, the exponent 65537 and 257 bytes of modulus begin alike in base64.
    EXPECT_THAT(key->public_key, StartsWith("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ"));
    EXPECT_EQ(key->public_key.size(), 8U + 372U + 1U);
}

TEST(SshKey, IsAnotherOneEachTime) {
    const auto one = make_ssh_key();
    const auto other = make_ssh_key();
    ASSERT_TRUE(one.has_value() && other.has_value());

    EXPECT_NE(one->public_key, other->public_key);
}

}  // namespace
}  // namespace muster::net
