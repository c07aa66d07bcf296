// The lab's time, which may run faster than ours, and things to do at one of its moments. One heap
// and one armed wait for all of them, however many there are.
#pragma once

#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace muster::lab {

struct LabClock {
    std::function<std::int64_t()> now;  // lab milliseconds since the epoch
    std::int64_t speed = 1;             // lab milliseconds in one of ours
};

class LabTimers {
public:
    LabTimers(kube::Transport& transport, LabClock clock);
    ~LabTimers();  // nothing is called any more
    LabTimers(const LabTimers&) = delete;
    LabTimers& operator=(const LabTimers&) = delete;

    [[nodiscard]] std::int64_t now() const;
    [[nodiscard]] std::int64_t speed() const;
    /// Once, `wait` lab milliseconds from now; what is due together comes in the order of calls.
    void after(std::int64_t wait, std::function<void()> work);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::lab
