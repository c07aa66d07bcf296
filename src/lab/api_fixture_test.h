// Tests only: an API over a store in memory, with a clock that stands still until it is moved.
#pragma once

#include "lab/api.h"
#include "lab/collector.h"
#include "lab/schemas.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace muster::lab {

/// A disk that is full now and then, for all resources or for one.
class FullDisk final : public Disk {
public:
    explicit FullDisk(bool& is_full, std::string resource = "")
        : is_full_(is_full),
          resource_(std::move(resource)) {}
    Result<> write(const std::string& resource, const Key& /*key*/, std::uint64_t /*version*/,
                   const std::string* /*text*/) override {
        const bool is_meant = resource_.empty() || resource_ == resource;
        if (is_full_ && is_meant) { return fail(Code::unavailable, "the disk is full"); }
        return {};
    }
    Result<> begin() override { return {}; }
    Result<> end(bool /*is_good*/) override { return {}; }
    Result<std::uint64_t> read(const Visit& /*visit*/) override { return 0; }

private:
    bool& is_full_;
    std::string resource_;
};

class ApiTest : public testing::Test {
protected:
    using Headers = std::vector<net::HttpHeader>;

    ApiTest() { open(nullptr); }

    void open(std::unique_ptr<Disk> disk) {
        collector.reset();
        api.reset();
        auto store = ObjectStore::open(std::move(disk));
        ASSERT_TRUE(store.has_value()) << store.error().message;
        auto opened =
            Api::open(std::move(*store), built_in_schemas(),
                      {.kubernetes = "1.37.2",
                       .token = "secret",
                       .now = [this] { return now; },
                       .dice = [this] { return dice = dice * 1'664'525U + 1'013'904'223U; },
                       .after =
                           [this](std::int64_t wait, std::function<void()> work) {
                               timers.emplace(now + wait, std::move(work));
                           }});
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        api = std::move(*opened);
        collector = std::make_unique<Collector>(*api);
    }

    net::HttpResponse ask(std::string method, std::string target, std::string body = "",
                          Headers headers = {}) {
        headers.push_back({"Authorization", "Bearer secret"});
        headers.push_back({"Content-Type", "application/json"});
        return api->handle({.method = std::move(method),
                            .target = std::move(target),
                            .headers = std::move(headers),
                            .body = std::move(body),
                            .client_name = {}});
    }

    static boost::json::value parsed(const net::HttpResponse& response) {
        boost::system::error_code wrong;
        boost::json::value value = boost::json::parse(response.body, wrong);
        EXPECT_FALSE(wrong) << response.body;
        return value;
    }

    /// The text or number at a JSON pointer; empty when there is none.
    static std::string at_path(const net::HttpResponse& response, std::string_view pointer) {
        const boost::json::value value = parsed(response);
        boost::system::error_code missing;
        const boost::json::value* found = value.find_pointer(pointer, missing);
        if (found == nullptr) { return ""; }
        return found->is_string() ? std::string(found->get_string())
                                  : boost::json::serialize(*found);
    }

    static std::string pod(const std::string& name, const std::string& more = "") {
        return fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"{}}},"spec":)"
            R"({{"containers":[{{"name":"c","image":"busybox"}}]}}}})",
            name, more);
    }

    net::HttpResponse make_pod(const std::string& name, const std::string& more = "") {
        return ask("POST", pods, pod(name, more));
    }

    /// All that a watch has to say right now.
    static std::vector<std::pair<std::string, std::string>> drawn(net::HttpBody& body) {
        std::vector<std::pair<std::string, std::string>> out;
        for (auto piece = body.next(); piece && !piece->empty(); piece = body.next()) {
            for (std::size_t at = 0; at < piece->size();) {
                const std::size_t end = piece->find('\n', at);
                const boost::json::value event = boost::json::parse(piece->substr(at, end - at));
                const boost::json::object& object = event.at("object").as_object();
                const boost::json::value* name =
                    object.contains("metadata") &&
                            object.at("metadata").as_object().contains("name")
                        ? &object.at("metadata").at("name")
                        : nullptr;
                out.emplace_back(event.at("type").as_string(),
                                 name == nullptr ? std::string() : std::string(name->as_string()));
                at = end + 1;
            }
        }
        return out;
    }

    void pass(std::int64_t milliseconds) {
        now += milliseconds;
        while (!timers.empty() && timers.begin()->first <= now) {
            const auto work = std::move(timers.begin()->second);
            timers.erase(timers.begin());
            work();
        }
    }

    const std::string pods = "/api/v1/namespaces/default/pods";
    std::int64_t now = 1'790'000'000'000;
    std::uint32_t dice = 1;
    std::multimap<std::int64_t, std::function<void()>> timers;
    std::unique_ptr<Api> api;
    std::unique_ptr<Collector> collector;
};

}  // namespace muster::lab
