// Any text as a script: no crash, no long work, and what it says is bounded.
#include "lab/fake_shell.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    muster::lab::ShellPlace place;
    place.host = "h";
    place.env = {{"A", "a"}, {"LONG", std::string(1'000, 'l')}};
    place.devices = {{.uuid = "GPU-1", .slice = ""}};
    const std::vector<std::string> command{"sh", "-c",
                                           std::string(reinterpret_cast<const char*>(data), size)};
    const muster::lab::ShellOutput found = muster::lab::run_fake_command(command, place);
    MUSTER_ASSERT(found.out.size() <= muster::lab::shell_output_bytes_max);
    MUSTER_ASSERT(found.err.size() <= muster::lab::shell_output_bytes_max);
    MUSTER_ASSERT(found.code >= 0 && found.code <= 255);
    MUSTER_ASSERT(!found.copies_input);
    return 0;
}
