// What a request is about: the path of the Kubernetes API taken apart, and its query.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

using Query = std::map<std::string, std::string, std::less<>>;

struct RequestPath {
    std::vector<std::string> parts;  // decoded, without empty ones
    Query query;                     // the first of equal keys
};

/// "/api/v1/pods?watch=1"; none when an escape is broken.
std::optional<RequestPath> parse_target(std::string_view target);
/// All values of a key of the query, in their order; those with a broken escape are left out.
std::vector<std::string> query_values(std::string_view target, std::string_view key);
std::optional<std::string> decode_percent(std::string_view text, bool is_query);

/// What stands behind the group and version.
struct ResourcePath {
    std::string group;
    std::string version;
    std::string space;  // empty for all, or for what has none
    std::string plural;
    std::string name;         // empty for the collection
    std::string subresource;  // "status"
    bool is_watch = false;    // the old form /watch/
};

/// None when the path has no resource.
std::optional<ResourcePath> resource_path(const std::vector<std::string>& parts);

}  // namespace muster::lab
