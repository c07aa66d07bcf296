// A bounded queue of values between two threads: the only thing that two threads of ours share.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace muster {

template <class T>
class Channel {
public:
    explicit Channel(std::size_t capacity) : capacity_(capacity) {}

    /// Waits for a place; false when the channel is closed.
    bool send(T value) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_closed_ || values_.size() < capacity_; });
        if (is_closed_) { return false; }
        values_.push_back(std::move(value));
        changed_.notify_all();
        return true;
    }

    /// Waits for a value; none when the channel is closed and empty.
    std::optional<T> receive() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_closed_ || !values_.empty(); });
        if (values_.empty()) { return std::nullopt; }
        std::optional<T> value(std::move(values_.front()));
        values_.pop_front();
        changed_.notify_all();
        return value;
    }

    void close() {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<T> values_;
    std::size_t capacity_;
    bool is_closed_ = false;
};

}  // namespace muster
