#include "lab/fake_shell.h"

#include "base/text.h"
#include "lab/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace muster::lab {

namespace {

constexpr int shells_max = 8;  // one within the other

// Exit codes of shells and of nvidia-smi.
constexpr int wrong_use = 2;
constexpr int no_device = 6;
constexpr int no_command = 127;

using Words = std::vector<std::string>;

/// A command of a script, and when it runs.
struct ScriptStep {
    enum class When : std::uint8_t { always, after_good, after_bad };
    When when = When::always;
    std::string text;
};

bool is_name_letter(char c, bool is_first) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!is_first && c >= '0' && c <= '9');
}

/// At `;`, `&&`, `||` and ends of lines outside of quotes; none for what only a real shell can do.
std::optional<std::vector<ScriptStep>> steps_of(std::string_view script) {
    std::vector<ScriptStep> steps(1);
    char quote = 0;
    bool is_in_braces = false;  // "${NAME}"
    for (std::size_t i = 0; i < script.size(); ++i) {
        const char c = script[i];
        const char next = i + 1 < script.size() ? script[i + 1] : '\0';
        if (quote != 0) {
            if (c == quote) { quote = 0; }
            if (quote == '"' && (c == '`' || (c == '$' && next == '('))) { return std::nullopt; }
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == ';' || c == '\n') {
            steps.emplace_back();
            continue;
        } else if ((c == '&' || c == '|') && c == next) {
            using When = ScriptStep::When;
            steps.push_back({.when = c == '&' ? When::after_good : When::after_bad, .text = {}});
            ++i;
            continue;
        } else if (std::string_view("&|<>()`*?[{}#~").find(c) != std::string_view::npos) {
            const bool is_variable = (c == '{' || c == '?') && i > 0 && script[i - 1] == '$';
            if (!is_variable && !(c == '}' && is_in_braces)) { return std::nullopt; }
            is_in_braces = c == '{';
        } else if (c == '$' && next == '(') {
            return std::nullopt;
        }
        if (c == '\\' && quote != '\'' && i + 1 < script.size()) {
            steps.back().text += c;
            ++i;
        }
        steps.back().text += script[i];
    }
    if (quote != 0) { return std::nullopt; }
    return steps;
}

class Shell {
public:
    explicit Shell(const ShellPlace& place) : place_(place) {}

    ShellOutput run(std::span<const std::string> command) {
        out_.code = run_words(command);
        return std::move(out_);
    }

private:
    int run_words(std::span<const std::string> words) {
        if (words.empty()) { return 0; }
        const std::string_view name = base_name(words[0]);
        const auto rest = words.subspan(1);
        if (name == "true" || name == ":" || name == "sleep") { return 0; }
        if (name == "false") { return 1; }
        if (name == "echo") { return echo(rest); }
        if (name == "hostname") { return say(place_.host + '\n'); }
        if (name == "env" || name == "printenv") { return print_env(rest); }
        if (name == "nvidia-smi") { return nvidia_smi(rest); }
        if (name == "cat" && rest.empty() && level_ == 0) {
            out_.copies_input = true;
            return 0;
        }
        const bool is_shell = name == "sh" || name == "bash" || name == "ash" || name == "dash";
        if (is_shell && rest.size() >= 2 && rest[0].starts_with('-') && rest[0].ends_with('c')) {
            return run_script(rest[1]);
        }
        return unknown(name);
    }

    int unknown(std::string_view what) {
        complain(
            fmt::format("{}: no container runs here. The lab imitates cat, echo, env, false, "
                        "hostname, nvidia-smi, sleep, true, and sh -c with these\n",
                        what));
        return no_command;
    }

    int run_script(std::string_view script) {
        if (level_ >= shells_max) { return unknown("sh"); }
        const auto steps = steps_of(script);
        if (!steps) { return unknown("sh"); }
        ++level_;
        int code = 0;
        for (const ScriptStep& step : *steps) {
            if (step.when == ScriptStep::When::after_good && code != 0) { continue; }
            if (step.when == ScriptStep::When::after_bad && code == 0) { continue; }
            const Words words = words_of(step.text, code);
            if (words.empty()) { continue; }
            if (words[0] == "exec" && words.size() > 1) {
                code = run_words(std::span(words).subspan(1));
                break;
            }
            if (words[0] == "exit") {
                const auto wanted =
                    words.size() > 1 ? parse_int(words[1]) : Result<std::int64_t>(code);
                code = wanted ? static_cast<int>(*wanted & 0xff) : wrong_use;
                break;
            }
            code = run_words(words);
        }
        --level_;
        return code;
    }

