#include "cli/progress.h"

#include <fmt/format.h>

#include <utility>

namespace muster::cli {

ProgressBar::ProgressBar(Terminal& terminal, std::string label)
    : terminal_(&terminal),
      label_(std::move(label)) {}

ProgressBar::~ProgressBar() {
    constexpr const char* wipe = "\r\x1b[K";
    if (terminal_->is_err_terminal && shown_percent_ <= 100) {
        terminal_->err << wipe << std::flush;
    }
}

void ProgressBar::show(std::size_t done, std::size_t all) {
    if (!terminal_->is_err_terminal || all == 0) { return; }
    const std::size_t percent = done * 100 / all;
    if (percent == shown_percent_) { return; }
    shown_percent_ = percent;
    constexpr std::size_t width = 25;
    std::string bar;
    for (std::size_t i = 0; i < width; ++i) { bar += i * 100 < percent * width ? "█" : "░"; }
    terminal_->err << fmt::format("\r{} {} {:3} %", label_, bar, percent) << std::flush;
}

}  // namespace muster::cli
