// Events as `kubectl describe` shows them. The same event again is counted on the one that exists.
#pragma once

#include "kube/client.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace muster::kube {

class EventRecorder {
public:
    using Now = std::function<std::int64_t()>;  // milliseconds since the epoch

    /// `component` stands as the source: "job-controller".
    EventRecorder(Transport& transport, Now now, std::string component);
    ~EventRecorder();
    EventRecorder(EventRecorder&&) noexcept;
    EventRecorder& operator=(EventRecorder&&) noexcept;

    /// `type` is "Normal" or "Warning"; `about` has apiVersion, kind and metadata; `host` is the
    /// node that a kubelet speaks for.
    void record(const boost::json::object& about, std::string_view type, std::string_view reason,
                std::string_view message, std::string_view host = "");

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::kube
