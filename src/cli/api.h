// The read-only API of a scheduler that runs, /api/v1: what it knows, why it decided so, and what
// it would decide. docs/reference/api.md tells the paths. Answers are the documents that the verbs
// print with -o json, by the same code. Belongs to the scheduler's thread; what takes long is
// worked out in a copy of the process, see trial_process.h.
#pragma once

#include "cli/api_status.h"
#include "cli/decision_json.h"
#include "cli/options.h"
#include "cli/trial_process.h"
#include "dialect/kubernetes.h"
#include "engine/engine.h"
#include "ledger/store.h"
#include "net/event_loop.h"
#include "net/http.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

struct Cluster;
struct Terminal;

/// The scheduler as it is between two cycles.
struct ApiState {
    const Engine* engine = nullptr;  // none: it does not lead, or has not read the cluster yet
    const dialect::KubernetesContext* context = nullptr;
    std::function<const WorkloadSpec*(const std::string& name)> find_workload;
    std::function<std::vector<dialect::RefusedWorkload>()> refused;
    Extent ledger;
    std::string holder;  // who leads; empty when this one does or nobody is known to
};

class Api {
public:
    /// The loop outlives it.
    Api(net::EventLoop& loop, std::function<ApiState()> state, TrialLimits limits = {});

    static bool is_path(std::string_view target);
    net::HttpResponse handle(const net::HttpRequest& request);

    /// A cycle was recorded as `entry`.
    void take(const Decision& decision, const Header& entry) {
        recent_.take(decision.cycle, entry);
    }
    /// What is on record already.
    Result<> recall(Store& store) { return recent_.recall(store); }
    /// By status, of what was answered at once; those that are worked out count as 202.
    [[nodiscard]] const std::map<int, std::uint64_t>& answers() const { return answers_; }

private:
    net::HttpResponse route(const net::HttpRequest& request);
    struct Asked;
    using Answer = TrialProcesses::Answer;

    Answer answer_now(const Asked& asked, const ApiState& state);
    net::HttpResponse try_out(const Asked& asked, const ApiState& state,
                              std::function<Result<int>(Cluster&, Format, Terminal&)> tell);
    net::HttpResponse plan(const Asked& asked, const ApiState& state, const std::string& body);

    std::function<ApiState()> state_;
    TrialProcesses trials_;
    RecentDecisions recent_;
    std::map<int, std::uint64_t> answers_;
};

}  // namespace muster::cli
