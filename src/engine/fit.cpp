#include "engine/fit.h"

#include "base/assert.h"

#include <algorithm>
#include <array>
#include <bit>

namespace muster {

namespace {

std::uint64_t lowest(std::uint64_t mask) { return mask & (~mask + 1); }
std::uint32_t index_of(std::uint64_t mask) {
    return static_cast<std::uint32_t>(std::countr_zero(mask));
}

/// How often `need` goes into `free`.
std::int64_t times(std::int64_t free, std::int64_t need) {
    if (need == 0) { return fits_max; }
    return free < need ? 0 : free / need;
}

/// `times` is not zero.
bool goes_in(std::int64_t free, std::int64_t need) { return need == 0 || free >= need; }

std::int64_t extended_at(const Machine& machine, Symbol name) {
    const auto found =
        std::lower_bound(machine.extended.begin(), machine.extended.end(), name,
                         [](const auto& entry, Symbol wanted) { return entry.first < wanted; });
    return found != machine.extended.end() && found->first == name
               ? found - machine.extended.begin()
               : -1;
}

std::int64_t extended_free(const Machine& machine, Symbol name, const Space& space) {
    const std::int64_t at = extended_at(machine, name);
    return at < 0 ? 0 : space.extended[machine.extended_begin + static_cast<std::size_t>(at)];
}

std::optional<MigProfile> profile_of(const Shape& shape, const ModelGpus& entry) {
    return entry.product == nullptr ? std::nullopt
                                    : find_mig_profile(*entry.product, shape.spec.gpu.profile);
}

constexpr std::uint16_t media_bit = 1U << 8;

MigLayout layout_at(const Space& space, std::size_t gpu) {
    return {.memory = static_cast<std::uint8_t>(space.mig[gpu] & 0xff),
            .has_media = (space.mig[gpu] & media_bit) != 0};
}

std::uint16_t packed(MigLayout layout) {
    return static_cast<std::uint16_t>(layout.memory | (layout.has_media ? media_bit : 0U));
}

std::vector<MigLayout> layouts_of(const Machine& machine, const Space& space) {
    std::vector<MigLayout> layouts(machine.gpu_count());
    for (std::uint32_t gpu = 0; gpu < layouts.size(); ++gpu) {
        layouts[gpu] = layout_at(space, machine.gpu_begin + gpu);
    }
    return layouts;
}

/// Instances of the shape's profile that the GPUs of `mask` hold, as they are or when empty.
std::int64_t instances_on(const Shape& shape, const Machine& machine, std::uint64_t mask,
                          const Space* space) {
    std::int64_t total = 0;
    for (const ModelGpus& entry : machine.models) {
        const std::optional<MigProfile> profile = profile_of(shape, entry);
        if (!profile) { continue; }
        for (std::uint64_t rest = mask & entry.gpus; rest != 0; rest &= rest - 1) {
            const MigLayout layout = space == nullptr
                                         ? MigLayout{}
                                         : layout_at(*space, machine.gpu_begin + index_of(rest));
            total += instances_that_fit(*profile, layout);
        }
    }
    return total;
}

/// GPUs that a share or whole task may use at all, or MIG GPUs for an instance.
std::uint64_t candidates(const Shape& shape, const Machine& machine) {
    const std::uint64_t allowed = machine.gpus_of(shape.models);
    return shape.spec.gpu.kind == GpuKind::mig ? allowed & machine.mig_gpus
                                               : allowed & ~machine.mig_gpus;
}

/// The same in 32 bits, which divide faster.
std::uint32_t times(std::int32_t free, std::int32_t need) {
    if (need == 0) { return fits_max; }
    return free < need ? 0 : static_cast<std::uint32_t>(free) / static_cast<std::uint32_t>(need);
}

/// A share on GPUs of one product: what it takes, and whether that can be said.
struct ProductShare {
    std::uint64_t gpus = 0;
    ShareNeed need;
};

ProductShare share_on(const Shape& shape, const ModelGpus& entry) {
    const bool is_unknown = shape.spec.gpu.mib > 0 && entry.memory_mib == 0;
    return {is_unknown ? 0 : entry.gpus, share_of(shape.spec.gpu, entry.memory_mib)};
}

std::int64_t shares_on(const Shape& shape, const Machine& machine, std::uint32_t gpu,
                       const Space& space) {
    const ProductShare share = share_on(shape, *machine.model_of(gpu));
    if ((share.gpus >> gpu & 1) == 0) { return 0; }
    const GpuFree& free = space.gpus[machine.gpu_begin + gpu];
    return std::min(times(free.milli, share.need.milli), times(free.mib, share.need.mib));
}

/// Shares that each GPU of `mask` holds.
using ShareCounts = std::array<std::int64_t, gpus_per_node_max>;

ShareCounts share_counts(const Shape& shape, const Machine& machine, std::uint64_t mask,
                         const Space& space) {
    ShareCounts counts{};
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        counts[index_of(rest)] = shares_on(shape, machine, index_of(rest), space);
    }
    return counts;
}

/// Tasks of `each` shares on different GPUs: the most t with Σ min(count, t) ≥ each · t.
std::int64_t share_times(const ShareCounts& counts, std::int64_t each) {
    std::int64_t total = 0;
    for (const std::int64_t count : counts) { total += count; }
    std::int64_t low = 0;
    for (std::int64_t high = total / each; low < high;) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        std::int64_t sum = 0;
        for (const std::int64_t count : counts) { sum += std::min(count, middle); }
        if (sum >= each * middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/// Tasks that the GPUs of `mask` hold.
std::int64_t gpu_times(const Shape& shape, const Machine& machine, NodeId node, std::uint64_t mask,
                       const Space& space) {
    const GpuNeed& need = shape.spec.gpu;
    switch (need.kind) {
        case GpuKind::none: return fits_max;
        case GpuKind::whole:
            return std::popcount(mask & space.nodes[node.value].whole) / need.count;
        case GpuKind::share: {
            if (need.count > 1) {
                return share_times(share_counts(shape, machine, mask, space), need.count);
            }
            std::int64_t total = 0;
            for (const ModelGpus& entry : machine.models) {
                const ProductShare share = share_on(shape, entry);
                for (std::uint64_t rest = mask & share.gpus; rest != 0; rest &= rest - 1) {
                    const GpuFree& free = space.gpus[machine.gpu_begin + index_of(rest)];
                    total += std::min(times(free.milli, share.need.milli),
                                      times(free.mib, share.need.mib));
                }
            }
            return total;
        }
        case GpuKind::mig: return instances_on(shape, machine, mask, &space) / need.count;
    }
    return 0;
}

bool needs_zone(const Shape& shape) {
    return shape.spec.gpu.kind != GpuKind::none || shape.spec.is_cpu_exclusive;
}

std::uint64_t zone_mask(const Machine& machine, std::size_t zone) {
    std::uint64_t mask = 0;
    for (std::size_t gpu = 0; gpu < machine.spec.gpus.size(); ++gpu) {
        const std::int32_t numa = machine.spec.gpus[gpu].numa;
        if (numa < 0 || static_cast<std::size_t>(numa) == zone) { mask |= std::uint64_t{1} << gpu; }
    }
    return mask;
}

std::int64_t zone_times(const Shape& shape, const Machine& machine, NodeId node, std::size_t zone,
                        std::uint64_t usable, const Space& space) {
    const std::int64_t cpu = shape.spec.is_cpu_exclusive
                                 ? times(space.zone_cpu[machine.zone_begin + zone], shape.milli_cpu)
                                 : fits_max;
    return std::min(cpu, gpu_times(shape, machine, node, usable & zone_mask(machine, zone), space));
}

Cause gpu_cause(GpuKind kind) {
    switch (kind) {
        case GpuKind::mig: return Cause::mig_free;
        case GpuKind::share: return Cause::gpu_share;
        case GpuKind::none:
        case GpuKind::whole: break;
    }
    return Cause::gpu_free;
}

bool is_possible_when_empty(const Shape& shape, const Machine& machine) {
    if (shape.milli_cpu > machine.spec.allocatable.milli_cpu ||
        shape.memory > machine.spec.allocatable.memory || machine.spec.pods < 1) {
        return false;
    }
    for (const auto& [name, count] : shape.extended) {
        const std::int64_t at = extended_at(machine, name);
        if (at < 0 || machine.extended[static_cast<std::size_t>(at)].second < count) {
            return false;
        }
    }
    return true;
}

/// The GPU on which a share breaks the least, ties to the fullest, then the lowest. V rises with
/// the worth of the remainders and all else is the same wherever the share goes, so the worth tells
/// which. What whole GPUs are worth together is left out: an odd one is not to be opened while
/// another is open.
std::uint64_t best_share(const Shape& shape, const Machine& machine, std::uint64_t usable,
                         const Space& space, const ValueModel& values) {
    std::uint64_t best = 0;
    Value least = 0;
    std::int32_t best_milli = 0;
    for (const ModelGpus& entry : machine.models) {
        const ProductShare share = share_on(shape, entry);
        for (std::uint64_t rest = usable & share.gpus; rest != 0; rest &= rest - 1) {
            const GpuFree& free = space.gpus[machine.gpu_begin + index_of(rest)];
            if (!goes_in(free.milli, share.need.milli) || !goes_in(free.mib, share.need.mib)) {
                continue;
            }
            const Value lost =
                values.remainder(free.milli) - values.remainder(free.milli - share.need.milli);
            const bool is_better = lost != least              ? lost < least
                                   : free.milli != best_milli ? free.milli < best_milli
                                                              : lowest(rest) < best;
            if (best == 0 || is_better) {
                best = lowest(rest);
                least = lost;
                best_milli = free.milli;
            }
        }
    }
    return best;
}

/// For a task of several shares: those that break the least, unless fewer tasks than counted would
/// fit after it; then the emptiest, after which all of them do.
std::uint64_t best_shares(const Shape& shape, const Machine& machine, std::uint64_t usable,
                          const Space& space, const ValueModel& values) {
    const std::int32_t each = shape.spec.gpu.count;
    std::uint64_t chosen = 0;
    for (std::int32_t i = 0; i < each; ++i) {
        const std::uint64_t gpu = best_share(shape, machine, usable & ~chosen, space, values);
        if (gpu == 0) { return 0; }
        chosen |= gpu;
    }
    if (each == 1) { return chosen; }
    const ShareCounts before = share_counts(shape, machine, usable, space);
    ShareCounts after = before;
    for (std::uint64_t rest = chosen; rest != 0; rest &= rest - 1) { --after[index_of(rest)]; }
    if (share_times(after, each) + 1 >= share_times(before, each)) { return chosen; }
    chosen = 0;
    for (std::int32_t i = 0; i < each; ++i) {
        std::uint64_t emptiest = 0;
        for (std::uint64_t rest = usable & ~chosen; rest != 0; rest &= rest - 1) {
            if (emptiest == 0 || before[index_of(rest)] > before[index_of(emptiest)]) {
                emptiest = lowest(rest);
            }
        }
        chosen |= emptiest;
    }
    return chosen;
}

std::int64_t mixes(const MigProfile& profile, MigLayout layout) {
    return mig_future(profile.card, layout).mixes;
}

/// Instances one after the other, each where the fewest future mixes are lost. `lost` counts them.
bool choose_mig(const Shape& shape, const Machine& machine, std::uint64_t usable,
                const Space& space, Devices& out, std::int64_t& lost) {
    std::vector<MigLayout> layouts = layouts_of(machine, space);
    for (std::int32_t i = 0; i < shape.spec.gpu.count; ++i) {
        std::int64_t least = INT64_MAX;
        MigSlot best;
        MigLayout best_layout;
        for (const ModelGpus& entry : machine.models) {
            const std::optional<MigProfile> profile = profile_of(shape, entry);
            if (!profile) { continue; }
            for (std::uint64_t rest = usable & entry.gpus; rest != 0; rest &= rest - 1) {
                const std::uint32_t gpu = index_of(rest);
                const std::optional<int> start = best_start(*profile, layouts[gpu]);
                if (!start) { continue; }
                const MigLayout after = with_instance(layouts[gpu], *profile, *start);
                const std::int64_t loss = mixes(*profile, layouts[gpu]) - mixes(*profile, after);
                if (loss < least) {
                    least = loss;
                    best = {.gpu = static_cast<std::uint8_t>(gpu),
                            .start = static_cast<std::uint8_t>(*start)};
                    best_layout = after;
                }
            }
        }
        if (least == INT64_MAX) { return false; }
        layouts[best.gpu] = best_layout;
        lost += least;
        out.gpus |= std::uint64_t{1} << best.gpu;
        out.mig.push_back(best);
    }
    return true;
}

bool choose_gpus(const Shape& shape, const Machine& machine, NodeId node, std::uint64_t usable,
                 const Space& space, DeviceTable& table, const ValueModel& values, Devices& out) {
    const GpuNeed& need = shape.spec.gpu;
    switch (need.kind) {
        case GpuKind::none: return true;
        case GpuKind::whole:
            out.gpus = table.choose_whole(machine.devices, usable & space.nodes[node.value].whole,
                                          need.count, need.near_nic);
            return out.gpus != 0;
        case GpuKind::share:
            out.gpus = best_shares(shape, machine, usable, space, values);
            return out.gpus != 0;
        case GpuKind::mig: {
            std::int64_t lost = 0;
            return choose_mig(shape, machine, usable, space, out, lost);
        }
    }
    return false;
}

bool has_amounts(const Shape& shape, const Machine& machine, NodeId node, const Space& space) {
    const NodeFree& free = space.nodes[node.value];
    if (free.milli_cpu < shape.milli_cpu && shape.milli_cpu > 0) { return false; }
    if (free.memory < shape.memory && shape.memory > 0) { return false; }
    if (free.pods < 1) { return false; }
    return std::all_of(shape.extended.begin(), shape.extended.end(), [&](const auto& need) {
        return extended_free(machine, need.first, space) >= need.second;
    });
}

/// No term is no demand.
bool any_holds(const std::vector<std::vector<Match>>& terms, const Machine& machine,
               const Symbols& symbols) {
    return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
               return all_hold(term, machine.labels, symbols);
           });
}

}  // namespace

