// What the lab serves: the resources that are built in, and those that CustomResourceDefinitions
// add. Discovery, paths and tables are made from this.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct ResourceType {
    std::string group;  // "" = core
    std::string version;
    std::string kind;
    std::string plural;
    std::string singular;
    std::vector<std::string> short_names;
    std::vector<std::string> categories;
    bool is_namespaced = true;
    std::vector<std::string> subresources;  // "status", "scale", "binding", "eviction", "log", …
    bool is_custom = false;
    bool is_create_only = false;  // a question that is answered, not kept: SelfSubjectAccessReview

    [[nodiscard]] std::string api_version() const {
        return group.empty() ? version : group + "/" + version;
    }
    [[nodiscard]] bool has(std::string_view subresource) const;
};

/// In the order in which they are preferred. Volcano's groups stand before the upstream one with
/// the same short names, for its users type `podgroup`.
std::span<const ResourceType> built_in_resources();

}  // namespace muster::lab
