// The policies that are nothing but an order.
#include "sim/reference/job_policy.h"

#include <deque>
#include <map>
#include <set>
#include <utility>

namespace muster::sim {

namespace {

class Fcfs final : public JobPolicy {
public:
    void submit(const JobDesk& /*desk*/, JobIndex job) override { waiting_.push_back(job); }
    void decide(JobDesk& desk) override {
        while (!waiting_.empty() && desk.fits(waiting_.front())) {
            desk.start(waiting_.front());
            waiting_.pop_front();
        }
    }

private:
    std::deque<JobIndex> waiting_;
};

using ByRequest = std::set<std::pair<std::int64_t, JobIndex>>;

class Sjf final : public JobPolicy {
public:
    void submit(const JobDesk& desk, JobIndex job) override {
        waiting_.emplace(desk.limit_s(job), job);
    }
    void decide(JobDesk& desk) override {
        while (!waiting_.empty() && desk.fits(waiting_.begin()->second)) {
            desk.start(waiting_.begin()->second);
            waiting_.erase(waiting_.begin());
        }
    }

private:
    ByRequest waiting_;
};

/// Whether a job fits is a matter of its size alone, and a start makes nothing fit that did not: so
/// to try all in order is to take, again and again, the first among the sizes that fit.
class SjfSkip final : public JobPolicy {
public:
    void submit(const JobDesk& desk, JobIndex job) override {
        waiting_[desk.size(job)].emplace(desk.limit_s(job), job);
    }
    void decide(JobDesk& desk) override {
        for (;;) {
            ByRequest* best = nullptr;
            for (auto& [size, jobs] : waiting_) {
                if (size > desk.free()) { break; }
                if (jobs.empty() || !desk.fits(jobs.begin()->second)) { continue; }
                if (best == nullptr || *jobs.begin() < *best->begin()) { best = &jobs; }
            }
            if (best == nullptr) { return; }
            desk.start(best->begin()->second);
            best->erase(best->begin());
        }
    }

private:
    std::map<std::int64_t, ByRequest> waiting_;  // by size
};

}  // namespace

std::unique_ptr<JobPolicy> make_fcfs() { return std::make_unique<Fcfs>(); }
std::unique_ptr<JobPolicy> make_sjf() { return std::make_unique<Sjf>(); }
std::unique_ptr<JobPolicy> make_sjf_skip() { return std::make_unique<SjfSkip>(); }

}  // namespace muster::sim
