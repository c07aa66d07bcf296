// How many processors are free from when on, as far as reservations tell.
#pragma once

#include <cstdint>
#include <vector>

namespace muster::sim {

class JobProfile {
public:
    explicit JobProfile(std::int64_t capacity) : steps_{{.from_s = INT64_MIN, .free = capacity}} {}

    struct Span {
        std::int64_t from_s = 0;
        std::int64_t to_s = 0;  // not in it
    };
    void take(Span span, std::int64_t size) { add(span, -size); }
    void give(Span span, std::int64_t size) { add(span, size); }

    struct Wish {
        std::int64_t size = 0;
        std::int64_t seconds = 0;
        std::int64_t not_before_s = 0;
    };
    /// The first time at which so many are free for so long. The capacity holds the size.
    [[nodiscard]] std::int64_t earliest(const Wish& wish) const;
    /// What was before this time is forgotten.
    void forget_before(std::int64_t now_s);

private:
    struct Step {
        std::int64_t from_s;
        std::int64_t free;  // until the next step; of the last, for ever
    };
    void add(Span span, std::int64_t count);
    std::size_t cut_at(std::int64_t at_s);

    std::vector<Step> steps_;
};

}  // namespace muster::sim