ShareNeed share_of(const GpuNeed& need, std::int32_t memory_mib) {
    ShareNeed out{need.milli, static_cast<std::int32_t>(need.mib)};
    if (out.milli == 0 && memory_mib > 0) {
        out.milli = static_cast<std::int32_t>(need.mib * gpu_milli_whole / memory_mib);
    }
    if (out.mib == 0) {
        out.mib =
            static_cast<std::int32_t>(std::int64_t{need.milli} * memory_mib / gpu_milli_whole);
    }
    return out;
}

std::int64_t mig_milli(const Shape& shape, const ModelGpus& gpus) {
    const std::optional<MigProfile> profile = profile_of(shape, gpus);
    if (!profile) { return 0; }
    return gpu_milli_whole * profile->memory / (profile->card == MigCard::four ? 4 : 8);
}

bool is_selected(const Shape& shape, const Machine& machine, const Symbols& symbols) {
    return all_hold(shape.node_selector, machine.labels, symbols) &&
           any_holds(shape.required, machine, symbols);
}

CauseSet static_causes(const Shape& shape, const Machine& machine, const Symbols& symbols) {
    CauseSet causes = 0;
    if (!machine.spec.is_ready) { causes |= bit(Cause::not_ready); }
    // Who tolerates the taint that a cordon stands for may go there.
    static const std::vector<Taint> cordon{{.key = "node.kubernetes.io/unschedulable",
                                            .value = {},
                                            .effect = TaintEffect::no_schedule}};
    if (machine.spec.is_cordoned && !is_tolerated(cordon, shape.spec.tolerations)) {
        causes |= bit(Cause::cordoned);
    }
    if (!is_tolerated(machine.spec.taints, shape.spec.tolerations)) { causes |= bit(Cause::taint); }
    if (!is_selected(shape, machine, symbols) || !any_holds(shape.implied, machine, symbols)) {
        causes |= bit(Cause::selector);
    }
    const GpuNeed& need = shape.spec.gpu;
    if (need.kind == GpuKind::none) { return causes; }
    if (machine.gpu_count() > 0 && machine.gpus_of(shape.models) == 0) {
        return causes | bit(Cause::gpu_model);
    }
    const std::uint64_t usable = usable_gpus(shape, machine);
    if (need.kind != GpuKind::mig) {
        return std::popcount(usable) < need.count ? causes | bit(Cause::gpu_total) : causes;
    }
    const std::int64_t most = instances_on(shape, machine, usable, nullptr);
    if (most < need.count) { causes |= bit(Cause::mig_profile); }
    return causes;
}

