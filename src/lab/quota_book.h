// All ResourceQuotas with what is used of them. Usage follows the store write by write, so that
// the API refuses the very object that would be too many, and nobody counts anew. The API asks
// `refusal` before it makes an object and calls `settle` after each request, which writes
// status.hard and status.used of the quotas that changed.
#pragma once

#include "lab/object_store.h"
#include "lab/quota_usage.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace muster::lab {

class QuotaBook {
public:
    explicit QuotaBook(ObjectStore& store);
    ~QuotaBook();
    QuotaBook(const QuotaBook&) = delete;
    QuotaBook& operator=(const QuotaBook&) = delete;

    /// Why there may be no such object more; empty when there may. `resource` is the storage name.
    [[nodiscard]] std::string refusal(std::string_view resource, std::string_view space,
                                      const boost::json::object& object) const;
    /// What the disk does not take is written the next time.
    void settle();

private:
    struct Quota {
        QuotaSpec spec;
        ResourceList used;
    };

    bool write_status(const Key& key);
    void notice(std::string_view resource, const StoreEvent& event);
    void read(const Key& key, const boost::json::object& quota);
    void count(Quota& quota, std::string_view resource, const std::string& text, bool is_taken);

    ObjectStore& store_;
    std::uint64_t listener_ = 0;
    std::map<Key, Quota> quotas_;
    std::set<Key> changed_;
};

}  // namespace muster::lab
