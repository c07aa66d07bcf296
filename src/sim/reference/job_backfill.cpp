// EASY, and the backfilling of the windows.
#include "base/assert.h"
#include "sim/reference/job_policy.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace muster::sim {

Shadow shadow_of(const JobDesk& desk, std::int64_t size) {
    std::int64_t free = desk.free();
    std::optional<std::int64_t> at;
    for (const RunningJob& running : desk.running()) {
        if (at && free >= size && running.end_s > *at) { break; }
        free += running.size;
        at = running.end_s;
    }
    MUSTER_ASSERT(at && free >= size);
    return {.start_s = *at, .spare = free - size};
}

namespace {

class Easy final : public JobPolicy {
public:
    void submit(const JobDesk& /*desk*/, JobIndex job) override { waiting_.push_back(job); }

    void decide(JobDesk& desk) override {
        while (head_ < waiting_.size() && desk.fits(waiting_[head_])) {
            desk.start(waiting_[head_++]);
        }
        if (head_ < waiting_.size() && desk.free() > 0) { backfill(desk); }
        const auto gone = static_cast<std::ptrdiff_t>(head_);
        waiting_.erase(waiting_.begin(), waiting_.begin() + gone);
        head_ = 0;
    }

private:
    void backfill(JobDesk& desk) {
        Shadow shadow = shadow_of(desk, desk.size(waiting_[head_]));
        std::size_t kept = head_ + 1;
        for (std::size_t i = head_ + 1; i < waiting_.size(); ++i) {
            const JobIndex job = waiting_[i];
            const bool ends_before = desk.now() + desk.limit_s(job) <= shadow.start_s;
            if (desk.fits(job) && (ends_before || desk.size(job) <= shadow.spare)) {
                if (!ends_before) { shadow.spare -= desk.size(job); }
                desk.start(job);
            } else {
                waiting_[kept++] = job;
            }
        }
        waiting_.resize(kept);
    }

    std::vector<JobIndex> waiting_;
    std::size_t head_ = 0;
};

class Pick final : public JobPolicy {
public:
    explicit Pick(PickOptions options) : options_(options) {}

    void submit(const JobDesk& /*desk*/, JobIndex job) override { waiting_.push_back(job); }

    void decide(JobDesk& desk) override {
        for (;;) {
            if (!picked_) { pick(desk); }
            if (!picked_) { return; }
            if (!desk.fits(*picked_)) { break; }
            desk.start(*picked_);
            picked_.reset();
            blocked_until_s_.reset();
        }
        if (!options_.is_backfilling) { return; }
        if (!blocked_until_s_) { blocked_until_s_ = shadow_of(desk, desk.size(*picked_)).start_s; }
        std::erase_if(waiting_, [&](JobIndex job) {
            const bool is_early = desk.now() + desk.limit_s(job) < *blocked_until_s_;
            if (!is_early || !desk.fits(job)) { return false; }
            desk.start(job);
            return true;
        });
    }

private:
    void pick(const JobDesk& desk) {
        if (waiting_.empty()) { return; }
        auto next = waiting_.begin();
        if (options_.order == PickOrder::least_requested) {
            next = std::ranges::min_element(waiting_, {},
                                            [&](JobIndex job) { return desk.limit_s(job); });
        }
        picked_ = *next;
        waiting_.erase(next);
    }

    PickOptions options_;
    std::vector<JobIndex> waiting_;  // in order of submission, without the picked one
    std::optional<JobIndex> picked_;
    std::optional<std::int64_t> blocked_until_s_;
};

}  // namespace

std::unique_ptr<JobPolicy> make_easy() { return std::make_unique<Easy>(); }
std::unique_ptr<JobPolicy> make_pick(PickOptions options) {
    return std::make_unique<Pick>(options);
}

}  // namespace muster::sim
