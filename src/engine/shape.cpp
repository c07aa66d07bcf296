#include "engine/shape.h"

#include "base/assert.h"
#include "model/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace muster {

namespace {

/// Length-prefixed, so that no two different tasks share a key.
void put(std::string& key, std::string_view text) {
    fmt::format_to(std::back_inserter(key), "{}:{}", text.size(), text);
}

void put(std::string& key, std::int64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put(std::string& key, const std::vector<LabelMatch>& matches) {
    put(key, static_cast<std::int64_t>(matches.size()));
    for (const LabelMatch& match : matches) {
        put(key, match.key);
        put(key, static_cast<std::int64_t>(match.op));
        put(key, static_cast<std::int64_t>(match.values.size()));
        for (const std::string& value : match.values) { put(key, value); }
    }
}

void put(std::string& key, const std::vector<NodeTerm>& terms) {
    put(key, static_cast<std::int64_t>(terms.size()));
    for (const NodeTerm& term : terms) {
        put(key, term.weight);
        put(key, term.matches);
    }
}

std::string key_of(const TaskSpec& task) {
    std::string key;
    put(key, task.request.milli_cpu);
    put(key, task.request.memory);
    put(key, static_cast<std::int64_t>(task.request.extended.size()));
    for (const Amount& amount : task.request.extended) {
        put(key, amount.name);
        put(key, amount.count);
    }
    put(key, static_cast<std::int64_t>(task.gpu.kind));
    put(key, task.gpu.count);
    put(key, task.gpu.milli);
    put(key, task.gpu.mib);
    put(key, task.gpu.near_nic ? 1 : 0);
    put(key, task.is_cpu_exclusive ? 1 : 0);
    put(key, task.gpu.profile);
    put(key, static_cast<std::int64_t>(task.gpu.models.size()));
    for (const std::string& model : task.gpu.models) { put(key, model); }
    put(key, static_cast<std::int64_t>(task.node_selector.size()));
    for (const Label& label : task.node_selector) {
        put(key, label.key);
        put(key, label.value);
    }
    put(key, task.required);
    put(key, task.implied);
    put(key, task.preferred);
    put(key, static_cast<std::int64_t>(task.tolerations.size()));
    for (const Toleration& toleration : task.tolerations) {
        put(key, toleration.key);
        put(key, toleration.value);
        put(key, static_cast<std::int64_t>(toleration.op));
        put(key, toleration.is_any_effect ? -1 : static_cast<std::int64_t>(toleration.effect));
    }
    put(key, static_cast<std::int64_t>(task.pod_terms.size()));
    if (!task.pod_terms.empty()) { put(key, task.name_space); }
    for (const PodTerm& term : task.pod_terms) {
        put(key, term.selector);
        put(key, term.topology_key);
        put(key, term.is_anti ? 1 : 0);
        put(key, term.weight);
        put(key, term.is_any_namespace ? 1 : 0);
        put(key, term.spread.max_skew);
        put(key, term.spread.domains_min);
        put(key, (term.spread.is_wish ? 1 : 0) + (term.spread.skips_unselected ? 2 : 0) +
                     (term.spread.skips_tainted ? 4 : 0));
        put(key, static_cast<std::int64_t>(term.namespaces.size()));
        for (const std::string& name : term.namespaces) { put(key, name); }
    }
    return key;
}

Shape compile(const TaskSpec& task, Symbols& symbols, std::vector<std::string>& gpu_models) {
    Shape shape;
    shape.spec = task;
    shape.spec.labels.clear();
    shape.milli_cpu = task.request.milli_cpu;
    shape.memory = task.request.memory;
    for (const Amount& amount : task.request.extended) {
        if (amount.count > 0) {
            shape.extended.emplace_back(symbols.intern(amount.name), amount.count);
        }
    }
    if (!task.gpu.models.empty()) {
        shape.models = 0;
        for (const std::string& model : task.gpu.models) {
            shape.models |= std::uint64_t{1} << gpu_model_index(gpu_models, model);
        }
    }
    for (const Label& label : task.node_selector) {
        Match match;
        match.key = symbols.intern(label.key);
        match.values.push_back(symbols.intern(label.value));
        shape.node_selector.push_back(std::move(match));
    }
    for (const NodeTerm& term : task.required) {
        shape.required.push_back(compile_matches(term.matches, symbols));
    }
    for (const NodeTerm& term : task.implied) {
        shape.implied.push_back(compile_matches(term.matches, symbols));
    }
    for (const NodeTerm& term : task.preferred) {
        shape.preferred.push_back({compile_matches(term.matches, symbols), term.weight});
    }
    return shape;
}

}  // namespace

std::vector<Symbol> keys_of(const Shape& shape) {
    std::vector<Symbol> keys;
    const auto add = [&](const std::vector<Match>& matches) {
        for (const Match& match : matches) { keys.push_back(match.key); }
    };
    add(shape.node_selector);
    for (const auto& term : shape.required) { add(term); }
    for (const auto& term : shape.implied) { add(term); }
    for (const NodePreference& preference : shape.preferred) { add(preference.matches); }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

ShapeId ShapeTable::acquire(const TaskSpec& task, Symbols& symbols,
                            std::vector<std::string>& gpu_models) {
    std::string key = key_of(task);
    if (const auto found = ids_.find(key); found != ids_.end()) {
        ++shapes_[found->second.value].users;
        return found->second;
    }
    ShapeId id(shapes_.size());
    if (free_.empty()) {
        shapes_.emplace_back();
        keys_.emplace_back();
    } else {
        id = free_.back();
        free_.pop_back();
    }
    shapes_[id.value] = compile(task, symbols, gpu_models);
    shapes_[id.value].users = 1;
    keys_[id.value] = key;
    ids_.emplace(std::move(key), id);
    return id;
}

void ShapeTable::release(ShapeId id) {
    Shape& shape = shapes_[id.value];
    MUSTER_ASSERT(shape.users > 0);
    if (--shape.users > 0) { return; }
    ids_.erase(keys_[id.value]);
    free_.push_back(id);
}

std::uint32_t gpu_model_index(std::vector<std::string>& gpu_models, const std::string& name) {
    const auto found = std::find(gpu_models.begin(), gpu_models.end(), name);
    if (found != gpu_models.end()) {
        return static_cast<std::uint32_t>(found - gpu_models.begin());
    }
    if (gpu_models.size() == gpu_models_max) {
        return static_cast<std::uint32_t>(gpu_models_max - 1);
    }
    gpu_models.push_back(name);
    return static_cast<std::uint32_t>(gpu_models.size() - 1);
}

}  // namespace muster
