#include "sim/reference/job_profile.h"

#include "base/assert.h"

#include <algorithm>

namespace muster::sim {

/// The step that begins at this time, made when there is none.
std::size_t JobProfile::cut_at(std::int64_t at_s) {
    const auto next = std::ranges::upper_bound(steps_, at_s, {}, &Step::from_s);
    const auto before = next - 1;
    if (before->from_s == at_s) { return static_cast<std::size_t>(before - steps_.begin()); }
    const Step step{.from_s = at_s, .free = before->free};
    const auto index = static_cast<std::size_t>(next - steps_.begin());
    steps_.insert(next, step);
    return index;
}

void JobProfile::add(Span span, std::int64_t count) {
    if (span.from_s >= span.to_s) { return; }
    const std::size_t begin = cut_at(span.from_s);
    const std::size_t end = cut_at(span.to_s);
    for (std::size_t i = begin; i < end; ++i) {
        steps_[i].free += count;
        MUSTER_ASSERT(steps_[i].free >= 0);
    }
    const auto is_idle = [](const Step& a, const Step& b) { return a.free == b.free; };
    const auto from = steps_.begin() + static_cast<std::ptrdiff_t>(begin == 0 ? 0 : begin - 1);
    const auto to = steps_.begin() + static_cast<std::ptrdiff_t>(end + 1);
    steps_.erase(std::unique(from, to, is_idle), to);
}

std::int64_t JobProfile::earliest(const Wish& wish) const {
    std::int64_t at = wish.not_before_s;
    const auto first = std::ranges::upper_bound(steps_, at, {}, &Step::from_s) - 1;
    for (auto step = first; step != steps_.end(); ++step) {
        if (step->from_s >= at + wish.seconds && step->from_s > at) { break; }
        if (step->free < wish.size) {
            MUSTER_ASSERT(step + 1 != steps_.end());
            at = (step + 1)->from_s;
        }
    }
    return at;
}

void JobProfile::forget_before(std::int64_t now_s) {
    const auto next = std::ranges::upper_bound(steps_, now_s, {}, &Step::from_s);
    steps_.erase(steps_.begin(), next - 1);
}

}  // namespace muster::sim
