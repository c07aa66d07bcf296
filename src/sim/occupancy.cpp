#include "sim/occupancy.h"

namespace muster::sim {

void Occupancy::set_size(std::int64_t at, std::size_t node, std::int64_t milli) {
    advance(at);
    if (node >= nodes_.size()) { nodes_.resize(node + 1); }
    count(nodes_[node], -1);
    nodes_[node].size = milli;
    count(nodes_[node], 1);
}

void Occupancy::use(std::int64_t at, std::size_t node, std::int64_t milli) {
    if (milli == 0) { return; }
    advance(at);
    count(nodes_[node], -1);
    nodes_[node].used += milli;
    count(nodes_[node], 1);
}

void Occupancy::advance(std::int64_t at) {
    const __int128 span = at - now_;
    size_area_ += span * size_;
    used_area_ += span * used_;
    fragmented_area_ += span * fragmented_;
    now_ = at;
}

void Occupancy::count(const Node& node, std::int64_t sign) {
    size_ += sign * node.size;
    used_ += sign * node.used;
    fragmented_ += sign * node.fragmented();
}

double Occupancy::share(__int128 area) const {
    return size_area_ > 0 ? static_cast<double>(area) / static_cast<double>(size_area_) : 0;
}

}  // namespace muster::sim
