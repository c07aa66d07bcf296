// What a command would say in a container of the lab, where nothing runs: a few commands are
// imitated, alone or joined in `sh -c`, and any other ends with 127 and a word about that. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

/// What a container sees of its world.
struct ShellPlace {
    struct Device {
        std::string uuid;
        std::string slice;  // "1g.10gb" of a GPU that is cut; empty for a whole one
    };

    std::string host;
    std::map<std::string, std::string, std::less<>> env;
    std::string product;          // "NVIDIA H100 80GB HBM3"
    std::int64_t memory_mib = 0;  // of a whole GPU; 0 = not known
    std::vector<Device> devices;
};

struct ShellOutput {
    std::string out;
    std::string err;
    int code = 0;
    bool copies_input = false;  // `cat`: what comes goes out, until it ends
};

inline constexpr std::size_t shell_output_bytes_max = std::size_t{1} << 20;

ShellOutput run_fake_command(std::span<const std::string> command, const ShellPlace& place);

}  // namespace muster::lab
