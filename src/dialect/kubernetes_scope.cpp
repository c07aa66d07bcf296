#include "dialect/kubernetes_scope.h"

#include "base/text.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace muster::dialect {

std::string Warning::message() const {
    std::string out = fmt::format("{}: {}", place.text(), text);
    if (count > 1) { out += fmt::format(" ({} times)", count); }
    return out;
}

bool Scope::is_ours(std::string_view scheduler) const {
    return schedulers == nullptr || scheduler.empty() ||
           std::find(schedulers->begin(), schedulers->end(), scheduler) != schedulers->end();
}

void Notes::add(const Field& field, std::string text) {
    const auto found = index_.find(text);
    if (found != index_.end()) {
        ++all_[found->second].count;
        return;
    }
    add(field.place(), std::move(text));
}

void Notes::add(Place place, std::string text) {
    const auto [found, is_new] = index_.emplace(text, all_.size());
    if (!is_new) {
        ++all_[found->second].count;
        return;
    }
    all_.push_back({std::move(place), std::move(text), 1});
}

void Notes::add_fault(const Field& field, std::string text) {
    add(field, text);
    all_[index_.at(text)].is_fault = true;
}

std::string namespace_of(const Field& metadata) {
    const Field field = metadata["namespace"];
    return std::string(field.is_present() ? field.name() : metadata.document().name_space);
}

std::string full_name(const Field& metadata) {
    return fmt::format("{}/{}", namespace_of(metadata), metadata["name"].name());
}

namespace {

/// Days from 1970-01-01 to the day, in the Gregorian calendar.
std::int64_t days_from_epoch(std::int64_t year, std::int64_t month, std::int64_t day) {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = year / 400;
    const std::int64_t year_of_era = year - era * 400;
    const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const std::int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146'097 + day_of_era - 719'468;
}

std::int64_t digits_at(std::string_view text, std::size_t at, std::size_t count) {
    return parse_int(text.substr(at, count)).value_or(-1);
}

}  // namespace

std::int64_t read_time(const Field& field) {
    const std::string_view text = field.text();
    if (text.empty()) { return 0; }
    // 2026-07-01T12:34:56Z, fractions of a second left out of account.
    constexpr std::size_t length = 19;
    std::array<std::int64_t, 6> part{-1, -1, -1, -1, -1, -1};
    if (text.size() > length && text[4] == '-' && text[7] == '-' && text[10] == 'T' &&
        text.back() == 'Z') {
        constexpr std::array<std::size_t, 6> starts{0, 5, 8, 11, 14, 17};
        for (std::size_t i = 0; i < starts.size(); ++i) {
            part[i] = digits_at(text, starts[i], i == 0 ? 4 : 2);
        }
    }
    const bool is_date =
        part[0] >= 1970 && part[1] >= 1 && part[1] <= 12 && part[2] >= 1 && part[2] <= 31;
    const bool is_clock = part[3] >= 0 && part[3] < 24 && part[4] >= 0 && part[4] < 60 &&
                          part[5] >= 0 && part[5] <= 60;
    if (!is_date || !is_clock) {
        field.expected("a time such as 2026-07-01T12:34:56Z");
        return 0;
    }
    const std::int64_t days = days_from_epoch(part[0], part[1], part[2]);
    return (((days * 24 + part[3]) * 60 + part[4]) * 60 + part[5]) * 1000;
}

std::int64_t read_duration_s(const Field& field) {
    constexpr std::int64_t longest = 100LL * 365 * 24 * 3600;
    if (!field.is_present()) { return 0; }
    if (!field.is_text()) { return field.integer(0, longest); }
    const std::string_view text = field.text();
    std::int64_t total = 0;
    std::int64_t number = -1;
    bool is_good = !text.empty();
    for (const char c : text) {
        if (c >= '0' && c <= '9') {
            number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
        } else {
            const std::int64_t unit = c == 'd'   ? 86'400
                                      : c == 'h' ? 3'600
                                      : c == 'm' ? 60
                                      : c == 's' ? 1
                                                 : 0;
            is_good = is_good && unit > 0 && number >= 0;
            total += std::max<std::int64_t>(number, 0) * unit;
            number = -1;
        }
        is_good = is_good && number <= longest && total <= longest;
        if (!is_good) { break; }
    }
    if (number > 0) { total += number; }
    if (!is_good || total > longest) {
        field.expected("a duration such as 90s, 1h30m or 3600");
        return 0;
    }
    return total;
}

std::vector<Label> read_labels(const Field& labels) {
    std::vector<Label> out;
    for (const auto& [key, value] : labels.members()) {
        out.push_back({std::string(key), std::string(value.is_present() ? value.text() : "")});
    }
    return out;
}

