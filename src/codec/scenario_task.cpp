#include "base/text.h"
#include "codec/scenario_specs.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace muster::scenario {

namespace {

constexpr std::int64_t gpu_count_max = static_cast<std::int64_t>(gpus_per_node_max);

/// `gpu=2 share=0.5` is two halves; a share of a MIG instance is nothing.
Result<bool> turn_into(GpuNeed& gpu, GpuKind kind) {
    if (gpu.kind != GpuKind::none && gpu.kind != GpuKind::whole && gpu.kind != kind) {
        return fail(Code::invalid, "mig= beside share= or mib=; expected one of the two");
    }
    gpu.kind = kind;
    gpu.count = std::max(gpu.count, std::int32_t{1});
    return true;
}

Result<bool> change_gpu_need(GpuNeed& gpu, const Attribute& attribute) {
    if (attribute.is("gpu")) {
        MUSTER_TRY(count, read_count(attribute, 1, gpu_count_max));
        gpu.count = static_cast<std::int32_t>(count);
        if (gpu.kind == GpuKind::none) { gpu.kind = GpuKind::whole; }
    } else if (attribute.is("share")) {
        MUSTER_TRY(milli, read_milli(attribute, gpu_milli_whole));
        if (milli == 0) { return fail(Code::invalid, "share=0; expected 0.001 to 1"); }
        gpu.milli = static_cast<std::int32_t>(milli);
        return turn_into(gpu, GpuKind::share);
    } else if (attribute.is("mib")) {
        MUSTER_TRY(mib, read_count(attribute, 1, gpu_memory_mib_max));
        gpu.mib = mib;
        return turn_into(gpu, GpuKind::share);
    } else if (attribute.is("mig")) {
        MUSTER_TRY(profile, read_name("mig", attribute.value));
        gpu.profile = profile;
        return turn_into(gpu, GpuKind::mig);
    } else if (attribute.is("model")) {
        MUSTER_TRY(models, read_names("model", attribute.value));
        gpu.models = std::move(models);
    } else if (attribute.is("near")) {
        if (!attribute.value.is("nic")) {
            return fail(Code::invalid,
                        fmt::format("near='{}'; expected nic", attribute.value.text));
        }
        gpu.near_nic = true;
    } else {
        return false;
    }
    return true;
}

Result<std::int32_t> read_weight(const Attribute& attribute, std::string_view prefix) {
    if (!attribute.has_prefix(prefix)) { return 0; }
    constexpr std::int64_t weight_max = 100;
    MUSTER_TRY(weight, parse_int(attribute.key.text, attribute.behind(prefix), 1, weight_max));
    return static_cast<std::int32_t>(weight);
}

/// `where=…` must hold (any of several), `where.20=…` is preferred with that weight; `implied=…` is
/// as `where=…`.
Result<> read_node_term(TaskSpec& task, const Attribute& attribute) {
    NodeTerm term;
    if (attribute.is("implied")) {
        MUSTER_TRY(matches, read_matches(attribute.value));
        task.implied.push_back({std::move(matches), 0});
        return {};
    }
    MUSTER_TRY(weight, read_weight(attribute, "where"));
    term.weight = weight;
    MUSTER_TRY(matches, read_matches(attribute.value));
    term.matches = std::move(matches);
    (weight == 0 ? task.required : task.preferred).push_back(std::move(term));
    return {};
}

/// `together=KEY|MATCHES[|NAMESPACES]`; `apart` is anti-affinity; `.20` makes it preferred.
Result<> read_pod_term(TaskSpec& task, const Attribute& attribute, std::string_view name) {
    PodTerm term;
    term.is_anti = name == "apart";
    MUSTER_TRY(weight, read_weight(attribute, name));
    term.weight = weight;
    const std::vector<Word> parts = attribute.value.split('|');
    if (parts.size() < 2 || parts.size() > 3) {
        return fail(Code::invalid, fmt::format("{}='{}'; expected KEY|MATCHES or "
                                               "KEY|MATCHES|NAMESPACES, such as rack|app=web",
                                               attribute.key.text, attribute.value.text));
    }
    MUSTER_TRY(key, read_name(name, parts[0]));
    term.topology_key = key;
    MUSTER_TRY(matches, read_matches(parts[1]));
    term.selector = std::move(matches);
    if (parts.size() == 3 && parts[2].is("*")) {
        term.is_any_namespace = true;
    } else if (parts.size() == 3) {
        MUSTER_TRY(namespaces, read_names("namespace", parts[2]));
        term.namespaces = std::move(namespaces);
    }
    task.pod_terms.push_back(std::move(term));
    return {};
}

/// `spread=KEY|MATCHES|SKEW[,RULES]`: `wish`, `min:N` domains, `all` nodes or only those whose
/// taints are `tolerated`.
Result<> read_spread(TaskSpec& task, const Attribute& attribute) {
    PodTerm term;
    const std::vector<Word> parts = attribute.value.split('|');
    if (parts.size() != 3) {
        return fail(Code::invalid, fmt::format("spread='{}'; expected KEY|MATCHES|SKEW, such as "
                                               "zone|app=web|1",
                                               attribute.value.text));
    }
    MUSTER_TRY(key, read_name("spread", parts[0]));
    term.topology_key = key;
    MUSTER_TRY(matches, read_matches(parts[1]));
    term.selector = std::move(matches);
    const std::vector<Word> rules = parts[2].split(',');
    MUSTER_TRY(skew, parse_int("spread", rules[0].text, 1, INT32_MAX));
    term.spread.max_skew = static_cast<std::int32_t>(skew);
    for (std::size_t i = 1; i < rules.size(); ++i) {
        const std::size_t colon = rules[i].find(':');
        if (rules[i].is("wish")) {
            term.spread.is_wish = true;
        } else if (rules[i].is("all")) {
            term.spread.skips_unselected = false;
        } else if (rules[i].is("tolerated")) {
            term.spread.skips_tainted = true;
        } else if (rules[i].part(0, colon).is("min") && colon != std::string::npos) {
            MUSTER_TRY(least, parse_int("spread", rules[i].part(colon + 1).text, 1, INT32_MAX));
            term.spread.domains_min = static_cast<std::int32_t>(least);
        } else {
            return fail(
                Code::invalid,
                fmt::format("spread: '{}'; expected wish, all, tolerated or min:N", rules[i].text));
        }
    }
    task.pod_terms.push_back(std::move(term));
    return {};
}

std::string write_spread(const PodTerm& term) {
    const SpreadRule& rule = term.spread;
    std::string out = fmt::format(" spread={}|{}|{}", quote(term.topology_key),
                                  write_matches(term.selector), rule.max_skew);
    if (rule.domains_min != 1) { out += fmt::format(",min:{}", rule.domains_min); }
    if (rule.is_wish) { out += ",wish"; }
    if (!rule.skips_unselected) { out += ",all"; }
    if (rule.skips_tainted) { out += ",tolerated"; }
    return out;
}

Result<bool> change_terms(TaskSpec& task, const Attribute& attribute) {
    if (attribute.is("where") || attribute.is("implied") || attribute.has_prefix("where")) {
        MUSTER_CHECK(read_node_term(task, attribute));
        return true;
    }
    for (const std::string_view name : {"together", "apart"}) {
        if (attribute.is(name) || attribute.has_prefix(name)) {
            MUSTER_CHECK(read_pod_term(task, attribute, name));
            return true;
        }
    }
    if (attribute.is("spread")) {
        MUSTER_CHECK(read_spread(task, attribute));
        return true;
    }
    if (attribute.is("tolerate")) {
        MUSTER_TRY(toleration, read_toleration(attribute.value));
        task.tolerations.push_back(std::move(toleration));
    } else if (attribute.has_prefix("selector")) {
        set_label(task.node_selector, attribute.behind("selector"), attribute.value.text);
    } else if (attribute.has_prefix("label")) {
        set_label(task.labels, attribute.behind("label"), attribute.value.text);
    } else {
        return false;
    }
    return true;
}

std::string write_gpu_need(const GpuNeed& gpu) {
    std::string out;
    switch (gpu.kind) {
        case GpuKind::none: break;
        case GpuKind::whole: out += fmt::format(" gpu={}", gpu.count); break;
        case GpuKind::share:
            if (gpu.milli != 0) { out += " share=" + write_milli(gpu.milli); }
            if (gpu.mib != 0) { out += fmt::format(" mib={}", gpu.mib); }
            break;
        case GpuKind::mig: out += " mig=" + quote(gpu.profile); break;
    }
    const bool has_more = gpu.kind == GpuKind::share || gpu.kind == GpuKind::mig;
    if (has_more && gpu.count != 1) { out += fmt::format(" gpu={}", gpu.count); }
    if (!gpu.models.empty()) { out += " model=" + write_names(gpu.models); }
    if (gpu.near_nic) { out += " near=nic"; }
    return out;
}

std::string with_weight(std::string_view key, std::int32_t weight) {
    return weight == 0 ? std::string(key) : fmt::format("{}.{}", key, weight);
}

std::string write_terms(const TaskSpec& task) {
    std::string out;
    for (const Label& label : task.node_selector) {
        out += fmt::format(" selector.{}={}", quote(label.key), quote(label.value));
    }
    for (const NodeTerm& term : task.required) {
        out += fmt::format(" where={}", write_matches(term.matches));
    }
    for (const NodeTerm& term : task.implied) {
        out += fmt::format(" implied={}", write_matches(term.matches));
    }
    for (const NodeTerm& term : task.preferred) {
        out +=
            fmt::format(" {}={}", with_weight("where", term.weight), write_matches(term.matches));
    }
    for (const Toleration& toleration : task.tolerations) {
        out += fmt::format(" tolerate={}", write_toleration(toleration));
    }
    for (const PodTerm& term : task.pod_terms) {
        if (term.spread.max_skew > 0) {
            out += write_spread(term);
            continue;
        }
        out +=
            fmt::format(" {}={}|{}", with_weight(term.is_anti ? "apart" : "together", term.weight),
                        quote(term.topology_key), write_matches(term.selector));
        if (term.is_any_namespace) {
            out += "|*";
        } else if (!term.namespaces.empty()) {
            out += '|' + write_names(term.namespaces);
        }
    }
    for (const Label& label : task.labels) {
        out += fmt::format(" label.{}={}", quote(label.key), quote(label.value));
    }
    return out;
}

}  // namespace

