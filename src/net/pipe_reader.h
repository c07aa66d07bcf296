// What comes out of a pipe until its end, read by the loop.
#pragma once

#include "base/result.h"
#include "net/event_loop.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {

class PipeReader {
public:
    using Done = std::function<void(Result<std::string>)>;

    /// Takes the descriptor over. `done` comes once, from the loop: all of it, or `limit` when it
    /// is more than `bytes_max`.
    PipeReader(EventLoop& loop, int descriptor, std::size_t bytes_max, Done done);
    ~PipeReader();  // nothing is called any more
    PipeReader(const PipeReader&) = delete;
    PipeReader& operator=(const PipeReader&) = delete;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net
