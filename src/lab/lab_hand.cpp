#include "lab/lab_hand.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::int64_t step_ms = 5;
constexpr std::int64_t patience_ms = 30'000;

}  // namespace

bool LabHand::until(const std::function<bool()>& is_so, std::int64_t milliseconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (!is_so()) {
        if (Clock::now() >= end) { return false; }
        pump_(step_ms);
    }
    return true;
}

Result<json::object> LabHand::ask(kube::Call call) {
    const std::string what = fmt::format("{} {}", call.method, call.target);
    const auto answer = std::make_shared<std::optional<Result<kube::Answer>>>();
    transport_.call(std::move(call), [answer](Result<kube::Answer> got) { *answer = got; });
    if (!until([&] { return answer->has_value(); }, patience_ms)) {
        return fail(Code::timeout, fmt::format("{}: the lab did not answer", what));
    }
    Result<kube::Answer>& got = **answer;
    if (!got) { return tl::unexpected(std::move(got).error()); }
    boost::system::error_code error;
    json::value body = json::parse(got->body, error);
    if (error || !body.is_object()) {
        return fail(Code::corrupt, fmt::format("{}: the answer is no JSON object", what));
    }
    if (got->is_ok()) { return std::move(body.get_object()); }
    const std::string_view message = kube::text_at(body.get_object(), "message");
    const Code code = got->status == 404                         ? Code::not_found
                      : got->status == 409 || got->status == 429 ? Code::conflict
                                                                 : Code::invalid;
    return fail(code, message.empty() ? fmt::format("{}: answer {}", what, got->status)
                                      : std::string(message));
}

Result<json::object> LabHand::get(const kube::Resource& resource, const kube::ObjectName& name) {
    kube::Call call;
    call.target = kube::path_of(resource, name.first, name.second);
    return ask(std::move(call));
}

Result<std::vector<json::object>> LabHand::list(const kube::Resource& resource) {
    kube::Call call;
    call.target = kube::path_of(resource, "");
    MUSTER_TRY(page, ask(std::move(call)));
    std::vector<json::object> out;
    json::array* items = nullptr;
    if (json::value* found = page.if_contains("items")) { items = found->if_array(); }
    for (json::value& item : items ? *items : page["items"].emplace_array()) {
        if (item.is_object()) { out.push_back(std::move(item.get_object())); }
    }
    return out;
}

Result<> LabHand::annotate(const kube::Resource& resource, const kube::ObjectName& name,
                           std::string_view key, const json::value& value) {
    const json::object patch{{"metadata", {{"annotations", json::object{{key, value}}}}}};
    MUSTER_CHECK(ask(kube::patch_call({.resource = resource, .name = name, .rest = ""}, patch)));
    return {};
}

}  // namespace muster::lab