std::uint64_t usable_gpus(const Shape& shape, const Machine& machine) {
    return candidates(shape, machine) & machine.healthy;
}

Fit fit(const Shape& shape, const Machine& machine, NodeId node, const Space& space,
        std::uint64_t usable) {
    Fit out;
    const NodeFree& free = space.nodes[node.value];
    std::int64_t count = fits_max;
    const auto limit = [&](std::int64_t many, Cause cause) {
        if (many == 0) { out.causes |= bit(cause); }
        count = std::min(count, many);
    };
    limit(times(free.milli_cpu, shape.milli_cpu), Cause::cpu);
    limit(times(free.memory, shape.memory), Cause::memory);
    limit(std::max(free.pods, 0), Cause::pods);
    for (const auto& [name, need] : shape.extended) {
        limit(times(extended_free(machine, name, space), need), Cause::extended);
    }
    limit(gpu_times(shape, machine, node, usable, space), gpu_cause(shape.spec.gpu.kind));
    if (count > 0 && machine.has_zone_rule && needs_zone(shape)) {
        std::int64_t zones = 0;
        for (std::size_t zone = 0; zone < machine.spec.numa.size(); ++zone) {
            zones += zone_times(shape, machine, node, zone, usable, space);
        }
        limit(zones, Cause::numa);
    }
    out.count = static_cast<std::uint16_t>(count);
    if (count == 0) { out.is_possible = is_possible_when_empty(shape, machine); }
    return out;
}

