#include "lab/limit_range.h"

#include "lab/metadata.h"
#include "lab/quantity.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// Each entry of each LimitRange of the namespace, in the order of their names.
void each_limit(std::string_view space, const ObjectStore& store,
                const std::function<void(const json::object&)>& take_one) {
    const std::string name(space);
    const auto& all = store.all("limitranges");
    for (auto at = all.lower_bound({name, ""}); at != all.end() && at->first.first == name; ++at) {
        const json::value range = json::parse(*at->second.text);
        const json::array* limits = kube::array_at(range.get_object(), "spec.limits");
        if (limits == nullptr) { continue; }
        for (const json::value& one : *limits) {
            if (one.is_object()) { take_one(one.get_object()); }
        }
    }
}

/// "cpu, memory request for container main"; empty when nothing was missing.
std::string fill_list(json::object& container, std::string_view which, std::string_view kind,
                      const json::object* defaults) {
    if (defaults == nullptr) { return {}; }
    std::string names;
    json::object& resources = child(container, "resources");
    for (const auto& [name, amount] : *defaults) {
        json::object& list = child(resources, which);
        if (list.contains(name)) { continue; }
        list[name] = amount;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", std::string_view(name));
    }
    if (names.empty()) { return {}; }
    return fmt::format("{} {} for {} {}", names, which == "limits" ? "limit" : "request", kind,
                       text_at(container, "name"));
}

struct Asked {
    std::string_view type;  // "Container", "Pod"
    ResourceList requests;
    ResourceList limits;
};

const Quantity* amount_in(const ResourceList& list, std::string_view name) {
    const auto at = list.find(name);
    return at == list.end() ? nullptr : &at->second;
}

void check_min(const Asked& asked, const std::string& name, const Quantity& least,
               std::vector<std::string>& out) {
    const std::string rule =
        fmt::format("minimum {} usage per {} is {}", name, asked.type, text_of(least));
    const Quantity* request = amount_in(asked.requests, name);
    const Quantity* limit = amount_in(asked.limits, name);
    if (request == nullptr) {
        out.push_back(rule + ".  No request is specified");
    } else if (*request < least) {
        out.push_back(fmt::format("{}, but request is {}", rule, text_of(*request)));
    } else if (limit != nullptr && *limit < least) {
        out.push_back(fmt::format("{}, but limit is {}", rule, text_of(*limit)));
    }
}

void check_max(const Asked& asked, const std::string& name, const Quantity& most,
               std::vector<std::string>& out) {
    const std::string rule =
        fmt::format("maximum {} usage per {} is {}", name, asked.type, text_of(most));
    const Quantity* request = amount_in(asked.requests, name);
    const Quantity* limit = amount_in(asked.limits, name);
    if (limit == nullptr) {
        out.push_back(rule + ".  No limit is specified");
    } else if (*limit > most) {
        out.push_back(fmt::format("{}, but limit is {}", rule, text_of(*limit)));
    } else if (request != nullptr && *request > most) {
        out.push_back(fmt::format("{}, but request is {}", rule, text_of(*request)));
    }
}

void check_ratio(const Asked& asked, const std::string& name, const Quantity& most,
                 std::vector<std::string>& out) {
    __extension__ using Wide = __int128;
    const std::string rule =
        fmt::format("{} max limit to request ratio per {} is {}", name, asked.type, text_of(most));
    const Quantity* request = amount_in(asked.requests, name);
    const Quantity* limit = amount_in(asked.limits, name);
    if (request == nullptr || request->milli == 0) {
        out.push_back(rule + ", but no request is specified or request is 0");
    } else if (limit == nullptr || limit->milli == 0) {
        out.push_back(rule + ", but no limit is specified or limit is 0");
    } else if (static_cast<Wide>(limit->milli) * 1'000 >
               static_cast<Wide>(most.milli) * request->milli) {
        out.push_back(
            fmt::format("{}, but provided ratio is {:f}", rule,
                        static_cast<double>(limit->milli) / static_cast<double>(request->milli)));
    }
}

void check_asked(const Asked& asked, const json::object& limit, std::vector<std::string>& out) {
    if (text_at(limit, "type") != asked.type) { return; }
    for (const auto& [name, amount] : read_list(limit.if_contains("min"))) {
        check_min(asked, name, amount, out);
    }
    for (const auto& [name, amount] : read_list(limit.if_contains("max"))) {
        check_max(asked, name, amount, out);
    }
    for (const auto& [name, amount] : read_list(limit.if_contains("maxLimitRequestRatio"))) {
        check_ratio(asked, name, amount, out);
    }
}

constexpr std::string_view container_lists[] = {"containers", "initContainers"};

}  // namespace

void fill_by_limit_ranges(json::object& pod, std::string_view space, const ObjectStore& store) {
    std::string told;
    const auto tell = [&](const std::string& what) {
        if (!what.empty()) { told += fmt::format("{}{}", told.empty() ? "" : "; ", what); }
    };
    each_limit(space, store, [&](const json::object& limit) {
        if (text_at(limit, "type") != "Container") { return; }
        for (const std::string_view list : container_lists) {
            json::object& spec = child(pod, "spec");
            if (!spec.contains(list)) { continue; }
            const std::string_view kind = list == "containers" ? "container" : "init container";
            for (json::value& one : children(spec, list)) {
                if (!one.is_object()) { continue; }
                json::object& container = one.get_object();
                tell(fill_list(container, "requests", kind,
                               kube::object_at(limit, "defaultRequest")));
                tell(fill_list(container, "limits", kind, kube::object_at(limit, "default")));
            }
        }
    });
    if (told.empty()) { return; }
    json::object& annotations = child(child(pod, "metadata"), "annotations");
    annotations["kubernetes.io/limit-ranger"] = "LimitRanger plugin set: " + told;
}

std::vector<std::string> check_limit_ranges(const json::object& pod, std::string_view space,
                                            const ObjectStore& store) {
    std::vector<std::string> out;
    const json::object* spec = kube::object_at(pod, "spec");
    if (spec == nullptr) { return out; }
    each_limit(space, store, [&](const json::object& limit) {
        for (const std::string_view list : container_lists) {
            const json::array* containers = kube::array_at(*spec, list);
            if (containers == nullptr) { continue; }
            for (const json::value& one : *containers) {
                if (!one.is_object()) { continue; }
                const json::object& container = one.get_object();
                check_asked({.type = "Container",
                             .requests = read_list(value_at(container, "resources.requests")),
                             .limits = read_list(value_at(container, "resources.limits"))},
                            limit, out);
            }
        }
        check_asked({.type = "Pod",
                     .requests = pod_amounts(*spec, "requests"),
                     .limits = pod_amounts(*spec, "limits")},
                    limit, out);
    });
    // Alike containers have one fault.
    std::vector<std::string> once;
    for (std::string& text : out) {
        if (std::find(once.begin(), once.end(), text) == once.end()) {
            once.push_back(std::move(text));
        }
    }
    return once;
}

}  // namespace muster::lab
