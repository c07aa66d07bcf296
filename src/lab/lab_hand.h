// A client of the lab that waits for its answers: for commands and demonstrations, which do one
// thing after the other. What it is told about is the API's own words.
#pragma once

#include "base/result.h"
#include "kube/client.h"
#include "kube/objects.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

class LabHand {
public:
    /// `pump` lets the transport's loop run for at most so many milliseconds. Both outlive it.
    using Pump = std::function<void(std::int64_t)>;
    LabHand(kube::Transport& transport, Pump pump)
        : transport_(transport),
          pump_(std::move(pump)) {}

    /// The object of a good answer; else an error with what the API says.
    Result<boost::json::object> ask(kube::Call call);
    Result<boost::json::object> get(const kube::Resource& resource, const kube::ObjectName& name);
    Result<std::vector<boost::json::object>> list(const kube::Resource& resource);
    /// Null as a value takes the annotation away.
    Result<> annotate(const kube::Resource& resource, const kube::ObjectName& name,
                      std::string_view key, const boost::json::value& value);

    void pump(std::int64_t milliseconds) { pump_(milliseconds); }
    /// Whether it has come true before the time was over.
    bool until(const std::function<bool()>& is_so, std::int64_t milliseconds);
    [[nodiscard]] kube::Transport& transport() { return transport_; }

private:
    kube::Transport& transport_;
    Pump pump_;
};

}  // namespace muster::lab
