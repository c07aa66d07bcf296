#include "cli/api_lists.h"

#include "cli/chain.h"
#include "codec/json_writer.h"
#include "codec/plan_names.h"
#include "codec/plan_text.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <vector>

namespace muster::cli {

namespace {

template <class Item>
struct Listed {
    std::string_view name;
    const Item* item = nullptr;

    bool operator<(const Listed& other) const { return name < other.name; }
};

/// Those of the page, and whether more come behind it.
template <class Item>
bool cut_to_page(std::vector<Listed<Item>>& all, const Page& page) {
    std::erase_if(all, [&](const Listed<Item>& one) {
        return !page.after.empty() && one.name <= page.after;
    });
    const auto limit = static_cast<std::size_t>(page.limit);
    const bool has_more = all.size() > limit;
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
    std::partial_sort(all.begin(), end, all.end());
    all.erase(end, all.end());
    return has_more;
}

template <class Item>
void write_next(JsonWriter& out, const std::vector<Listed<Item>>& shown, bool has_more) {
    out.key("next");
    if (has_more) {
        out.value(shown.back().name);
    } else {
        out.null();
    }
}

std::string_view state_of(const Workload& workload) {
    const bool is_done = std::ranges::all_of(
        workload.tasks, [](const Task& task) { return task.state == TaskState::finished; });
    return is_done ? "finished" : workload.is_running ? "runs" : "waits";
}

std::int64_t count_of(const Workload& workload, TaskState state) {
    return std::ranges::count(workload.tasks, state, &Task::state);
}

void write_head(JsonWriter& out, const Workload& workload) {
    out.member("workload", workload.name)
        .member("queue", workload.queue_name)
        .member("user", workload.user)
        .member("priority", workload.priority)
        .member("submitted", workload.order.submitted)
        .member("state", state_of(workload))
        .member("tasks", static_cast<std::int64_t>(workload.tasks.size()))
        .member("placed", count_of(workload, TaskState::placed))
        .member("leaving", count_of(workload, TaskState::leaving))
        .member("finished", count_of(workload, TaskState::finished));
}

void write_reason(JsonWriter& out, const Workload& workload) {
    out.key("reason");
    workload.reason == nullptr || workload.is_running ? static_cast<void>(out.null())
                                                      : muster::write(out, *workload.reason);
}

void write_node(JsonWriter& out, const World& world, const Machine& machine) {
    std::int64_t held = 0;
    for (const TaskRef& ref : machine.tasks) {
        held += world.workloads[ref.workload.value].tasks[ref.task].gpu_milli;
    }
    std::set<std::string_view> models;
    for (const GpuSpec& gpu : machine.spec.gpus) { models.insert(gpu.model); }
    out.begin_object()
        .member("node", machine.spec.name)
        .member("ready", machine.spec.is_ready)
        .member("cordoned", machine.spec.is_cordoned)
        .key("models")
        .begin_list();
    for (const std::string_view model : models) { out.value(model); }
    out.end_list()
        .member("gpus", static_cast<std::int64_t>(machine.spec.gpus.size()))
        .member("healthy", std::int64_t{std::popcount(machine.healthy)})
        .member("held_gpu_milli", held)
        .member("tasks", static_cast<std::int64_t>(machine.tasks.size()))
        .end_object();
}

}  // namespace

bool is_workload_state(std::string_view text) {
    return text == "waits" || text == "runs" || text == "finished";
}

std::string nodes_json(const World& world, const Page& page) {
    std::vector<Listed<Machine>> all;
    for (const Machine& machine : world.machines) {
        if (machine.is_present) { all.push_back({machine.spec.name, &machine}); }
    }
    const bool has_more = cut_to_page(all, page);
    JsonWriter out;
    out.begin_object().key("nodes").begin_list();
    for (const Listed<Machine>& one : all) { write_node(out, world, *one.item); }
    write_next(out.end_list(), all, has_more);
    return out.end_object().take() + '\n';
}

std::string workloads_json(const World& world, const WorkloadFilter& filter, const Page& page) {
    std::vector<Listed<Workload>> all;
    for (const Workload& workload : world.workloads) {
        if (!workload.is_present || workload.is_lease) { continue; }
        const std::string_view name = workload.name;
        const bool is_in_space =
            filter.space.empty() ||
            (name.starts_with(filter.space) && name.substr(filter.space.size()).starts_with('/'));
        if (is_in_space && (filter.queue.empty() || filter.queue == workload.queue_name) &&
            (filter.state.empty() || filter.state == state_of(workload))) {
            all.push_back({name, &workload});
        }
    }
    const bool has_more = cut_to_page(all, page);
    JsonWriter out;
    out.begin_object().key("workloads").begin_list();
    for (const Listed<Workload>& one : all) {
        write_head(out.begin_object(), *one.item);
        write_reason(out, *one.item);
        out.end_object();
    }
    write_next(out.end_list(), all, has_more);
    return out.end_object().take() + '\n';
}

std::string workload_json(const World& world, const WorkloadSpec& spec) {
    const Workload& workload = world.workloads[world.find_workload(spec.name).value];
    std::optional<Reason> reason;
    if (workload.is_waiting() && workload.reason != nullptr) { reason = *workload.reason; }
    if (workload.is_waiting() && !reason) {
        reason.emplace();
        reason->link = ChainLink::bind;
        reason->text = "is not decided yet";
    }
    std::vector<TaskPlace> places;
    for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
        const Task& task = workload.tasks[i];
        if (!task.holds()) { continue; }
        const NodeSpec& node = world.machines[task.node.value].spec;
        places.push_back({i, node.name, task.devices, node.is_counted});
    }
    JsonWriter out;
    write_head(out.begin_object(), workload);
    out.key("chain");
    write(out, chain_of(world, spec, reason));
    write_reason(out, workload);
    out.key("places").begin_object();
    muster::write(out, places);
    out.end_object();
    return out.end_object().take() + '\n';
}

}  // namespace muster::cli
