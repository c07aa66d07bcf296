#include "cli/parse.h"
#include "cli/tell.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"

#include <fmt/format.h>

namespace muster::cli {

namespace {

std::string join_options(const Verb& verb) {
    std::string out;
    for (const std::string& option : verb.options) { out += (out.empty() ? "" : " ") + option; }
    return out;
}

std::string words_below(const std::vector<Verb>& all, std::string_view prefix) {
    std::string out;
    std::string last;
    for (const Verb& verb : all) {
        if (!verb.name.starts_with(prefix)) { continue; }
        std::string word = verb.name.substr(prefix.size());
        word.resize(std::min(word.find(' '), word.size()));
        if (word == last) { continue; }
        out += (out.empty() ? "" : " ") + word;
        last = word;
    }
    return out;
}

/// A case for each verb that has verbs below it.
std::string verbs_with_verbs(const std::vector<Verb>& all) {
    std::string out;
    std::string last;
    for (const Verb& verb : all) {
        const std::size_t blank = verb.name.find(' ');
        if (blank == std::string::npos || verb.name.substr(0, blank) == last) { continue; }
        last = verb.name.substr(0, blank);
        out += fmt::format("        {}) words=\"{}\" ;;\n", last, words_below(all, last + " "));
    }
    return out;
}

std::string bash(const std::vector<Verb>& all) {
    std::string cases;
    for (const Verb& verb : all) {
        cases += fmt::format("        \"{}\") words=\"{}\" ;;\n", verb.name, join_options(verb));
    }
    return fmt::format(R"(# muster completion for bash: source <(muster completion bash)
_muster() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" words=""
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "{}" -- "$current"))
        return
    fi
    case "$verb" in
{}    esac
    if [[ -n $words ]]; then
        if ((COMP_CWORD == 2)); then
            COMPREPLY=($(compgen -W "$words" -- "$current"))
            return
        fi
        verb="$verb ${{COMP_WORDS[2]}}"
        words=""
    fi
    case "$verb" in
{}    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    elif [[ $verb == completion ]]; then
        COMPREPLY=($(compgen -W "bash zsh fish" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F _muster muster
)",
                       words_below(all, ""), verbs_with_verbs(all), cases);
}

std::string fish(const std::vector<Verb>& all) {
    std::string out = "# muster completion for fish: muster completion fish | source\n";
    for (const Verb& verb : all) {
        const std::size_t blank = verb.name.find(' ');
        if (blank == std::string::npos) {
            out += fmt::format("complete -c muster -n __fish_use_subcommand -a {} -d '{}'\n",
                               verb.name, verb.about);
        } else {
            out += fmt::format(
                "complete -c muster -n '__fish_seen_subcommand_from {}' -a {} -d '{}'\n",
                verb.name.substr(0, blank), verb.name.substr(blank + 1), verb.about);
        }
        const std::string last =
            blank == std::string::npos ? verb.name : verb.name.substr(blank + 1);
        for (const std::string& option : verb.options) {
            const bool is_long = option.starts_with("--");
            out += fmt::format("complete -c muster -n '__fish_seen_subcommand_from {}' {} {}\n",
                               last, is_long ? "-l" : "-s", option.substr(is_long ? 2 : 1));
        }
    }
    return out;
}

}  // namespace

std::string version_json() {
    JsonWriter out;
    out.begin_object().member("version", MUSTER_VERSION).end_object();
    return out.take() + '\n';
}

Result<int> run_verb(const VersionOptions& options, Terminal& terminal) {
    if (options.format == Format::json) {
        terminal.out << version_json();
    } else {
        terminal.out << "muster " << MUSTER_VERSION << '\n';
    }
    return exit_good;
}

Result<int> run_verb(const CompletionOptions& options, Terminal& terminal) {
    const std::vector<Verb> all = verbs();
    if (options.shell == "fish") {
        terminal.out << fish(all);
    } else if (options.shell == "zsh") {
        terminal.out << "autoload -U +X bashcompinit && bashcompinit\n" << bash(all);
    } else {
        terminal.out << bash(all);
    }
    return exit_good;
}

}  // namespace muster::cli
