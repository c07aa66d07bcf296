// Plans out of JSON: strict, so that nothing of a recorded plan is lost unseen.
#include "codec/plan_names.h"
#include "codec/plan_text.h"
#include "model/limits.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace muster {

namespace {

namespace json = boost::json;

/// Reads members of one object, each once; the first fault is kept and names its path.
class Reader {
public:
    explicit Reader(std::string path, const json::value& value) : path_(std::move(path)) {
        object_ = value.if_object();
        if (object_ == nullptr) { fault("expected an object"); }
    }

    std::string text(std::string_view key) {
        const json::value* value = member(key);
        const json::string* found = value == nullptr ? nullptr : value->if_string();
        if (value != nullptr && found == nullptr) {
            fault(fmt::format("{}: expected a text", key));
        }
        return found == nullptr ? std::string() : std::string(found->data(), found->size());
    }

    std::int64_t number(std::string_view key, std::int64_t low, std::int64_t high) {
        const json::value* value = member(key);
        if (value == nullptr) { return low; }
        const std::int64_t* found = value->if_int64();
        if (found == nullptr || *found < low || *found > high) {
            fault(fmt::format("{}: expected a whole number from {} to {}", key, low, high));
            return low;
        }
        return *found;
    }

    bool boolean(std::string_view key) {
        const json::value* value = member(key);
        const bool* found = value == nullptr ? nullptr : value->if_bool();
        if (value != nullptr && found == nullptr) {
            fault(fmt::format("{}: expected true or false", key));
        }
        return found != nullptr && *found;
    }

    template <class Enum>
    Enum named(std::string_view key) {
        const std::string name = text(key);
        return value_named<Enum>(key, name);
    }

    template <class Enum>
    Enum value_named(std::string_view key, std::string_view name) {
        const auto value = value_of<Enum>(name);
        if (!value) {
            fault(fmt::format("{}: unknown '{}'; expected one of: {}", key, name,
                              fmt::join(names_of<Enum>(), ", ")));
        }
        return value.value_or(Enum{});
    }

    /// Calls `each(path, value)` for every item; a fault of an item is a fault of this.
    template <class Each>
    void list(std::string_view key, Each each) {
        const json::value* value = member(key);
        if (value == nullptr) { return; }
        const json::array* items = value->if_array();
        if (items == nullptr) { return fault(fmt::format("{}: expected a list", key)); }
        for (std::size_t i = 0; i < items->size(); ++i) {
            each(fmt::format("{}{}[{}]", prefix(), key, i), (*items)[i]);
        }
    }

    Reader inner(std::string_view key) {
        static const json::value nothing(json::object_kind);
        const json::value* value = member(key);
        return Reader(prefix() + std::string(key), value == nullptr ? nothing : *value);
    }

    void take(Result<> result) {
        if (!result && !fault_) { fault_ = std::move(result.error()); }
    }

    /// No members are left over.
    Result<> end() {
        if (object_ != nullptr && !fault_ && read_ != object_->size()) {
            fault(fmt::format("{} members; expected {}", object_->size(), read_));
        }
        if (fault_) { return tl::unexpected(*fault_); }
        return {};
    }

private:
    [[nodiscard]] std::string prefix() const { return path_.empty() ? "" : path_ + "."; }

    const json::value* member(std::string_view key) {
        if (object_ == nullptr) { return nullptr; }
        const auto found = object_->find(json::string_view(key.data(), key.size()));
        if (found == object_->end()) {
            fault(fmt::format("{}: missing", key));
            return nullptr;
        }
        ++read_;
        return &found->value();
    }

    void fault(std::string text) {
        if (fault_) { return; }
        fault_ = Error{Code::corrupt, fmt::format("plan: {}{}", prefix(), text)};
    }