std::optional<Devices> choose_devices(const Shape& shape, const Machine& machine, NodeId node,
                                      const Space& space, DeviceTable& table,
                                      const ValueModel& values) {
    if (!has_amounts(shape, machine, node, space)) { return std::nullopt; }
    Devices out;
    const std::uint64_t usable = usable_gpus(shape, machine);
    if (!machine.has_zone_rule || !needs_zone(shape)) {
        if (!choose_gpus(shape, machine, node, usable, space, table, values, out)) {
            return std::nullopt;
        }
        return out;
    }
    const GpuNeed& need = shape.spec.gpu;
    if (need.kind == GpuKind::none || need.kind == GpuKind::whole) {
        const auto choice = choose_single_numa(
            table.at(machine.devices), usable & space.nodes[node.value].whole,
            need.kind == GpuKind::whole ? need.count : 0,
            std::span(space.zone_cpu).subspan(machine.zone_begin, machine.spec.numa.size()),
            shape.spec.is_cpu_exclusive ? shape.milli_cpu : 0, need.near_nic);
        if (!choice) { return std::nullopt; }
        return Devices{.gpus = choice->gpus, .mig = {}, .numa = choice->zone};
    }
    for (std::size_t zone = 0; zone < machine.spec.numa.size(); ++zone) {
        if (zone_times(shape, machine, node, zone, usable, space) == 0) { continue; }
        if (choose_gpus(shape, machine, node, usable & zone_mask(machine, zone), space, table,
                        values, out)) {
            out.numa = static_cast<std::int8_t>(zone);
            return out;
        }
        out = {};
    }
    return std::nullopt;
}

