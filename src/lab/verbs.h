// What can be done with a resource and with each of its subresources. Discovery and OpenAPI say it.
#pragma once

#include "lab/resources.h"

#include <span>
#include <string_view>

namespace muster::lab {

struct ResourceKind {
    std::string_view group;
    std::string_view version;
    std::string_view kind;
};

/// "create", "get", …
std::span<const std::string_view> verbs_of(const ResourceType& type);
std::span<const std::string_view> verbs_of_subresource(std::string_view subresource);
/// The kind that a subresource takes or gives: Eviction, Scale, or that of the resource.
ResourceKind kind_of_subresource(const ResourceType& type, std::string_view subresource);

}  // namespace muster::lab