    /// Quotes taken away, variables put in; these are not split again.
    Words words_of(std::string_view text, int code) {
        Words words;
        std::string word;
        bool is_word = false;
        char quote = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (quote == 0 && (c == ' ' || c == '\t' || c == '\r')) {
                if (is_word) { words.push_back(std::move(word)); }
                word.clear();
                is_word = false;
                continue;
            }
            is_word = true;
            if (quote == 0 && (c == '\'' || c == '"')) {
                quote = c;
            } else if (quote != 0 && c == quote) {
                quote = 0;
            } else if (c == '$' && quote != '\'') {
                put_variable(text, i, code, word);
            } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
                word += text[++i];
            } else {
                word += c;
            }
        }
        if (is_word) { words.push_back(std::move(word)); }
        return words;
    }

    /// `$NAME`, `${NAME}` or `$?`; `at` is left on its last letter.
    void put_variable(std::string_view text, std::size_t& at, int code, std::string& word) {
        const bool has_brace = at + 1 < text.size() && text[at + 1] == '{';
        const std::size_t begin = at + (has_brace ? 2 : 1);
        if (begin < text.size() && text[begin] == '?' && !has_brace) {
            word += std::to_string(code);
            at = begin;
            return;
        }
        std::size_t end = begin;
        while (end < text.size() && is_name_letter(text[end], end == begin)) { ++end; }
        if (end == begin) {
            word += '$';
            return;
        }
        if (const std::string* value = variable(text.substr(begin, end - begin))) {
            word.append(*value, 0, room_);
            room_ -= std::min(room_, value->size());
        }
        at = has_brace && end < text.size() && text[end] == '}' ? end : end - 1;
    }

    [[nodiscard]] const std::string* variable(std::string_view name) const {
        const auto found = place_.env.find(name);
        if (found != place_.env.end()) { return &found->second; }
        return name == "HOSTNAME" ? &place_.host : nullptr;
    }

    int echo(std::span<const std::string> words) {
        const bool has_end = words.empty() || words[0] != "-n";
        std::string line;
        for (const std::string& word : has_end ? words : words.subspan(1)) {
            line += (line.empty() ? "" : " ") + word;
            if (line.size() > shell_output_bytes_max) { break; }
        }
        return say(line + (has_end ? "\n" : ""));
    }

    int print_env(std::span<const std::string> names) {
        for (const std::string& name : names) {
            const std::string* value = variable(name);
            if (value == nullptr) { return 1; }
            say(*value + '\n');
        }
        if (!names.empty()) { return 0; }
        if (!place_.env.contains("HOSTNAME")) { say(fmt::format("HOSTNAME={}\n", place_.host)); }
        for (const auto& [name, value] : place_.env) { say(fmt::format("{}={}\n", name, value)); }
        return 0;
    }

    int nvidia_smi(std::span<const std::string> options) {
        if (options.size() > 1 || (options.size() == 1 && options[0] != "-L")) {
            complain("nvidia-smi: the lab knows it without options and with -L\n");
            return wrong_use;
        }
        if (place_.devices.empty()) {
            say("No devices were found\n");
            return no_device;
        }
        const bool is_list = !options.empty();
        if (!is_list) { say(fmt::format("fake GPUs of the lab, in {}\n", place_.host)); }
        std::size_t number = 0;
        for (const ShellPlace::Device& device : place_.devices) {
            const std::string name = device.slice.empty()
                                         ? place_.product
                                         : fmt::format("{} MIG {}", place_.product, device.slice);
            if (is_list) {
                say(fmt::format("GPU {}: {} (UUID: {})\n", number, name, device.uuid));
            } else {
                const std::string memory = place_.memory_mib == 0 || !device.slice.empty()
                                               ? "-"
                                               : fmt::format("{}MiB", place_.memory_mib);
                say(fmt::format("| {:>2} | {:<36} | 0MiB / {:>9} |   0% |\n", number, name,
                                memory));
            }
            ++number;
        }
        return 0;
    }

    int say(std::string_view text) { return put(out_.out, text); }
    void complain(std::string_view text) { put(out_.err, text); }

    static int put(std::string& into, std::string_view text) {
        into +=
            text.substr(0, shell_output_bytes_max - std::min(shell_output_bytes_max, into.size()));
        return 0;
    }

    const ShellPlace& place_;
    ShellOutput out_;
    int level_ = 0;
    std::size_t room_ = shell_output_bytes_max;  // for what stands in for variables
};

}  // namespace

ShellOutput run_fake_command(std::span<const std::string> command, const ShellPlace& place) {
    return Shell(place).run(command);
}

}  // namespace muster::lab