Devices free_part(const Shape& shape, const Machine& machine, const Devices& devices,
                  const Space& space) {
    Devices kept{.gpus = 0, .mig = {}, .numa = devices.numa};
    if (shape.spec.gpu.kind == GpuKind::mig) {
        std::vector<MigLayout> layouts = layouts_of(machine, space);
        for (const MigSlot& slot : devices.mig) {
            const bool is_cut = slot.gpu < layouts.size() && slot.start < 8 &&
                                (machine.mig_gpus >> slot.gpu & 1) != 0;
            if (!is_cut) { continue; }
            const std::optional<MigProfile> profile =
                profile_of(shape, *machine.model_of(slot.gpu));
            if (!profile || (fitting_starts(*profile, layouts[slot.gpu]) >> slot.start & 1) == 0) {
                continue;
            }
            layouts[slot.gpu] = with_instance(layouts[slot.gpu], *profile, slot.start);
            kept.mig.push_back(slot);
            kept.gpus |= std::uint64_t{1} << slot.gpu;
        }
        return kept;
    }
    for (std::uint64_t rest = devices.gpus & ~machine.mig_gpus; rest != 0; rest &= rest - 1) {
        const std::uint32_t gpu = index_of(rest);
        if (gpu >= machine.gpu_count()) { break; }
        const GpuFree& free = space.gpus[machine.gpu_begin + gpu];
        // A share of few MiB takes no thousandth: memory tells too.
        const bool is_free =
            shape.spec.gpu.kind == GpuKind::whole
                ? free.milli == gpu_milli_whole && free.mib == machine.model_of(gpu)->memory_mib
                : shares_on(shape, machine, gpu, space) > 0;
        if (is_free) { kept.gpus |= lowest(rest); }
    }
    return kept;
}