std::string_view task_keys() {
    return "gpu, share, mib, mig, model, near, cpu, mem, ext.NAME, selector.KEY, where, "
           "where.WEIGHT, implied, "
           "tolerate, together, apart, spread, label.KEY, ns, exclusive";
}

Result<bool> change_task(TaskSpec& task, const Attribute& attribute) {
    MUSTER_TRY(is_gpu, change_gpu_need(task.gpu, attribute));
    if (is_gpu) { return true; }
    MUSTER_TRY(is_term, change_terms(task, attribute));
    if (is_term) { return true; }
    if (attribute.is("cpu")) {
        MUSTER_TRY(cpu, read_cpu(attribute));
        task.request.milli_cpu = cpu;
    } else if (attribute.is("mem")) {
        MUSTER_TRY(memory, read_memory(attribute));
        task.request.memory = memory;
    } else if (attribute.has_prefix("ext")) {
        MUSTER_TRY(count, read_count(attribute, 0, extended_count_max));
        set_amount(task.request.extended, attribute.behind("ext"), count);
    } else if (attribute.is("ns")) {
        MUSTER_TRY(name, read_name("ns", attribute.value));
        task.name_space = name;
    } else if (attribute.is("exclusive")) {
        MUSTER_TRY(is_exclusive, read_flag(attribute));
        task.is_cpu_exclusive = is_exclusive;
    } else {
        return false;
    }
    return true;
}

std::string write_task(const TaskSpec& task) {
    std::string out = write_gpu_need(task.gpu);
    if (task.request.milli_cpu != 0) { out += " cpu=" + write_milli(task.request.milli_cpu); }
    if (task.request.memory != 0) { out += " mem=" + write_bytes(task.request.memory); }
    for (const Amount& amount : task.request.extended) {
        out += fmt::format(" ext.{}={}", quote(amount.name), amount.count);
    }
    out += write_terms(task);
    if (task.name_space != TaskSpec{}.name_space) { out += " ns=" + quote(task.name_space); }
    if (task.is_cpu_exclusive) { out += " exclusive=yes"; }
    return out;
}

}  // namespace muster::scenario
