// What Muster does, in a minute: each block shows one idea, and each `[ok]` line is a check that
// was made. A check that fails prints `[no]`.
#pragma once

#include "cli/run.h"
#include "cli/table.h"

#include <string>
#include <string_view>

namespace muster::cli {

class Stage {
public:
    explicit Stage(Terminal& terminal) : terminal_(terminal), paint_(terminal.has_colour) {}

    void title(std::string_view text);
    void say(std::string_view text);
    /// One fact that the demonstration promises.
    void check(bool is_so, std::string_view text);
    void table(const Table& table);

    [[nodiscard]] const std::string& data_folder() const { return terminal_.data_folder; }
    [[nodiscard]] int checks() const { return checks_; }
    [[nodiscard]] int failures() const { return failures_; }
    [[nodiscard]] const Paint& paint() const { return paint_; }

private:
    Terminal& terminal_;
    Paint paint_;
    int titles_ = 0;
    int checks_ = 0;
    int failures_ = 0;
};

void show_gangs(Stage& stage);
void show_deadlock(Stage& stage);
void show_topology(Stage& stage);
void show_replay(Stage& stage);
void show_jobs(Stage& stage);

}  // namespace muster::cli
