// What a Job says about its failures and its success beside their number: podFailurePolicy,
// backoffLimitPerIndex, successPolicy. Pure.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace muster::lab {

struct FailureVerdict {
    enum class Action : std::uint8_t { count, ignore, fail_job, fail_index };
    Action action = Action::count;
    std::string message;  // which rule, of what failed the job
};
/// Of a pod that has failed: by the first rule that it matches.
FailureVerdict judge_failure(const boost::json::object& job, const boost::json::object& pod);

/// The message of the first success rule that those indexes fulfil.
std::optional<std::string> success_by_rule(const boost::json::object& job,
                                           const std::set<std::int64_t>& done);

/// "0,2-4": numbers as a Job's status lists them, and back.
std::string write_indexes(const std::set<std::int64_t>& indexes);
std::set<std::int64_t> read_indexes(std::string_view text);

}  // namespace muster::lab
