// Tests only: as much of etcd as a ledger asks, in memory, with a clock of events and faults. What
// a question does may happen before, after or long after its answer, or twice.
#pragma once

#include "base/base64.h"
#include "etcd/gateway.h"
#include "etcd/key_value.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::etcd {

namespace json = boost::json;

class FakeEtcd {
public:
    struct Held {
        std::string value;
        std::int64_t created = 0;
        std::int64_t changed = 0;
    };

    GatewayAnswer handle(std::string_view path, const std::string& body) {
        ++questions[std::string(path)];
        if (body.size() > request_bytes_max * 4 / 3) {
            return refuse(3, "etcdserver: request is too large");
        }
        const json::object object = json::parse(body).as_object();
        if (path == range_path) { return answer(range(object)); }
        if (path == transaction_path) { return transact(object); }
        return refuse(12, "Not Found");
    }

    /// What was sent and has not come yet comes now.
    void settle(std::size_t count) {
        for (; count > 0 && !late.empty(); --count) {
            const auto [path, body] = std::move(late.front());
            late.pop_front();
            (void)handle(path, body);
        }
    }

    static GatewayAnswer refuse(int code, const std::string& text) {
        const std::map<int, int> statuses{{3, 400}, {8, 429}, {12, 404}, {14, 503}};
        return {.status = statuses.at(code),
                .body = fmt::format(R"({{"code":{},"message":"{}","details":[]}})", code, text)};
    }

    std::map<std::string, Held> keys;
    std::int64_t revision = 1;
    std::size_t request_bytes_max = 1'572'864;
    bool is_full = false;
    std::deque<std::pair<std::string, std::string>> late;
    std::map<std::string, int> questions;

private:
    static std::string bytes(const json::object& object, const char* key) {
        const json::value* found = object.if_contains(key);
        return found == nullptr ? "" : *decode_base64(std::string_view(found->as_string()));
    }
    static std::int64_t number(const json::object& object, const char* key) {
        const json::value* found = object.if_contains(key);
        return found == nullptr ? 0 : std::stoll(std::string(found->as_string()));
    }
    [[nodiscard]] json::object header() const {
        return {{"cluster_id", "14841639068965178418"}, {"revision", std::to_string(revision)}};
    }
    GatewayAnswer answer(json::object object) const {
        object["header"] = header();
        return {.status = 200, .body = json::serialize(object)};
    }

    [[nodiscard]] json::object range(const json::object& asked) const {
        const std::string from = bytes(asked, "key");
        std::string end = bytes(asked, "range_end");
        if (end.empty()) { end = from + '\0'; }
        std::vector<std::pair<std::string, Held>> found(keys.lower_bound(from),
                                                        keys.lower_bound(end));
        const auto count = found.size();
        if (asked.contains("sort_order")) { std::reverse(found.begin(), found.end()); }
        const auto limit = static_cast<std::size_t>(number(asked, "limit"));
        if (limit > 0 && found.size() > limit) { found.resize(limit); }
        if (asked.contains("count_only")) { found.clear(); }
        json::object out;
        if (count > 0) { out["count"] = std::to_string(count); }  // as etcd leaves 0 out
        if (found.empty()) { return out; }
        if (found.size() < count) { out["more"] = true; }
        json::array list;
        for (const auto& [key, held] : found) {
            json::object one{{"key", encode_base64(key)},
                             {"create_revision", std::to_string(held.created)},
                             {"mod_revision", std::to_string(held.changed)}};
            if (!held.value.empty()) { one["value"] = encode_base64(held.value); }
            list.push_back(std::move(one));
        }
        out["kvs"] = std::move(list);
        return out;
    }

    GatewayAnswer transact(const json::object& asked) {
        const json::object& compare = asked.at("compare").as_array().at(0).as_object();
        const auto at = keys.find(bytes(compare, "key"));
        const bool is_same =
            (at == keys.end() ? 0 : at->second.changed) == number(compare, "mod_revision");
        const json::array& work = asked.at(is_same ? "success" : "failure").as_array();
        for (const json::value& one : asked.at("success").as_array()) {
            if (is_full && one.as_object().contains("request_put")) {
                return refuse(8, "etcdserver: mvcc: database space exceeded");
            }
        }
        json::array responses;
        bool is_change = false;
        for (const json::value& one : work) {
            const json::object& step = one.as_object();
            if (const json::value* put = step.if_contains("request_put")) {
                is_change = true;
                Held& held = keys[bytes(put->as_object(), "key")];
                if (held.created == 0) { held.created = revision + 1; }
                held.value = bytes(put->as_object(), "value");
                held.changed = revision + 1;
                responses.push_back(json::object{{"response_put", json::object{}}});
            } else if (const json::value* drop = step.if_contains("request_delete_range")) {
                const auto from = keys.lower_bound(bytes(drop->as_object(), "key"));
                const auto end = keys.lower_bound(bytes(drop->as_object(), "range_end"));
                is_change = is_change || from != end;
                keys.erase(from, end);
                responses.push_back(json::object{{"response_delete_range", json::object{}}});
            } else {
                responses.push_back(
                    json::object{{"response_range", range(step.at("request_range").as_object())}});
            }
        }
        if (is_change) { ++revision; }
        json::object out{{"responses", std::move(responses)}};
        if (is_same) { out["succeeded"] = true; }
        return answer(std::move(out));
    }
};

/// A way to it. `disturb` may answer in its place; what it leaves alone is carried out.
class FakeGateway final : public Gateway {
public:
    using Disturb = std::function<std::optional<Result<GatewayAnswer>>(
        FakeEtcd&, std::string_view path, const std::string& body)>;

    explicit FakeGateway(FakeEtcd& etcd, Disturb disturb = nullptr)
        : etcd_(etcd),
          disturb_(std::move(disturb)) {}

    Result<GatewayAnswer> ask(std::string_view path, const std::string& body) override {
        if (disturb_) {
            if (auto said = disturb_(etcd_, path, body)) { return std::move(*said); }
        }
        return etcd_.handle(path, body);
    }

private:
    FakeEtcd& etcd_;
    Disturb disturb_;
};

}  // namespace muster::etcd
