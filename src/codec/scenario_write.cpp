#include "base/assert.h"
#include "codec/plan_names.h"
#include "codec/scenario.h"
#include "codec/scenario_reader.h"
#include "codec/scenario_specs.h"
#include "model/rest_of_gang.h"

#include <fmt/core.h>

#include <set>
#include <type_traits>
#include <utility>

namespace muster {

namespace {

using namespace scenario;

/// Writes what the reader reads; keeps what it would have seen by then.
class Writer {
public:
    std::string write(const Scenario& scenario) {
        for (const MixEntry& entry : scenario.policy.mix) {
            out_ += "mix" + write_mix(entry) + "\n";
        }
        for (const Command& command : scenario.commands) {
            std::visit([this](const auto& action) { write_action(action); }, command.action);
        }
        return std::move(out_);
    }

private:
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        out_ += fmt::format(format, std::forward<Args>(args)...);
        out_ += '\n';
    }

    /// "" for a new name, "replace " for a known one.
    static std::string_view how(std::set<std::string>& known, const std::string& name) {
        return known.insert(name).second ? "" : "replace ";
    }

    void write_action(const Fact& fact) {
        std::visit([this](const auto& what) { write_fact(what); }, fact);
    }

    void write_fact(const TopologySet& topology) {
        levels_ = topology.levels;
        out_ += "levels";
        for (const Level& level : levels_) {
            out_ += ' ' + quote(level.name);
            if (level.key != level.name) { out_ += '=' + quote(level.key); }
        }
        out_ += '\n';
    }
    void write_fact(const NodeSet& fact) {
        line("{}node {}{}", how(nodes_, fact.node.name), quote(fact.node.name),
             write_node(fact.node, levels_));
    }
    void write_fact(const NodeGone& fact) {
        nodes_.erase(fact.node);
        line("delete node {}", quote(fact.node));
    }
    void write_fact(const GpuHealth& fact) {
        line("{} gpu {}:{}", fact.is_healthy ? "heal" : "fail", quote(fact.node), fact.gpu);
    }
    void write_fact(const QueueSet& fact) {
        line("{}queue {}{}", how(queues_, fact.queue.name), quote(fact.queue.name),
             write_queue(fact.queue));
    }
    void write_fact(const QueueGone& fact) {
        queues_.erase(fact.queue);
        line("delete queue {}", quote(fact.queue));
    }
    void write_fact(const WorkloadSet& fact);
    void write_groups(const std::vector<GroupSpec>& groups);
    void write_fact(const WorkloadGone& fact) {
        workloads_.erase(fact.workload);
        line("delete gang {}", quote(fact.workload));
    }
    void write_fact(const TaskGone& fact) {
        if (fact.task == rest_of_gang) { return line("lose {}", quote(fact.workload + "/rest")); }
        line("{} {}", fact.is_finished ? "finish" : "lose", task_name(fact.workload, fact.task));
    }
    void write_fact(const TaskBound& fact) {
        ExpectTask devices;
        if (fact.has_devices) {
            devices.gpus = fact.devices.gpus;
            if (!fact.devices.mig.empty()) { devices.mig = fact.devices.mig; }
            if (fact.devices.numa >= 0) { devices.numa = fact.devices.numa; }
        }
        line("bind {} {}{}", task_name(fact.workload, fact.task), quote(fact.node),
             write_devices(devices));
    }
    void write_fact(const LeaseSet& fact) {
        line("lease {}{}", quote(fact.lease.name), write_lease(fact.lease));
    }
    void write_fact(const TimeIs& fact) {
        now_ = fact.now;
        line("time {}ms", now_);
    }

    void write_action(const RunCycles& cycles) {
        if (cycles.count == 1) {
            line("\ncycle");
        } else {
            line("\ncycle {}", cycles.count);
        }
    }
    void write_action(const ExpectRuns& expected) {
        out_ += fmt::format("expect {} runs", write_names(expected.workloads));
        if (expected.tasks) { out_ += fmt::format(" tasks={}", *expected.tasks); }
        if (expected.domain) { out_ += fmt::format(" in {}", in_quotes(*expected.domain)); }
        if (expected.nodes) { out_ += fmt::format(" on {}", write_names(*expected.nodes)); }
        if (expected.crossings) { out_ += fmt::format(" crossings={}", *expected.crossings); }
        out_ += '\n';
    }
    void write_action(const ExpectTask& expected) {
        const std::string name = task_name(expected.workload, expected.task);
        if (expected.node.empty()) {
            line("expect {} waits", name);
        } else {
            line("expect {} on {}{}", name, quote(expected.node), write_devices(expected));
        }
    }
    void write_action(const ExpectWaits& expected);
    void write_action(const ExpectCount& expected) {
        line("expect {} of {} run", expected.count, write_names(expected.workloads));
    }
    void write_action(const ExpectNoChange&) { line("expect no change"); }
    void write_action(const ExpectRefused& expected) {
        line("expect refused{}", expected.part.empty() ? "" : ' ' + in_quotes(expected.part));
    }
    void write_action(const Show& show) {
        constexpr std::string_view names[] = {"topology", "queues", "plan", "waiting", "shapes"};
        line("show {}", names[static_cast<std::size_t>(show.what)]);
        for (const std::string& golden : show.golden) {
            line("{}{}", golden.empty() ? "|" : "| ", golden);
        }
    }

