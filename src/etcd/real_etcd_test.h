// Tests only: the real etcd of $MUSTER_KUBE_DIR on free ports of loopback, with its data in memory
// where the system has such a folder.
#pragma once

#include "etcd/address.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace muster::etcd {

class RealEtcd {
public:
    /// Where it is; none when MUSTER_KUBE_DIR is not set or has no etcd.
    static std::optional<std::string> program();
    /// Ready to be asked; null when it can't be started.
    static std::unique_ptr<RealEtcd> start(bool is_synced = false);
    ~RealEtcd();
    RealEtcd(const RealEtcd&) = delete;
    RealEtcd& operator=(const RealEtcd&) = delete;

    [[nodiscard]] Address address(const std::string& prefix) const;

private:
    RealEtcd() = default;
    bool begin(bool is_synced);

    std::string folder_;
    std::uint16_t port_ = 0;
    int process_ = 0;
};

}  // namespace muster::etcd
