// Shares of some nodes' capacity over time, exactly: what was in use, and what was free beside it.
// In thousandths of a GPU or processor, times milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::sim {

class Occupancy {
public:
    /// A node may get another size; 0 is one that is gone.
    void set_size(std::int64_t at, std::size_t node, std::int64_t milli);
    void use(std::int64_t at, std::size_t node, std::int64_t milli);  // may be negative

    /// Of the capacity there was, until the last change.
    [[nodiscard]] double used_share() const { return share(used_area_); }
    /// Free on nodes that are partly in use.
    [[nodiscard]] double fragmented_share() const { return share(fragmented_area_); }

private:
    struct Node {
        std::int64_t size = 0;
        std::int64_t used = 0;

        [[nodiscard]] std::int64_t fragmented() const {
            return used > 0 && used < size ? size - used : 0;
        }
    };

    void advance(std::int64_t at);
    /// Takes its part of the sums away, or puts it back.
    void count(const Node& node, std::int64_t sign);
    [[nodiscard]] double share(__int128 area) const;

    std::vector<Node> nodes_;
    std::int64_t now_ = 0;
    std::int64_t size_ = 0;  // sums over the nodes, now
    std::int64_t used_ = 0;
    std::int64_t fragmented_ = 0;
    __int128 size_area_ = 0;
    __int128 used_area_ = 0;
    __int128 fragmented_area_ = 0;
};

}  // namespace muster::sim
