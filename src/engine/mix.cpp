#include "engine/mix.h"

#include <algorithm>

namespace muster {

void Mix::add(const MixClass& request) {
    if (request.weight <= 0) { return; }
    const std::int64_t weight = std::min(request.weight, mix_fade_at);
    MixClass key = request;
    key.weight = 0;
    counts_[key] += weight;
    seen_ += weight;
    if (counts_.size() > mix_classes_max) { drop_rarest(); }
    while (seen_ >= 2 * mix_fade_at) { fade(); }
}

std::vector<MixClass> Mix::classes() const {
    if (seen_ < mix_seen_min) { return {default_mix().begin(), default_mix().end()}; }
    std::vector<MixClass> classes;
    for (const auto& [key, count] : counts_) {
        classes.push_back(key);
        classes.back().weight = count;
    }
    return classes;
}

Churn Mix::churn() const {
    if (seen_ < mix_seen_min) { return {}; }
    return {.percent = static_cast<std::int32_t>(std::min<std::int64_t>(100, 200 * left_ / seen_))};
}

void Mix::build_done() { due_at_ = std::max(mix_seen_min, 2 * seen_); }

/// Halves the counts and what is due with them, so that the next build comes after as many
/// arrivals.
void Mix::fade() {
    seen_ = 0;
    for (auto at = counts_.begin(); at != counts_.end();) {
        at->second /= 2;
        seen_ += at->second;
        at = at->second == 0 ? counts_.erase(at) : std::next(at);
    }
    left_ = std::min(left_ / 2, seen_);
    due_at_ = seen_;
}

void Mix::drop_rarest() {
    const auto rarest =
        std::min_element(counts_.begin(), counts_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    seen_ -= rarest->second;
    left_ = std::min(left_, seen_);
    counts_.erase(rarest);
}

}  // namespace muster