std::int64_t read_priority(const Field& class_name, const Field& number, const Scope& scope) {
    const auto& known = scope.context.priority_classes;
    if (number.is_present()) { return number.integer(-priority_max, priority_max); }
    const std::string_view name = class_name.text();
    if (name.empty()) {
        const auto found =
            std::find_if(known.begin(), known.end(), [](const auto& c) { return c.is_default; });
        return found != known.end() ? found->value : 0;
    }
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& c) { return c.name == name; });
    if (found != known.end()) { return found->value; }
    // What every cluster has, and what KAI installs.
    constexpr std::pair<std::string_view, std::int64_t> built_in[] = {
        {"system-cluster-critical", 2'000'000'000},
        {"system-node-critical", 2'000'001'000},
        {"train", 50},
        {"build-preemptible", 75},
        {"build", 100},
        {"inference", 125},
    };
    for (const auto& [class_known, value] : built_in) {
        if (class_known == name) { return value; }
    }
    scope.notes.add(class_name,
                    fmt::format("priority class \"{}\" is not known; taken as 0", name));
    return 0;
}

std::string read_queue(const Field& metadata, std::string_view otherwise) {
    constexpr std::string_view keys[] = {
        "muster.dev/queue",      "scheduling.volcano.sh/queue-name",
        "volcano.sh/queue-name", "kueue.x-k8s.io/queue-name",
        "kai.scheduler/queue",
    };
    for (const std::string_view key : keys) {
        for (const Field& field : {metadata["labels"][key], metadata["annotations"][key]}) {
            if (field.is_present()) { return std::string(field.name()); }
        }
    }
    return std::string(otherwise);
}

TopologyWish read_wish(const Field& metadata, const Scope& scope) {
    TopologyWish wish;
    const Field annotations = metadata["annotations"];
    for (const std::string_view key :
         {"muster.dev/required-topology", "kueue.x-k8s.io/podset-required-topology",
          "kai.scheduler/topology-required-placement"}) {
        if (annotations[key].is_present()) { wish.required = annotations[key].name(); }
    }
    for (const std::string_view key :
         {"muster.dev/preferred-topology", "kueue.x-k8s.io/podset-preferred-topology",
          "kai.scheduler/topology-preferred-placement"}) {
        if (annotations[key].is_present()) { wish.preferred = annotations[key].name(); }
    }
    for (const auto& [key, value] : annotations.members()) {
        if (key.starts_with("kueue.x-k8s.io/podset-slice-") ||
            key == "kueue.x-k8s.io/podset-group-name") {
            scope.refuse(value, fmt::format("{} is not supported", key));
        }
    }
    return wish;
}

TopologyWish read_network_topology(const Field& field, const Scope& scope) {
    TopologyWish wish;
    if (!field.is_present()) { return wish; }
    for (const auto& [key, value] : field.members()) {
        if (key == "mode" || key == "highestTierAllowed" || key == "highestTierName") { continue; }
        scope.refuse(value, fmt::format("networkTopology.{} is not supported", key));
    }
    const std::string_view mode = field["mode"].text("hard");
    const Field number = field["highestTierAllowed"];
    const Field name = field["highestTierName"];
    if (mode != "hard" && mode != "soft") { field["mode"].expected("hard or soft"); }
    if (number.is_present() && name.is_present()) {
        field.expected("only one of highestTierAllowed and highestTierName");
        return wish;
    }
    std::string level;
    if (name.is_present()) {
        level = name.name();
    } else if (number.is_present()) {
        constexpr std::int64_t tier_max = 1'000'000;
        const std::int64_t tier = number.integer(0, tier_max);
        const auto& tiers = scope.context.tiers;
        const auto found = std::find_if(tiers.begin(), tiers.end(),
                                        [&](const Tier& t) { return t.number == tier; });
        level = found != tiers.end() ? found->level : fmt::format("tier-{}", tier);
    } else if (mode == "hard") {
        field.expected("one of highestTierAllowed and highestTierName");
        return wish;
    }
    (mode == "soft" ? wish.preferred : wish.required) = level;
    return wish;
}

void read_workload_metadata(const Field& metadata, WorkloadSpec& workload) {
    workload.submitted = read_time(metadata["creationTimestamp"]);
    if (const Field uid = metadata["uid"]; uid.is_present()) { workload.uid = uid.text(); }
    const Field annotations = metadata["annotations"];
    if (const Field user = annotations["muster.dev/user"]; user.is_present()) {
        workload.user = user.name();
    }
    if (const Field estimate = annotations["muster.dev/runtime-estimate"]; estimate.is_present()) {
        workload.runtime_estimate_s = read_duration_s(estimate);
    }
    if (const Field linked = annotations["muster.dev/linked"]; linked.is_present()) {
        for (const std::string_view part : split(linked.text(), ',')) {
            const std::string_view name = trim(part);
            if (name.empty()) { continue; }
            const bool is_full = name.find('/') != std::string_view::npos;
            workload.linked.push_back(is_full ? std::string(name)
                                              : fmt::format("{}/{}", namespace_of(metadata), name));
        }
        if (std::find(workload.linked.begin(), workload.linked.end(), workload.name) ==
            workload.linked.end()) {
            workload.linked.push_back(workload.name);
        }
    }
}

}  // namespace muster::dialect
