#include "lab/run_plan.h"

#include "base/text.h"
#include "kube/objects.h"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::int64_t run_max = std::int64_t{100} * 365 * 24 * 3600 * 1000;

std::int32_t read_exit(std::string_view text) {
    const auto code = parse_int(text);
    return code ? static_cast<std::int32_t>(*code & 0xff) : 0;
}

/// Words, with what separates commands as a word ";" of its own.
std::vector<std::string> script_words(std::string_view script) {
    std::vector<std::string> out;
    std::string word;
    char quote = 0;
    const auto end_word = [&] {
        if (!word.empty()) { out.push_back(std::move(word)); }
        word.clear();
    };
    for (const char c : script) {
        if (quote != 0) {
            if (c == quote) {
                quote = 0;
            } else {
                word += c;
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
            word += '\x01';  // a quoted word is no command
        } else if (c == ';' || c == '\n' || c == '&' || c == '|' || c == '(' || c == ')') {
            end_word();
            out.emplace_back(";");
        } else if (c == ' ' || c == '\t' || c == '\r') {
            end_word();
        } else {
            word += c;
        }
    }
    end_word();
    return out;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> all) {
    return std::find(all.begin(), all.end(), word) != all.end();
}

bool is_shell(std::string_view word) {
    return is_one_of(base_name(word), {"sh", "bash", "ash", "dash", "zsh"});
}

bool is_shell_option(std::string_view word) {
    return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.back() == 'c';
}

}  // namespace

std::string_view base_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<std::int64_t> read_duration(std::string_view text) {
    std::int64_t unit = 1;
    if (!text.empty()) {
        switch (text.back()) {
            case 's': unit = 1; break;
            case 'm': unit = 60; break;
            case 'h': unit = 3600; break;
            case 'd': unit = 86'400; break;
            default: unit = 0;
        }
        if (unit == 0) {
            unit = 1;
        } else {
            text.remove_suffix(1);
        }
    }
    if (text.find_first_not_of("0123456789.") != std::string_view::npos) { return {}; }
    const auto milli = parse_quantity_milli(text);
    if (!milli || *milli < 0 || *milli > run_max / unit) { return {}; }
    return *milli * unit;
}

RunPlan plan_of_script(std::string_view script) {
    RunPlan plan{.milliseconds = 0, .exit_code = 0};
    bool is_known = true;  // every command is one that takes no time
    bool has_sleep = false;
    bool is_command = true;  // the next word is one
    const std::vector<std::string> all = script_words(script);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string_view word = base_name(all[i]);
        const std::string_view next = i + 1 < all.size() ? std::string_view(all[i + 1]) : ";";
        if (word == ";") {
            is_command = true;
            continue;
        }
        if (!is_command) { continue; }
        if (is_one_of(word, {"exec", "then", "else", "do", "time"})) { continue; }
        is_command = false;
        if (is_one_of(word, {"while", "until", "for"})) { return {}; }
        if (word == "sleep") {
            has_sleep = true;
            const auto time = read_duration(next);
            if (!time) { return {}; }
            plan.milliseconds = std::min(*plan.milliseconds + *time, run_max);
        } else if (word == "exit") {
            plan.exit_code = read_exit(next);
            return plan;
        } else if (word == "false") {
            plan.exit_code = 1;
            continue;
        } else if (!is_one_of(word, {"echo", "true", "printf", "date", "hostname", "env", "set",
                                     "export", "cd", ":", "nvidia-smi", "id", "uname", "ls"})) {
            is_known = false;
        }
        plan.exit_code = 0;
    }
    if (!has_sleep && (!is_known || all.empty())) { return {}; }
    return plan;
}

RunPlan plan_of_container(const json::object& container) {
    std::vector<std::string_view> line;
    for (const char* part : {"command", "args"}) {
        const json::array* list = kube::array_at(container, part);
        if (list == nullptr) { continue; }
        for (const json::value& word : *list) {
            if (const json::string* text = word.if_string()) { line.emplace_back(*text); }
        }
    }
    if (line.empty()) { return {}; }
    if (is_shell(line[0])) {
        for (std::size_t i = 1; i + 1 < line.size(); ++i) {
            if (is_shell_option(line[i])) { return plan_of_script(line[i + 1]); }
        }
        return {};
    }
    std::string joined;  // quotes keep an argument from being read as a command
    for (const std::string_view word : line) {
        const bool is_plain = word.find_first_of(" \t\r\n;&|()'\"") == std::string_view::npos;
        joined += is_plain ? std::string(word) : "\"\"";
        joined += ' ';
    }
    return plan_of_script(joined);
}

RunPlan plan_of_run(const json::object& pod, const json::object& container) {
    RunPlan plan = plan_of_container(container);
    const std::string_view seconds = kube::annotation_of(pod, "lab.muster/run-seconds");
    if (!seconds.empty()) { plan.milliseconds = read_duration(seconds); }
    const std::string_view code = kube::annotation_of(pod, "lab.muster/exit-code");
    if (!code.empty()) { plan.exit_code = read_exit(code); }
    return plan;
}

}  // namespace muster::lab