    std::string path_;
    const json::object* object_ = nullptr;
    std::size_t read_ = 0;
    std::optional<Error> fault_;
};

std::string text_of(Reader& reader, std::string_view key, const json::value& value) {
    const json::string* found = value.if_string();
    if (found == nullptr) {
        reader.take(fail(Code::corrupt, fmt::format("plan: {}: expected a text", key)));
        return {};
    }
    return {found->data(), found->size()};
}

Result<> read(Devices& devices, Reader reader) {
    reader.list("gpus", [&](const std::string& path, const json::value& value) {
        const std::int64_t* index = value.if_int64();
        if (index == nullptr || *index < 0 ||
            *index >= static_cast<std::int64_t>(gpus_per_node_max)) {
            return reader.take(fail(Code::corrupt, fmt::format("plan: {}: expected 0 to {}", path,
                                                               gpus_per_node_max - 1)));
        }
        devices.gpus |= std::uint64_t{1} << *index;
    });
    reader.list("mig", [&](const std::string& path, const json::value& value) {
        Reader slot(path, value);
        devices.mig.push_back({static_cast<std::uint8_t>(slot.number(
                                   "gpu", 0, static_cast<std::int64_t>(gpus_per_node_max) - 1)),
                               static_cast<std::uint8_t>(slot.number("start", 0, 7))});
        reader.take(slot.end());
    });
    devices.numa = static_cast<std::int8_t>(
        reader.number("numa", -1, static_cast<std::int64_t>(numa_zones_max) - 1));
    return reader.end();
}

void read(std::vector<TaskPlace>& tasks, Reader& reader) {
    reader.list("tasks", [&](const std::string& path, const json::value& value) {
        Reader task(path, value);
        TaskPlace place;
        place.task = static_cast<std::uint32_t>(
            task.number("task", 0, std::numeric_limits<std::uint32_t>::max()));
        place.node = task.text("node");
        place.is_counted = task.boolean("counted");
        task.take(read(place.devices, task.inner("devices")));
        reader.take(task.end());
        tasks.push_back(std::move(place));
    });
}

Result<> read(Placement& placement, Reader reader) {
    placement.workload = reader.text("workload");
    placement.level = reader.text("level");
    placement.domain = reader.text("domain");
    placement.crossings = static_cast<std::int32_t>(
        reader.number("crossings", 0, std::numeric_limits<std::int32_t>::max()));
    read(placement.tasks, reader);
    return reader.end();
}

Result<> read(Reason& reason, Reader reader) {
    constexpr std::int64_t any_low = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t any_high = std::numeric_limits<std::int64_t>::max();
    reason.link = reader.named<ChainLink>("link");
    reason.why = reader.named<Why>("why");
    reason.role = reader.text("role");
    reason.subject = reader.text("subject");
    reason.needed = reader.number("needed", any_low, any_high);
    reason.have = reader.number("have", any_low, any_high);
    reason.closest = reader.text("closest");
    reason.nodes = reader.number("nodes", 0, any_high);
    reader.list("causes", [&](const std::string& path, const json::value& value) {
        Reader cause(path, value);
        CauseCount count;
        count.cause = cause.named<Cause>("cause");
        count.nodes = cause.number("nodes", 0, any_high);
        reader.take(cause.end());
        reason.causes.push_back(count);
    });
    reader.list("known", [&](const std::string& path, const json::value& value) {
        reason.known.push_back(text_of(reader, path, value));
    });
    reader.list("wakes", [&](const std::string& path, const json::value& value) {
        reason.wakes.push_back(reader.value_named<Wake>(path, text_of(reader, path, value)));
    });
    reason.text = reader.text("text");
    return reader.end();
}

}  // namespace

Result<Plan> read_plan(std::string_view text) {
    json::error_code error;
    const json::value value = json::parse(json::string_view(text.data(), text.size()), error);
    if (error) { return fail(Code::corrupt, "plan: no JSON: " + error.message()); }
    Plan plan;
    Reader reader("", value);
    plan.cycle = static_cast<std::uint64_t>(
        reader.number("cycle", 0, std::numeric_limits<std::int64_t>::max()));
    reader.list("releases", [&](const std::string& path, const json::value& item) {
        Reader release(path, item);
        Release& out = plan.releases.emplace_back();
        out.workload = release.text("workload");
        read(out.tasks, release);
        reader.take(release.end());
    });
    reader.list("placements", [&](const std::string& path, const json::value& item) {
        reader.take(read(plan.placements.emplace_back(), Reader(path, item)));
    });
    reader.list("refusals", [&](const std::string& path, const json::value& item) {
        Reader refusal(path, item);
        Refusal& out = plan.refusals.emplace_back();
        out.workload = refusal.text("workload");
        refusal.take(read(out.reason, refusal.inner("reason")));
        reader.take(refusal.end());
    });
    MUSTER_CHECK(reader.end());
    return plan;
}

}  // namespace muster
