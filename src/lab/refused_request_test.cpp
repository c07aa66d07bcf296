#include "lab/refused_request.h"

#include "lab/api_fixture_test.h"
#include "net/http_client.h"
#include "net/http_server.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::lab {

namespace json = boost::json;

TEST(RefusedRequest, IsAStatusAsAnyOtherError) {
    struct Case {
        int status;
        std::string_view reason;
        std::string_view message;
    };
    const std::vector<Case> cases = {
        {400, "BadRequest", "the request is no HTTP/1.1"},
        {408, "Timeout", "the request did not come to its end in time"},
        {413, "RequestEntityTooLarge", "Request entity too large: limit is 100"},
        {417, "BadRequest", "Expectation Failed"},
        {431, "BadRequest", "the header of the request is too long"},
        {501, "", "Not Implemented"},
        {505, "", "HTTP Version Not Supported"},
    };
    for (const Case& one : cases) {
        const net::HttpResponse response = refused_request(one.status, 100);
        ASSERT_EQ(response.headers.size(), 1U);
        EXPECT_EQ(response.headers[0].value, "application/json");
        const json::object status = json::parse(response.body).as_object();
        EXPECT_EQ(response.status, one.status);
        EXPECT_EQ(status.at("kind").as_string(), "Status");
        EXPECT_EQ(status.at("apiVersion").as_string(), "v1");
        EXPECT_EQ(status.at("status").as_string(), "Failure");
        EXPECT_EQ(status.at("code").as_int64(), one.status);
        EXPECT_EQ(status.at("message").as_string(), one.message);
        EXPECT_EQ(status.contains("reason") ? status.at("reason").as_string() : "", one.reason);
    }
}

}  // namespace muster::lab
