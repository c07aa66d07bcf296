#include "base/assert.h"
#include "sim/reference/job_policy.h"
#include "sim/reference/job_profile.h"

#include <optional>
#include <vector>

namespace muster::sim {

namespace {

/// Each job reserves the earliest time at which it delays nobody. When one ends before its time the
/// others move up in order of submission, until none can; none ever moves back. So each reserved
/// start is now, or the requested end of a job that runs or has a reservation.
class Conservative final : public JobPolicy {
public:
    void submit(const JobDesk& /*desk*/, JobIndex job) override {
        waiting_.push_back({.job = job, .start_s = -1});
    }

    void decide(JobDesk& desk) override {
        if (!profile_) {
            profile_.emplace(desk.free());
            MUSTER_ASSERT(desk.running().empty());
        }
        profile_->forget_before(desk.now());
        bool is_early = false;
        for (const RunningJob& ended : desk.ended()) {
            is_early = is_early || ended.end_s > desk.now();
            profile_->give({.from_s = desk.now(), .to_s = ended.end_s}, ended.size);
        }
        for (bool has_moved = true; has_moved;) {
            has_moved = false;
            for (Waiting& waiting : waiting_) {
                if (is_early || waiting.start_s < 0) { has_moved |= reserve(desk, waiting); }
            }
        }
        std::erase_if(waiting_, [&](const Waiting& waiting) {
            MUSTER_ASSERT(waiting.start_s >= desk.now());
            if (waiting.start_s > desk.now()) { return false; }
            desk.start(waiting.job);
            return true;
        });
    }

private:
    struct Waiting {
        JobIndex job;
        std::int64_t start_s;  // −1: not yet reserved
    };

    /// True when it had a later one.
    bool reserve(const JobDesk& desk, Waiting& waiting) {
        const std::int64_t size = desk.size(waiting.job);
        const std::int64_t seconds = desk.limit_s(waiting.job);
        const bool is_new = waiting.start_s < 0;
        if (!is_new) {
            profile_->give({.from_s = waiting.start_s, .to_s = waiting.start_s + seconds}, size);
        }
        const std::int64_t start =
            profile_->earliest({.size = size, .seconds = seconds, .not_before_s = desk.now()});
        MUSTER_ASSERT(is_new || start <= waiting.start_s);
        const bool has_moved = start < waiting.start_s;
        waiting.start_s = start;
        profile_->take({.from_s = start, .to_s = start + seconds}, size);
        return has_moved;
    }

    std::optional<JobProfile> profile_;
    std::vector<Waiting> waiting_;  // in order of submission
};

}  // namespace

std::unique_ptr<JobPolicy> make_conservative() { return std::make_unique<Conservative>(); }

}  // namespace muster::sim
