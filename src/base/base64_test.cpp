#include "base/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster {
namespace {

TEST(Base64, IsAsTheStandardSays) {
    const std::pair<const char*, const char*> cases[] = {
        {"", ""},         {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"},  {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
        {"\xff", "/w=="}, {"\xfb\xef", "++8="},
    };
    for (const auto& [bytes, text] : cases) {
        EXPECT_EQ(encode_base64(bytes), text);
        EXPECT_EQ(decode_base64(text), bytes);
    }
}

TEST(Base64, TakesLineBreaksAndNothingElse) {
    EXPECT_EQ(decode_base64("Zm9v\r\nYmFy\n"), "foobar");
    for (const char* wrong :
         {"Zg", "Zg=", "Z===", "Zg==Zg==", "Z g=", "Zg-_", "=", "====", "Zm9vYg"}) {
        EXPECT_EQ(decode_base64(wrong), std::nullopt) << wrong;
    }
}

RC_GTEST_PROP(Base64, ComesBack, (const std::string& bytes)) {
    RC_ASSERT(decode_base64(encode_base64(bytes)) == bytes);
}

}  // namespace
}  // namespace muster
