#include "etcd/key_value.h"

#include "base/assert.h"
#include "base/base64.h"
#include "base/text.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <optional>
#include <utility>

namespace muster::etcd {

namespace json = boost::json;

namespace {

/// The status of a call that etcd had no room for: of space, of memory, of requests under way.
constexpr int status_exhausted = 429;
constexpr std::size_t told_bytes_max = 200;

std::string member(std::string_view name, std::string_view bytes) {
    return fmt::format("\"{}\":\"{}\"", name, encode_base64(bytes));
}

std::string fields_of(const RangeQuery& query) {
    std::string out = member("key", query.key);
    if (!query.end.empty()) { out += "," + member("range_end", query.end); }
    if (query.limit > 0) { out += fmt::format(",\"limit\":\"{}\"", query.limit); }
    if (query.is_last_first) { out += R"(,"sort_order":"DESCEND","sort_target":"KEY")"; }
    if (query.is_count_only) { out += R"(,"count_only":true)"; }
    return out;
}

tl::unexpected<Error> no_answer(std::string_view what) {
    return fail(Code::unavailable, fmt::format("found {}; expected an answer of etcd", what));
}

/// What etcd says of a call that it did not carry out, or that it may not have carried out.
Error refusal_of(const GatewayAnswer& answer) {
    boost::system::error_code error;
    const json::value parsed = json::parse(answer.body, error);
    std::string_view text;
    if (!error && parsed.is_object()) {
        for (const char* key : {"message", "error"}) {
            const json::value* found = parsed.as_object().if_contains(key);
            if (found != nullptr && found->is_string() && text.empty()) {
                text = found->as_string();
            }
        }
    }
    if (text.find("request is too large") != std::string_view::npos) {
        return {Code::limit,
                "etcd takes no request of this size; start it with "
                "--max-request-bytes 1572864 (its default) or more"};
    }
    if (answer.status == status_exhausted && text.find("space") != std::string_view::npos) {
        return {Code::unavailable,
                "etcd is full (alarm NOSPACE) and takes nothing until it is "
                "compacted, defragmented and the alarm is disarmed"};
    }
    if (text.empty()) { return no_answer(fmt::format("status {}", answer.status)).value(); }
    return {Code::unavailable, fmt::format("etcd says: {} (status {})",
                                           text.substr(0, told_bytes_max), answer.status)};
}

/// A number as a text, as a number, or left out for 0.
std::optional<std::int64_t> number_at(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    if (found == nullptr) { return 0; }
    if (found->is_int64()) { return found->as_int64(); }
    if (!found->is_string()) { return std::nullopt; }
    const auto number = parse_int(std::string_view(found->as_string()));
    return number ? std::optional(*number) : std::nullopt;
}

std::optional<std::string> bytes_at(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    if (found == nullptr) { return std::string(); }
    if (!found->is_string()) { return std::nullopt; }
    return decode_base64(std::string_view(found->as_string()));
}

bool flag_at(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    return found != nullptr && found->is_bool() && found->as_bool();
}

Result<std::vector<KeyValue>> found_in(const json::object& range) {
    std::vector<KeyValue> out;
    const json::value* list = range.if_contains("kvs");
    if (list == nullptr) { return out; }
    if (!list->is_array()) { return no_answer("'kvs' that is no list"); }
    for (const json::value& one : list->as_array()) {
        const json::object* object = one.if_object();
        if (object == nullptr) { return no_answer("an item of 'kvs' that is no object"); }
        auto key = bytes_at(*object, "key");
        auto value = bytes_at(*object, "value");
        const auto revision = number_at(*object, "mod_revision");
        if (!key || !value || !revision) { return no_answer("an item of 'kvs' that is not read"); }
        out.push_back({.key = std::move(*key), .value = std::move(*value), .revision = *revision});
    }
    return out;
}

/// The whole answer, which has a header as all of etcd's have.
Result<json::object> answer_of(const GatewayAnswer& answer) {
    if (answer.status != 200) { return tl::unexpected(refusal_of(answer)); }
    boost::system::error_code error;
    json::value parsed = json::parse(answer.body, error);
    if (error || !parsed.is_object()) { return no_answer("what is no JSON object"); }
    const json::value* header = parsed.as_object().if_contains("header");
    if (header == nullptr || !header->is_object()) { return no_answer("no header"); }
    return std::move(parsed.as_object());
}

}  // namespace

std::string text_of(const RangeQuery& query) { return '{' + fields_of(query) + '}'; }

std::string text_of(const Transaction& transaction) {
    std::string done;
    for (const Transaction::Drop& drop : transaction.drops) {
        done += fmt::format("{}{{\"request_delete_range\":{{{},{}}}}}", done.empty() ? "" : ",",
                            member("key", drop.from), member("range_end", drop.end));
    }
    for (const Transaction::Put& put : transaction.puts) {
        done += fmt::format("{}{{\"request_put\":{{{},{}}}}}", done.empty() ? "" : ",",
                            member("key", put.key), member("value", put.value));
    }
    return fmt::format(
        R"({{"compare":[{{"target":"MOD","result":"EQUAL",{},"mod_revision":"{}"}}],)"
        R"("success":[{}],"failure":[{{"request_range":{{{}}}}}]}})",
        member("key", transaction.guard), transaction.revision, done,
        member("key", transaction.guard));
}

Result<RangeAnswer> read_range(const GatewayAnswer& answer) {
    MUSTER_TRY(object, answer_of(answer));
    RangeAnswer out;
    MUSTER_TRY(found, found_in(object));
    out.found = std::move(found);
    const auto count = number_at(object, "count");
    if (!count) { return no_answer("'count' that is no number"); }
    out.count = *count;
    out.has_more = flag_at(object, "more");
    return out;
}

Result<TransactionAnswer> read_transaction(const GatewayAnswer& answer) {
    MUSTER_TRY(object, answer_of(answer));
    TransactionAnswer out;
    out.is_done = flag_at(object, "succeeded");
    const auto revision = number_at(object.at("header").as_object(), "revision");
    if (!revision || *revision <= 0) { return no_answer("no revision"); }
    out.revision = *revision;
    if (out.is_done) { return out; }
    const json::value* responses = object.if_contains("responses");
    const json::array* list = responses == nullptr ? nullptr : responses->if_array();
    const json::object* first =
        list == nullptr || list->size() != 1 ? nullptr : list->front().if_object();
    const json::value* range = first == nullptr ? nullptr : first->if_contains("response_range");
    if (range == nullptr || !range->is_object()) { return no_answer("no range"); }
    MUSTER_TRY(found, found_in(range->as_object()));
    out.guard = std::move(found);
    if (out.guard.size() > 1) { return no_answer("several values of one key"); }
    return out;
}

std::string end_of(std::string folder) {
    MUSTER_ASSERT(folder.ends_with('/'));
    folder.back() = '/' + 1;
    return folder;
}

}  // namespace muster::etcd
