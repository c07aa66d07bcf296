// Lines of watches that cost more than a copy of what is stored, kept for a moment: a thousand
// clients that follow one table are told of an event by one encoding of it.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace muster::lab {

class WatchLines {
public:
    using Line = std::shared_ptr<const std::string>;
    /// `key` says all that the line depends on.
    Line find_or_make(const std::string& key, const std::function<std::string()>& make) {
        if (const auto found = lines_.find(key); found != lines_.end()) { return found->second; }
        auto line = std::make_shared<const std::string>(make());
        bytes_ += key.size() + line->size();
        lines_.emplace(key, line);
        order_.push_back(key);
        while (bytes_ > bytes_max && order_.size() > 1) {
            const auto oldest = lines_.find(order_.front());
            bytes_ -= oldest->first.size() + oldest->second->size();
            lines_.erase(oldest);
            order_.pop_front();
        }
        return line;
    }

private:
    static constexpr std::size_t bytes_max = std::size_t{8} << 20;

    std::unordered_map<std::string, Line> lines_;
    std::deque<std::string> order_;  // oldest first
    std::size_t bytes_ = 0;
};

}  // namespace muster::lab
