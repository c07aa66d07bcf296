#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace muster::lab::volcano {

namespace json = boost::json;

std::string_view text_or(const json::object& object, std::string_view path,
                         std::string_view otherwise) {
    const std::string_view text = text_at(object, path);
    return text.empty() ? otherwise : text;
}

Owner owner_of(const json::object& object) {
    const json::array* owners = array_at(object, "metadata.ownerReferences");
    if (owners == nullptr) { return {}; }
    for (const json::value& value : *owners) {
        const json::object* owner = value.if_object();
        if (owner == nullptr || text_at(*owner, "kind") != "Job" ||
            !text_at(*owner, "apiVersion").starts_with("batch.volcano.sh/")) {
            continue;
        }
        return {.name = std::string(text_at(*owner, "name")),
                .uid = std::string(text_at(*owner, "uid"))};
    }
    return {};
}

json::array owned_by(const json::object& job) {
    // What comes out of a list need not say what it is.
    return {json::object{{"apiVersion", "batch.volcano.sh/v1alpha1"},
                         {"kind", "Job"},
                         {"name", text_at(job, "metadata.name")},
                         {"uid", uid_of(job)},
                         {"controller", true},
                         {"blockOwnerDeletion", true}}};
}

std::int64_t time_of(std::string_view text) {
    return std::max<std::int64_t>(0, kube::read_time(text));
}

std::string duration_text(std::int64_t milliseconds) {
    const std::int64_t seconds = std::max<std::int64_t>(milliseconds, 0) / 1000;
    std::string out;
    if (seconds >= 3600) { out += fmt::format("{}h", seconds / 3600); }
    if (seconds >= 60) { out += fmt::format("{}m", seconds / 60 % 60); }
    return out + fmt::format("{}s", seconds % 60);
}

std::int64_t duration_of(std::string_view text) {
    double total = 0;
    while (!text.empty()) {
        double count = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        if (error != std::errc() || !(count >= 0) || count > 1e9) { return 0; }
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.starts_with("ms")) {
            total += count;
            text.remove_prefix(2);
            continue;
        }
        if (text.empty()) { return 0; }
        switch (text.front()) {
            case 'h': total += count * 3'600'000; break;
            case 'm': total += count * 60'000; break;
            case 's': total += count * 1'000; break;
            default: return 0;
        }
        text.remove_prefix(1);
    }
    return static_cast<std::int64_t>(std::llround(std::min(total, 1e15)));
}

}  // namespace muster::lab::volcano