bool has_count(const Shape& shape, const Devices& devices) {
    const GpuNeed& need = shape.spec.gpu;
    const std::size_t count = need.kind == GpuKind::mig
                                  ? devices.mig.size()
                                  : static_cast<std::size_t>(std::popcount(devices.gpus));
    return count == (need.kind == GpuKind::none ? 0 : static_cast<std::size_t>(need.count));
}

bool are_free(const Shape& shape, const Machine& machine, const Devices& devices,
              const Space& space) {
    return has_count(shape, devices) && free_part(shape, machine, devices, space) == devices;
}

void change(Space& space, Taking taking, const Shape& shape, const Machine& machine, NodeId node,
            const Devices& devices) {
    const bool is_take = taking == Taking::take;
    const std::int32_t sign = is_take ? 1 : -1;
    NodeFree& free = space.nodes[node.value];
    free.milli_cpu -= sign * shape.milli_cpu;
    free.memory -= sign * shape.memory;
    free.pods -= sign;
    for (const auto& [name, count] : shape.extended) {
        const std::int64_t at = extended_at(machine, name);
        if (at >= 0) {
            space.extended[machine.extended_begin + static_cast<std::size_t>(at)] -= sign * count;
        }
    }
    if (devices.numa >= 0 && shape.spec.is_cpu_exclusive &&
        static_cast<std::size_t>(devices.numa) < machine.spec.numa.size()) {
        space.zone_cpu[machine.zone_begin + static_cast<std::size_t>(devices.numa)] -=
            sign * shape.milli_cpu;
    }
    for (const MigSlot& slot : devices.mig) {
        const std::optional<MigProfile> profile = profile_of(shape, *machine.model_of(slot.gpu));
        MUSTER_ASSERT(profile.has_value());
        const std::size_t gpu = machine.gpu_begin + slot.gpu;
        const MigLayout layout = layout_at(space, gpu);
        space.mig[gpu] = packed(is_take ? with_instance(layout, *profile, slot.start)
                                        : without_instance(layout, *profile, slot.start));
    }
    if (shape.spec.gpu.kind == GpuKind::mig) { return; }
    for (std::uint64_t rest = devices.gpus; rest != 0; rest &= rest - 1) {
        const std::uint32_t gpu = index_of(rest);
        const std::int32_t memory = machine.model_of(gpu)->memory_mib;
        const ShareNeed need = shape.spec.gpu.kind == GpuKind::whole
                                   ? ShareNeed{static_cast<std::int32_t>(gpu_milli_whole), memory}
                                   : share_of(shape.spec.gpu, memory);
        GpuFree& device = space.gpus[machine.gpu_begin + gpu];
        device.milli -= sign * need.milli;
        device.mib -= sign * need.mib;
        const bool is_whole = device.milli == gpu_milli_whole && device.mib == memory;
        free.whole = is_whole ? free.whole | lowest(rest) : free.whole & ~lowest(rest);
    }
}

