// The command line, read by CLI11 inside of parse.cpp.
#pragma once

#include "cli/options.h"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace muster::cli {

/// Help that was asked for (code 0), or what is wrong with the words (code 2).
struct Stop {
    int code = 0;
    std::string text;
};

std::variant<Options, Stop> parse(std::span<const std::string> words);

/// Every subcommand with its options, for completion: "plan" → "--cluster -f …".
struct Verb {
    std::string name;  // "sim placement"
    std::string about;
    std::vector<std::string> options;
};
std::vector<Verb> verbs();

}  // namespace muster::cli
