#include "engine/mix.h"

#include <algorithm>
#include <cstdlib>

namespace muster {

void Mix::add(const MixClass& request) {
    if (request.weight <= 0) { return; }
    const std::int64_t weight = std::min(request.weight, mix_fade_at);
    MixClass key = request;
    key.weight = 0;
    counts_[key] += weight;
    seen_ += weight;
    recent_ += weight;
    while (recent_ >= 2 * churn_window) {
        recent_ /= 2;
        left_ /= 2;
    }
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
    return {.percent = static_cast<std::int32_t>(
                std::min<std::int64_t>(100, 200 * left_ / std::max<std::int64_t>(1, recent_)))};
}

bool Mix::is_due() const {
    return seen_ >= due_at_ || std::abs(churn().percent - built_churn_) >= churn_step_percent;
}

void Mix::build_done() {
    due_at_ = std::max(mix_seen_min, 2 * seen_);
    built_churn_ = churn().percent;
}

/// Halves the counts and what is due with them, so that the next build comes after as many
/// arrivals.
void Mix::fade() {
    seen_ = 0;
    for (auto at = counts_.begin(); at != counts_.end();) {
        at->second /= 2;
        seen_ += at->second;
        at = at->second == 0 ? counts_.erase(at) : std::next(at);
    }
    due_at_ = seen_;
}

void Mix::drop_rarest() {
    const auto rarest =
        std::min_element(counts_.begin(), counts_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    seen_ -= rarest->second;
    counts_.erase(rarest);
}

MixStatus Mix::status(std::span<const std::string> gpu_models) const {
    MixStatus out{.counts = {},
                  .recent = recent_,
                  .left = left_,
                  .due_at = due_at_,
                  .built_churn = built_churn_};
    for (const auto& [key, count] : counts_) {
        MixCount entry{.milli_cpu = key.milli_cpu,
                       .gpu_milli = key.gpu_milli,
                       .gpu_count = key.gpu_count,
                       .models = {},
                       .count = count};
        for (std::size_t i = 0; key.models != any_model && i < gpu_models.size(); ++i) {
            if ((key.models >> i & 1) != 0) { entry.models.push_back(gpu_models[i]); }
        }
        out.counts.push_back(std::move(entry));
    }
    return out;
}

void Mix::restore(const MixStatus& status, std::span<const std::string> gpu_models) {
    *this = {};
    for (const MixCount& entry : status.counts) {
        MixClass key{.milli_cpu = entry.milli_cpu,
                     .gpu_milli = entry.gpu_milli,
                     .gpu_count = entry.gpu_count,
                     .models = entry.models.empty() ? any_model : 0};
        for (const std::string& model : entry.models) {
            const auto at = std::find(gpu_models.begin(), gpu_models.end(), model);
            if (at != gpu_models.end()) {
                key.models |= std::uint64_t{1} << (at - gpu_models.begin());
            }
        }
        counts_[key] = entry.count;
        seen_ += entry.count;
    }
    recent_ = status.recent;
    left_ = status.left;
    due_at_ = status.due_at;
    built_churn_ = static_cast<std::int32_t>(status.built_churn);
}

}  // namespace muster
