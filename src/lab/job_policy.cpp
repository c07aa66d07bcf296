#include "lab/job_policy.h"

#include "base/text.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;
using kube::int_at;
using kube::text_at;

namespace {

constexpr std::int64_t indexes_max = 100'000;

const json::array& list_at(const json::object& object, std::string_view path) {
    static const json::array none;
    const json::array* found = kube::array_at(object, path);
    return found == nullptr ? none : *found;
}

/// "Container main … failed with exit code 42"; none when no container ended so.
std::optional<std::string> match_exit_codes(const json::object& rule, const json::object& pod) {
    const std::string_view wanted = text_at(rule, "containerName");
    const bool is_among = text_at(rule, "operator") == "In";
    const json::array& values = list_at(rule, "values");
    for (const char* path : {"status.initContainerStatuses", "status.containerStatuses"}) {
        for (const json::value& one : list_at(pod, path)) {
            if (!one.is_object()) { continue; }
            const json::object& status = one.get_object();
            const std::string_view name = text_at(status, "name");
            if (!wanted.empty() && wanted != name) { continue; }
            const std::int64_t code = int_at(status, "state.terminated.exitCode");
            if (code == 0) { continue; }
            const bool is_listed =
                std::any_of(values.begin(), values.end(), [&](const json::value& value) {
                    return value.is_int64() && value.get_int64() == code;
                });
            if (is_listed == is_among) {
                return fmt::format("Container {} for pod {}/{} failed with exit code {}", name,
                                   text_at(pod, "metadata.namespace"),
                                   text_at(pod, "metadata.name"), code);
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string> match_conditions(const json::array& rules, const json::object& pod) {
    for (const json::value& one : rules) {
        if (!one.is_object()) { continue; }
        const std::string_view type = text_at(one.get_object(), "type");
        const std::string_view status = text_at(one.get_object(), "status");
        if (kube::condition_of(pod, type) == (status.empty() ? "True" : status)) {
            return fmt::format("Pod {}/{} has condition {}", text_at(pod, "metadata.namespace"),
                               text_at(pod, "metadata.name"), type);
        }
    }
    return std::nullopt;
}

}  // namespace

FailureVerdict judge_failure(const json::object& job, const json::object& pod) {
    std::size_t index = 0;
    for (const json::value& one : list_at(job, "spec.podFailurePolicy.rules")) {
        const std::size_t at = index++;
        if (!one.is_object()) { continue; }
        const json::object& rule = one.get_object();
        const json::object* codes = kube::object_at(rule, "onExitCodes");
        const auto matched = codes != nullptr
                                 ? match_exit_codes(*codes, pod)
                                 : match_conditions(list_at(rule, "onPodConditions"), pod);
        if (!matched) { continue; }
        const std::string_view action = text_at(rule, "action");
        using Action = FailureVerdict::Action;
        return {.action = action == "Ignore"      ? Action::ignore
                          : action == "FailJob"   ? Action::fail_job
                          : action == "FailIndex" ? Action::fail_index
                                                  : Action::count,
                .message = fmt::format("{} matching {} rule at index {}", *matched, action, at)};
    }
    return {};
}

std::optional<std::string> success_by_rule(const json::object& job,
                                           const std::set<std::int64_t>& done) {
    std::size_t index = 0;
    for (const json::value& one : list_at(job, "spec.successPolicy.rules")) {
        const std::size_t at = index++;
        if (!one.is_object()) { continue; }
        const json::object& rule = one.get_object();
        const std::string_view listed = text_at(rule, "succeededIndexes");
        const std::set<std::int64_t> wanted = read_indexes(listed);
        const auto counted = std::count_if(done.begin(), done.end(), [&](std::int64_t i) {
            return listed.empty() || wanted.contains(i);
        });
        const std::int64_t least =
            int_at(rule, "succeededCount", static_cast<std::int64_t>(wanted.size()));
        if (least > 0 && counted >= least) { return fmt::format("Matched rules at index {}", at); }
    }
    return std::nullopt;
}

std::string write_indexes(const std::set<std::int64_t>& indexes) {
    std::string out;
    for (auto at = indexes.begin(); at != indexes.end();) {
        const std::int64_t first = *at;
        std::int64_t last = first;
        for (++at; at != indexes.end() && *at == last + 1; ++at) { last = *at; }
        out += fmt::format("{}{}", out.empty() ? "" : ",", first);
        if (last > first) { out += fmt::format("{}{}", last == first + 1 ? "," : "-", last); }
    }
    return out;
}

std::set<std::int64_t> read_indexes(std::string_view text) {
    std::set<std::int64_t> out;
    if (text.empty()) { return out; }
    for (const std::string_view part : split(text, ',')) {
        const std::size_t dash = part.find('-');
        const auto first = parse_int("index", part.substr(0, dash), 0, indexes_max);
        const auto last = dash == std::string_view::npos
                              ? first
                              : parse_int("index", part.substr(dash + 1), 0, indexes_max);
        if (!first || !last) { continue; }
        for (std::int64_t i = *first; i <= *last; ++i) { out.insert(i); }
    }
    return out;
}

}  // namespace muster::lab
