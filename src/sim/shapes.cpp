#include "sim/shapes.h"

#include "model/mig.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace muster::sim {

namespace {

/// A present node with GPUs: those of one model that a task could get whole, and all of that model.
struct Part {
    const Machine* machine = nullptr;
    std::string model;
    std::int64_t total = 0;
    std::int64_t free = 0;
};

std::string_view label_of(const NodeSpec& node, std::string_view key) {
    for (const Label& label : node.labels) {
        if (label.key == key) { return label.value; }
    }
    return {};
}

std::vector<Part> parts_of(const World& world) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < world.machines.size(); ++i) {
        const Machine& machine = world.machines[i];
        if (!machine.is_present) { continue; }
        const bool is_open = machine.spec.is_ready && !machine.spec.is_cordoned;
        const std::uint64_t whole =
            is_open ? world.space.nodes[i].whole & machine.healthy & ~machine.mig_gpus : 0;
        for (const ModelGpus& entry : machine.models) {
            const std::uint64_t uncut = entry.gpus & ~machine.mig_gpus;
            if (uncut == 0) { continue; }
            parts.push_back({&machine, world.gpu_models[entry.model], std::popcount(uncut),
                             std::popcount(uncut & whole)});
        }
    }
    std::ranges::sort(parts, [](const Part& a, const Part& b) {
        return compare_natural(a.machine->spec.name, b.machine->spec.name) < 0;
    });
    return parts;
}

std::vector<NodeShape> node_shapes(const std::vector<Part>& parts) {
    std::map<std::pair<std::string, std::int64_t>, NodeShape> shapes;
    for (const Part& part : parts) {
        NodeShape& shape = shapes[{part.model, -part.total}];
        shape.model = part.model;
        shape.gpus = part.total;
        shape.total += 1;
        shape.free += part.free == part.total;
        shape.free_gpus += part.free;
    }
    std::vector<NodeShape> out;
    for (auto& [key, shape] : shapes) { out.push_back(std::move(shape)); }
    return out;
}

std::vector<DomainShape> domain_shapes(const World& world, const std::vector<Part>& parts) {
    std::vector<DomainShape> out;
    for (const Level& level : world.topology.levels()) {
        std::map<std::string_view, bool> is_free;
        for (const Part& part : parts) {
            const std::string_view name = label_of(part.machine->spec, level.key);
            if (name.empty()) { continue; }
            const auto [entry, is_new] = is_free.emplace(name, true);
            entry->second = entry->second && part.free == part.total;
        }
        DomainShape shape{.level = level.name};
        for (const auto& [name, free] : is_free) {
            shape.total += 1;
            shape.free += free;
        }
        out.push_back(std::move(shape));
    }
    return out;
}

std::vector<MigShape> mig_shapes(const World& world) {
    std::map<std::string, std::vector<std::pair<const GpuProduct*, MigLayout>>> cards;
    for (std::size_t i = 0; i < world.machines.size(); ++i) {
        const Machine& machine = world.machines[i];
        const bool is_open =
            machine.is_present && machine.spec.is_ready && !machine.spec.is_cordoned;
        if (!is_open) { continue; }
        for (std::uint32_t gpu = 0; gpu < machine.gpu_count(); ++gpu) {
            const std::uint64_t bit = std::uint64_t{1} << gpu;
            const ModelGpus* model = machine.model_of(gpu);
            const bool is_cut = (machine.mig_gpus & machine.healthy & bit) != 0;
            if (!is_cut || model == nullptr || model->product == nullptr) { continue; }
            const std::uint16_t used = world.space.mig[machine.gpu_begin + gpu];
            cards[world.gpu_models[model->model]].emplace_back(
                model->product,
                MigLayout{static_cast<std::uint8_t>(used & 0xff), (used >> 8 & 1) != 0});
        }
    }
    std::vector<MigShape> out;
    for (const auto& [model, layouts] : cards) {
        const GpuProduct& product = *layouts.front().first;
        for (const MigProfile& profile : mig_profiles(product)) {
            MigShape shape{.model = model, .profile = mig_profile_name(product, profile.kind)};
            for (const auto& [of_card, layout] : layouts) {
                shape.fits += instances_that_fit(profile, layout);
            }
            out.push_back(std::move(shape));
        }
    }
    return out;
}

/// The domain of `key` ("" = everything, "node" = each alone) that takes most tasks of `gpus`.
std::pair<std::int64_t, std::string> largest(const std::vector<Part>& parts, const GangShape& of,
                                             std::string_view key) {
    std::map<std::string, std::int64_t> tasks;
    for (const Part& part : parts) {
        if (part.model != of.model) { continue; }
        const std::string name = of.level == "cluster" ? std::string()
                                 : of.level == "node"
                                     ? part.machine->spec.name
                                     : std::string(label_of(part.machine->spec, key));
        if (name.empty() && of.level != "cluster") { continue; }
        tasks[name] += part.free / of.gpus;
    }
    std::pair<std::int64_t, std::string> best = {0, ""};
    for (const auto& [name, count] : tasks) {
        const bool is_better = count > best.first || (count == best.first && count > 0 &&
                                                      compare_natural(name, best.second) < 0);
        if (is_better) { best = {count, name}; }
    }
    return best;
}

std::vector<GangShape> gang_shapes(const World& world, const std::vector<Part>& parts) {
    std::map<std::string, std::int64_t> size_of;  // GPUs of the largest node, by model
    for (const Part& part : parts) {
        size_of[part.model] = std::max(size_of[part.model], part.total);
    }
    std::vector<Level> levels = {{"cluster", ""}};
    levels.insert(levels.end(), world.topology.levels().begin(), world.topology.levels().end());
    levels.push_back({"node", ""});
    std::vector<GangShape> out;
    for (const auto& [model, size] : size_of) {
        for (const std::int64_t gpus : std::set<std::int64_t, std::greater<>>{size, 1}) {
            for (const Level& level : levels) {
                GangShape shape{.level = level.name, .model = model, .gpus = gpus};
                std::tie(shape.tasks, shape.domain) = largest(parts, shape, level.key);
                out.push_back(std::move(shape));
            }
        }
    }
    return out;
}

std::string of_model(const std::string& model) { return model.empty() ? "" : " " + model; }

}  // namespace

FreeShapes free_shapes(const World& world) {
    const std::vector<Part> parts = parts_of(world);
    return {.nodes = node_shapes(parts),
            .domains = domain_shapes(world, parts),
            .mig = mig_shapes(world),
            .gangs = gang_shapes(world, parts)};
}

Lines show_shapes(const FreeShapes& shapes) {
    Lines lines;
    for (const NodeShape& shape : shapes.nodes) {
        lines.push_back(fmt::format("whole nodes of {}{} gpu  {} of {}, {} gpu free", shape.gpus,
                                    of_model(shape.model), shape.free, shape.total,
                                    shape.free_gpus));
    }
    for (const DomainShape& shape : shapes.domains) {
        lines.push_back(fmt::format("whole {}s  {} of {}", shape.level, shape.free, shape.total));
    }
    for (const MigShape& shape : shapes.mig) {
        lines.push_back(
            fmt::format("mig {} on{}  {}", shape.profile, of_model(shape.model), shape.fits));
    }
    for (const GangShape& shape : shapes.gangs) {
        lines.push_back(fmt::format("largest gang of {}{} gpu a task in one {}  {}{}", shape.gpus,
                                    of_model(shape.model), shape.level, shape.tasks,
                                    shape.domain.empty() ? "" : " in " + shape.domain));
    }
    if (lines.empty()) { lines.emplace_back("no GPUs"); }
    return lines;
}

}  // namespace muster::sim