    static std::string task_name(const std::string& workload, std::uint32_t task) {
        return fmt::format("{}/{}", quote(workload), task);
    }
    /// Quoted even where it need not be: what stands there is read by its quotes.
    static std::string in_quotes(const std::string& text) {
        const std::string quoted = quote(text);
        return quoted.starts_with('"') ? quoted : '"' + quoted + '"';
    }

    std::string out_;
    std::vector<Level> levels_;
    std::set<std::string> nodes_;
    std::set<std::string> queues_;
    std::set<std::string> workloads_;
    std::int64_t now_ = 0;
};

void Writer::write_action(const ExpectWaits& expected) {
    out_ += fmt::format("expect {} waits", write_names(expected.workloads));
    if (expected.text) { out_ += ' ' + in_quotes(*expected.text); }
    if (expected.part) { out_ += " like=" + quote(*expected.part); }
    if (expected.why) { out_ += fmt::format(" why={}", name_of(*expected.why)); }
    if (expected.link) { out_ += fmt::format(" link={}", name_of(*expected.link)); }
    if (expected.have) { out_ += fmt::format(" have={}", *expected.have); }
    if (expected.needed) { out_ += fmt::format(" needed={}", *expected.needed); }
    if (expected.closest) { out_ += " closest=" + quote(*expected.closest); }
    for (const CauseCount& cause : expected.causes) {
        out_ += fmt::format(" cause.{}={}", name_of(cause.cause), cause.nodes);
    }
    out_ += '\n';
}

void Writer::write_fact(const WorkloadSet& fact) {
    const WorkloadSpec& workload = fact.workload;
    MUSTER_ASSERT(!workload.groups.empty());
    std::int32_t root_children = 0;
    for (const GroupSpec& group : workload.groups) { root_children += group.parent == 0; }
    const GroupSpec& root = workload.groups.front();
    out_ += fmt::format("{}gang {}{}", how(workloads_, workload.name), quote(workload.name),
                        write_workload(workload, now_));
    if (root.name != workload.name) { out_ += " as=" + quote(root.name); }
    out_ += write_group(root, root_children == 0, root_children) + '\n';
    write_groups(workload.groups);
}

/// Indented by depth; `under=` where the order of the groups is not depth first.
void Writer::write_groups(const std::vector<GroupSpec>& groups) {
    std::vector<std::int32_t> children(groups.size());
    for (std::size_t i = 1; i < groups.size(); ++i) {
        ++children[static_cast<std::size_t>(groups[i].parent)];
    }
    std::vector<std::size_t> path = {0};  // from the root to the group written last
    for (std::size_t i = 1; i < groups.size(); ++i) {
        const auto parent = static_cast<std::size_t>(groups[i].parent);
        std::size_t depth = path.size();
        while (depth > 0 && path[depth - 1] != parent) { --depth; }
        std::string under;
        if (depth == 0) {  // the parent is not above: stand below the gang and name it
            under = fmt::format(" under={}", parent);
            depth = 1;
        }
        path.resize(depth);
        path.push_back(i);
        const bool is_leaf = children[i] == 0;
        line("{:{}}{} {}{}{}", "", depth * 2, is_leaf ? "role" : "group", quote(groups[i].name),
             under, write_group(groups[i], is_leaf, children[i]));
    }
}

}  // namespace

namespace scenario {

std::string write_devices(const ExpectTask& devices) {
    std::string out;
    if (devices.gpus) {
        out += " gpus=";
        bool is_first = true;
        for (std::size_t i = 0; i < 64; ++i) {
            if ((*devices.gpus >> i & 1) == 0) { continue; }
            out += fmt::format("{}{}", std::exchange(is_first, false) ? "" : ",", i);
        }
    }
    if (devices.mig) {
        out += " mig=";
        for (std::size_t i = 0; i < devices.mig->size(); ++i) {
            const MigSlot& slot = (*devices.mig)[i];
            out += fmt::format("{}{}:{}", i == 0 ? "" : ",", slot.gpu, slot.start);
        }
    }
    if (devices.numa) { out += fmt::format(" numa={}", *devices.numa); }
    return out;
}

}  // namespace scenario

std::string write_scenario(const Scenario& scenario) { return Writer().write(scenario); }

}  // namespace muster
