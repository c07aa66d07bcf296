// A small API in memory for tests of controllers: objects by path, list, get, create, put, patch,
// delete with grace, watches. Its time is virtual and moves only by run_for.
#pragma once

#include "kube/client.h"
#include "lab/lab_timers.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

class FakeApi : public kube::Transport {
public:
    explicit FakeApi(std::int64_t speed = 1);
    ~FakeApi() override;

    void call(kube::Call call, Done done) override;
    std::unique_ptr<Stream> stream(kube::Call call, std::function<void(std::string_view)> line,
                                   Done done) override;
    void after(std::int64_t milliseconds, std::function<void()> work) override;

    LabClock clock();
    /// All that is due in so many milliseconds of real time, in order.
    void run_for(std::int64_t milliseconds);

    /// At a path like "/api/v1/nodes/a"; null when there is none.
    [[nodiscard]] const boost::json::object* find(const std::string& path) const;
    /// "/api/v1/pods" of all namespaces.
    [[nodiscard]] std::vector<const boost::json::object*> all(const std::string& path) const;
    /// The text at `field` of each of them.
    [[nodiscard]] std::vector<std::string> texts(const std::string& path,
                                                 std::string_view field) const;
    /// Sends a call and gives the answer's status; for the hands of a test.
    int send(const std::string& method, const std::string& target, std::string_view body,
             const std::string& content_type = "application/json");
    /// The next so many creations are refused with 403.
    void refuse_creates(int count);
    [[nodiscard]] std::int64_t calls() const;  // writes and reads

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::lab
