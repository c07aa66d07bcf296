// Amounts in one unit each: milli-CPU, bytes, whole counts of named resources. GPUs are devices
// (see node.h and task.h), never a named resource here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

struct Amount {
    std::string name;  // "rdma/hca", "nvidia.com/mig-1g.10gb" of a fixed layout, "hugepages-2Mi" …
    std::int64_t count = 0;

    bool operator==(const Amount&) const = default;
};

struct Resources {
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;       // bytes
    std::vector<Amount> extended;  // names are unique

    bool operator==(const Resources&) const = default;
};

struct Label {
    std::string key;
    std::string value;

    bool operator==(const Label&) const = default;
};

}  // namespace muster
