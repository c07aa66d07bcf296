// The reader of scenario text: what it has seen so far, so that `set b gpu=8` and a misspelt
// name are told at their line. Lives inside scenario*.cpp only.
#pragma once

#include "codec/scenario.h"
#include "codec/scenario_specs.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::scenario {

/// One line that says something.
struct Line {
    std::size_t number = 0;
    std::size_t indent = 0;
    std::vector<Word> words;
};

/// `train` or `train/3`.
struct Subject {
    std::string workload;
    bool is_task = false;
    std::uint32_t task = 0;
};

class Reader {
public:
    Result<> read(std::string_view text);
    [[nodiscard]] std::size_t line() const { return line_; }
    Scenario take() { return std::move(scenario_); }

private:
    using Words = std::span<const Word>;

    Result<> read_line(const Line& line);
    Result<bool> read_declaration(Words words, std::string_view how);
    Result<bool> read_change(Words words);
    Result<bool> read_run(Words words);

    Result<> read_levels(Words words);
    Result<> read_node(Words words, bool is_replacing);
    Result<> read_queue(Words words, bool is_replacing);
    Result<> read_lease(Words words);
    Result<> read_workload(Words words, bool is_replacing);
    Result<> read_group(const Line& line);
    Result<> end_workload();
    Result<> read_policy_mix(Words words);

    Result<> read_set(Words words);
    Result<> set_node(Words words);
    Result<> set_queue(Words words);
    Result<> set_workload(Words words);
    Result<> read_health(Words words, bool is_healthy);
    Result<> read_cordon(Words words, bool is_cordoned);
    Result<> read_delete(Words words);
    Result<> read_task_gone(Words words, bool is_finished);
    Result<> read_bind(Words words);
    Result<> read_time(Words words);
    Result<> read_cycle(Words words);
    Result<> read_show(Words words);
    Result<> read_golden(std::string_view line);

    Result<> read_expect(Words words);
    Result<> read_expect_runs(const std::vector<Subject>& subjects, Words words);
    Result<> read_expect_tasks(const std::vector<Subject>& subjects, Words words);
    Result<> read_expect_waits(const std::vector<Subject>& subjects, Words words);

    Result<> declare(WorkloadSpec workload);
    Result<> check_queue_tree(const QueueSpec& queue) const;
    Result<std::vector<std::string>> known_nodes(const Word& word) const;
    Result<std::vector<Subject>> read_subjects(const Word& word, bool is_alive) const;
    void add(Action action);

    std::size_t line_ = 0;
    Scenario scenario_;
    std::vector<Level> levels_;
    bool has_levels_ = false;
    std::map<std::string, NodeSpec> nodes_;
    std::map<std::string, QueueSpec> queues_ = {{"default", QueueSpec{.name = "default"}}};
    std::map<std::string, LeaseSpec> leases_;
    std::map<std::string, WorkloadSpec> workloads_;  // the last word on each, gone ones too
    std::set<std::string> alive_;                    // of workloads_
    std::int64_t now_ = 0;
    bool has_cycled_ = false;

    /// The gang whose indented lines are being read.
    struct OpenGroup {
        std::size_t index = 0;
        std::size_t indent = 0;
        std::size_t child_indent = 0;  // 0 = no child yet
    };
    struct OpenWorkload {
        std::vector<std::string> names;
        std::vector<Word> words;  // of the head, without the name
        std::size_t line = 0;
        std::vector<GroupSpec> groups;  // without the root
        std::vector<bool> is_leaf;
        std::vector<OpenGroup> path;
        bool is_replacing = false;
    };
    std::optional<OpenWorkload> open_;
    bool may_have_golden_ = false;  // the line before was `show` or a `|` line of it
};

/// Reads `gpus=0,1`, `mig=0:4,1:0` and `numa=0` of a task's devices; true when it was one.
Result<bool> read_devices(ExpectTask& devices, const Attribute& attribute);
std::string write_devices(const ExpectTask& devices);

}  // namespace muster::scenario
