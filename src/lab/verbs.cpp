#include "lab/verbs.h"

namespace muster::lab {

namespace {

constexpr std::string_view all_verbs[] = {"create", "delete", "deletecollection", "get",
                                          "list",   "patch",  "update",           "watch"};
constexpr std::string_view of_namespaces[] = {"create", "delete", "get",  "list",
                                              "patch",  "update", "watch"};
constexpr std::string_view create_only[] = {"create"};
constexpr std::string_view of_state[] = {"get", "patch", "update"};
constexpr std::string_view of_log[] = {"get"};
constexpr std::string_view of_stream[] = {"create", "get"};
constexpr std::string_view of_finalize[] = {"update"};

}  // namespace

std::span<const std::string_view> verbs_of(const ResourceType& type) {
    if (type.is_create_only) { return create_only; }
    if (type.group.empty() && type.plural == "namespaces") { return of_namespaces; }
    return all_verbs;
}

std::span<const std::string_view> verbs_of_subresource(std::string_view subresource) {
    if (subresource == "binding" || subresource == "eviction") { return create_only; }
    if (subresource == "log") { return of_log; }
    if (subresource == "finalize") { return of_finalize; }
    if (subresource == "exec" || subresource == "attach" || subresource == "portforward") {
        return of_stream;
    }
    return of_state;
}

ResourceKind kind_of_subresource(const ResourceType& type, std::string_view subresource) {
    if (subresource == "scale") { return {"autoscaling", "v1", "Scale"}; }
    if (subresource == "eviction") { return {"policy", "v1", "Eviction"}; }
    if (subresource == "binding") { return {"", "v1", "Binding"}; }
    if (subresource == "exec") { return {"", "v1", "PodExecOptions"}; }
    if (subresource == "attach") { return {"", "v1", "PodAttachOptions"}; }
    if (subresource == "portforward") { return {"", "v1", "PodPortForwardOptions"}; }
    return {type.group, type.version, type.kind};
}

}  // namespace muster::lab
