// Which gangs run only in part, and until when they may: a bind that is under way or a member that
// was lost opens a window, the minimum closes it, and its end is a fact by which the gang stops as
// a whole. Pods that nobody would make again are not given up by time alone. Pure but for the
// clock.
#pragma once

#include "kube/task_table.h"
#include "model/fact.h"
#include "model/workload.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace muster::kube {

/// What is to be said of a gang.
struct GangNews {
    enum class Kind : std::uint8_t {
        incomplete,  // it waits for members
        whole,       // it has its minimum again
        overdue,     // they did not come
        kept,        // they did not come, and it stays for want of who would make its pods again
    };
    std::string workload;
    Kind kind = Kind::incomplete;
    std::string text;
};

class GangWindows {
public:
    struct Options {
        std::int64_t length_ms = 0;       // 0: no gang is ever given up
        std::int64_t after_start_ms = 0;  // of those that were incomplete when the process began
        std::function<std::int64_t()> now = {};  // of a clock that only goes forward
    };

    explicit GangWindows(Options options) : options_(std::move(options)) {}

    /// As when a process begins.
    void restart();
    /// `cause` is what happened to it, in words; empty when nothing was lost.
    void look(const WorkloadSpec& workload, const TaskPods& pods, std::string cause);
    void note_cause(const std::string& workload, std::string cause) {
        causes_[workload] = std::move(cause);
    }
    void drop(const std::string& workload);
    /// It was stopped: what becomes of its members is nothing to wait for.
    void note_leaving(const std::string& workload);
    /// It is to run again. Whether it was being stopped until now.
    bool note_starting(const std::string& workload) { return leaving_.erase(workload) > 0; }

    /// Those whose window is over. Of a gang that `is_under_way` the end is put off: something that
    /// was asked for it is not answered yet.
    std::vector<Fact> due(const std::function<bool(const TaskPods&)>& is_under_way,
                          const std::function<const TaskPods*(const std::string&)>& pods_of);
    std::vector<GangNews> take_news();
    [[nodiscard]] std::size_t open() const { return windows_.size(); }
    [[nodiscard]] bool is_open(const std::string& workload) const {
        return windows_.contains(workload);
    }
    /// Why it was or is to be stopped; empty when nothing is known of it.
    [[nodiscard]] std::string cause_of(const std::string& workload) const;

private:
    struct Window {
        std::int64_t since = 0;
        std::int64_t until = 0;
        std::string have;  // "5 of 6 tasks run"
        bool is_told = false;
        bool is_over = false;
        bool is_kept = false;
    };
    void tell(const std::string& workload, Window& window);

    Options options_;
    std::map<std::string, Window> windows_;
    std::map<std::string, std::string> causes_;  // what was lost last, of gangs that are there
    std::set<std::string> leaving_;
    std::vector<GangNews> news_;
    bool is_first_ = true;  // what is looked at was so when the process began
};

}  // namespace muster::kube
