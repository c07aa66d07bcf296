// How long a fake container runs and how it ends, read from what it would do: `sleep 30`,
// `sh -c "echo hello; sleep 5; exit 3"`, or the pod's annotations lab.muster/run-seconds and
// lab.muster/exit-code, which come first.
#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::lab {

struct RunPlan {
    std::optional<std::int64_t> milliseconds;  // none: for ever
    std::int32_t exit_code = 0;

    bool operator==(const RunPlan&) const = default;
};

/// A shell script: its sleeps add up, a loop without an end has none, and a script of plain words
/// like `echo` takes no time. Anything else runs for ever.
RunPlan plan_of_script(std::string_view script);
/// Of a container's command and args.
RunPlan plan_of_container(const boost::json::object& container);
/// Of a container of the pod, annotations included.
RunPlan plan_of_run(const boost::json::object& pod, const boost::json::object& container);

/// "/bin/sh" is "sh".
std::string_view base_name(std::string_view path);

/// "30", "0.5", "2m" in milliseconds; none for "infinity" and what is no time.
std::optional<std::int64_t> read_duration(std::string_view text);

}  // namespace muster::lab