OpenValue open_now(const Machine& machine, NodeId node, const Space& space,
                   const ValueModel& values) {
    NodeSum sum;
    sum.milli_cpu = space.nodes[node.value].milli_cpu;
    sum.model = machine.models.empty() ? static_cast<std::uint32_t>(gpu_models_max)
                                       : machine.models.front().model;
    for (std::uint64_t rest = machine.healthy & ~machine.mig_gpus; rest != 0; rest &= rest - 1) {
        const std::int32_t milli = space.gpus[machine.gpu_begin + index_of(rest)].milli;
        sum.worth += values.remainder(milli);
        sum.free_milli += milli;
        sum.full += milli >= gpu_milli_whole ? 1 : 0;
    }
    return {.sum = sum, .value = values.value(sum), .is_known = true};
}

Value value_lost(const Shape& shape, const Machine& machine, const Space& space,
                 const ValueModel& values, const OpenValue& before, std::uint64_t usable) {
    NodeSum after = before.sum;
    after.milli_cpu -= shape.milli_cpu;
    const GpuNeed& need = shape.spec.gpu;
    if (need.kind == GpuKind::whole) {
        after.worth -= need.count * values.remainder(gpu_milli_whole);
        after.free_milli -= need.count * gpu_milli_whole;
        after.full -= need.count;
    } else if (need.kind == GpuKind::share) {
        const std::uint64_t chosen = best_shares(shape, machine, usable, space, values);
        for (std::uint64_t rest = chosen; rest != 0; rest &= rest - 1) {
            const std::uint32_t at = index_of(rest);
            const std::int32_t free = space.gpus[machine.gpu_begin + at].milli;
            const std::int32_t milli = share_of(need, machine.model_of(at)->memory_mib).milli;
            after.worth += values.remainder(free - milli) - values.remainder(free);
            after.free_milli -= milli;
            after.full -= free >= gpu_milli_whole ? 1 : 0;
        }
    } else if (need.kind == GpuKind::mig) {
        constexpr Value mix_worth = 10 * value_scale;  // MIG GPUs have no other value
        Devices devices;
        std::int64_t lost = 0;
        if (choose_mig(shape, machine, usable, space, devices, lost)) {
            return before.value - values.value(after) + lost * mix_worth;
        }
    }
    return before.value - values.value(after);
}

}  // namespace muster
