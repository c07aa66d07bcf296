#include "codec/plan_names.h"

#include "base/assert.h"

#include <array>
#include <cstddef>

namespace muster {

namespace {

template <class Enum>
struct Entry {
    Enum value;
    std::string_view name;
};

template <class Enum>
struct Names;

template <>
struct Names<ChainLink> {
    static constexpr std::array entries = {
        Entry{ChainLink::submit, "submit"}, Entry{ChainLink::admit, "admit"},
        Entry{ChainLink::gang, "gang"},     Entry{ChainLink::place, "place"},
        Entry{ChainLink::bind, "bind"},
    };
};

template <>
struct Names<Cause> {
    static constexpr std::array entries = {
        Entry{Cause::not_ready, "not_ready"},
        Entry{Cause::cordoned, "cordoned"},
        Entry{Cause::taint, "taint"},
        Entry{Cause::selector, "selector"},
        Entry{Cause::pod_affinity, "pod_affinity"},
        Entry{Cause::gpu_model, "gpu_model"},
        Entry{Cause::gpu_total, "gpu_total"},
        Entry{Cause::gpu_free, "gpu_free"},
        Entry{Cause::gpu_share, "gpu_share"},
        Entry{Cause::mig_profile, "mig_profile"},
        Entry{Cause::mig_free, "mig_free"},
        Entry{Cause::cpu, "cpu"},
        Entry{Cause::memory, "memory"},
        Entry{Cause::pods, "pods"},
        Entry{Cause::extended, "extended"},
        Entry{Cause::numa, "numa"},
    };
    static_assert(entries.size() == cause_count);
};

template <>
struct Names<Why> {
    static constexpr std::array entries = {
        Entry{Why::unknown_queue, "unknown_queue"},
        Entry{Why::queue_not_leaf, "queue_not_leaf"},
        Entry{Why::unknown_level, "unknown_level"},
        Entry{Why::unknown_constraint, "unknown_constraint"},
        Entry{Why::over_cap_alone, "over_cap_alone"},
        Entry{Why::queue_cap, "queue_cap"},
        Entry{Why::behind_head, "behind_head"},
        Entry{Why::linked_missing, "linked_missing"},
        Entry{Why::linked_blocked, "linked_blocked"},
        Entry{Why::too_large, "too_large"},
        Entry{Why::no_room, "no_room"},
        Entry{Why::no_domain, "no_domain"},
        Entry{Why::leaving, "leaving"},
        Entry{Why::packing, "packing"},
        Entry{Why::pods_missing, "pods_missing"},
    };
};

template <>
struct Names<Wake> {
    static constexpr std::array entries = {
        Entry{Wake::never, "never"},
        Entry{Wake::room, "room"},
        Entry{Wake::node_change, "node_change"},
        Entry{Wake::queue_room, "queue_room"},
        Entry{Wake::head_leaves, "head_leaves"},
        Entry{Wake::linked_arrives, "linked_arrives"},
        Entry{Wake::queue_set, "queue_set"},
        Entry{Wake::topology_set, "topology_set"},
        Entry{Wake::pods_change, "pods_change"},
        Entry{Wake::tasks_leave, "tasks_leave"},
    };
};

template <>
struct Names<TaintEffect> {
    static constexpr std::array entries = {
        Entry{TaintEffect::no_schedule, "NoSchedule"},
        Entry{TaintEffect::prefer_no_schedule, "PreferNoSchedule"},
        Entry{TaintEffect::no_execute, "NoExecute"},
    };
};

template <>
struct Names<MatchOp> {
    static constexpr std::array entries = {
        Entry{MatchOp::in, "in"},         Entry{MatchOp::not_in, "notin"},
        Entry{MatchOp::exists, "exists"}, Entry{MatchOp::does_not_exist, "absent"},
        Entry{MatchOp::greater, "gt"},    Entry{MatchOp::less, "lt"},
    };
};

template <>
struct Names<HeadRule> {
    static constexpr std::array entries = {
        Entry{HeadRule::strict, "strict"},
        Entry{HeadRule::best_effort, "best_effort"},
    };
};

template <>
struct Names<NumaPolicy> {
    static constexpr std::array entries = {
        Entry{NumaPolicy::none, "none"},
        Entry{NumaPolicy::single_numa_node, "single"},
    };
};

template <>
struct Names<LeaseState> {
    static constexpr std::array entries = {
        Entry{LeaseState::offered, "offered"},   Entry{LeaseState::granted, "granted"},
        Entry{LeaseState::active, "active"},     Entry{LeaseState::recalled, "recalled"},
        Entry{LeaseState::returned, "returned"},
    };
};

template <>
struct Names<MigMode> {
    static constexpr std::array entries = {
        Entry{MigMode::off, "off"},
        Entry{MigMode::dynamic, "dynamic"},
    };
};

template <>
struct Names<Link> {
    static constexpr std::array entries = {
        Entry{Link::self, "self"}, Entry{Link::nvlink, "nvlink"},   Entry{Link::pix, "pix"},
        Entry{Link::pxb, "pxb"},   Entry{Link::phb, "phb"},         Entry{Link::node, "node"},
        Entry{Link::sys, "sys"},   Entry{Link::unknown, "unknown"},
    };
};

template <>
struct Names<GpuKind> {
    static constexpr std::array entries = {
        Entry{GpuKind::none, "none"},
        Entry{GpuKind::whole, "whole"},
        Entry{GpuKind::share, "share"},
        Entry{GpuKind::mig, "mig"},
    };
};

template <>
struct Names<TolerationOp> {
    static constexpr std::array entries = {
        Entry{TolerationOp::equal, "equal"},
        Entry{TolerationOp::exists, "exists"},
        Entry{TolerationOp::greater, "gt"},
        Entry{TolerationOp::less, "lt"},
    };
};

template <>
struct Names<TaskState> {
    static constexpr std::array entries = {
        Entry{TaskState::waiting, "waiting"},
        Entry{TaskState::placed, "placed"},
        Entry{TaskState::leaving, "leaving"},
        Entry{TaskState::finished, "finished"},
    };
};

template <>
struct Names<OrderKind> {
    static constexpr std::array entries = {
        Entry{OrderKind::bind, "bind"},
        Entry{OrderKind::evict, "evict"},
    };
};

template <>
struct Names<ConflictRule> {
    static constexpr std::array entries = {
        Entry{ConflictRule::fact_refused, "fact_refused"},
        Entry{ConflictRule::cluster_is_right, "cluster_is_right"},
        Entry{ConflictRule::over_cap_waits, "over_cap_waits"},
    };
};

template <class Enum>
std::string_view look_up(Enum value) {
    for (const auto& entry : Names<Enum>::entries) {
        if (entry.value == value) { return entry.name; }
    }
    const bool has_name = false;
    MUSTER_ASSERT(has_name);
    return {};
}

}  // namespace

std::string_view name_of(ChainLink link) { return look_up(link); }
std::string_view name_of(Cause cause) { return look_up(cause); }
std::string_view name_of(Why why) { return look_up(why); }
std::string_view name_of(Wake wake) { return look_up(wake); }
std::string_view name_of(TaintEffect effect) { return look_up(effect); }
std::string_view name_of(MatchOp op) { return look_up(op); }
std::string_view name_of(HeadRule rule) { return look_up(rule); }
std::string_view name_of(NumaPolicy policy) { return look_up(policy); }
std::string_view name_of(LeaseState state) { return look_up(state); }
std::string_view name_of(MigMode value) { return look_up(value); }
std::string_view name_of(Link value) { return look_up(value); }
std::string_view name_of(GpuKind value) { return look_up(value); }
std::string_view name_of(TolerationOp value) { return look_up(value); }
std::string_view name_of(TaskState value) { return look_up(value); }
std::string_view name_of(OrderKind value) { return look_up(value); }
std::string_view name_of(ConflictRule value) { return look_up(value); }

template <class Enum>
std::optional<Enum> value_of(std::string_view name) {
    for (const auto& entry : Names<Enum>::entries) {
        if (entry.name == name) { return entry.value; }
    }
    return std::nullopt;
}

template <class Enum>
std::vector<std::string_view> names_of() {
    std::vector<std::string_view> out;
    for (const auto& entry : Names<Enum>::entries) { out.push_back(entry.name); }
    return out;
}

template std::optional<ChainLink> value_of<ChainLink>(std::string_view);
template std::optional<Cause> value_of<Cause>(std::string_view);
template std::optional<Why> value_of<Why>(std::string_view);
template std::optional<Wake> value_of<Wake>(std::string_view);
template std::optional<TaintEffect> value_of<TaintEffect>(std::string_view);
template std::optional<MatchOp> value_of<MatchOp>(std::string_view);
template std::optional<HeadRule> value_of<HeadRule>(std::string_view);
template std::optional<NumaPolicy> value_of<NumaPolicy>(std::string_view);
template std::optional<LeaseState> value_of<LeaseState>(std::string_view);

template std::vector<std::string_view> names_of<ChainLink>();
template std::vector<std::string_view> names_of<Cause>();
template std::vector<std::string_view> names_of<Why>();
template std::vector<std::string_view> names_of<Wake>();
template std::vector<std::string_view> names_of<TaintEffect>();
template std::vector<std::string_view> names_of<MatchOp>();
template std::vector<std::string_view> names_of<HeadRule>();
template std::vector<std::string_view> names_of<NumaPolicy>();
template std::vector<std::string_view> names_of<LeaseState>();

}  // namespace muster
