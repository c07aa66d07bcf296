#include "engine/match.h"

#include "base/text.h"

#include <algorithm>

namespace muster {

namespace {

bool tolerates(const Toleration& toleration, const Taint& taint) {
    if (!toleration.is_any_effect && toleration.effect != taint.effect) { return false; }
    if (toleration.key.empty()) { return toleration.op == TolerationOp::exists; }
    if (toleration.key != taint.key) { return false; }
    switch (toleration.op) {
        case TolerationOp::exists: return true;
        case TolerationOp::equal: return toleration.value == taint.value;
        case TolerationOp::greater:
        case TolerationOp::less: {
            const auto bound = parse_int(toleration.value);
            const auto value = parse_int(taint.value);
            if (!bound || !value) { return false; }
            return toleration.op == TolerationOp::greater ? *value > *bound : *value < *bound;
        }
    }
    return false;
}

bool is_tolerated_by_any(const Taint& taint, std::span<const Toleration> tolerations) {
    return std::any_of(tolerations.begin(), tolerations.end(),
                       [&](const Toleration& toleration) { return tolerates(toleration, taint); });
}

template <class Use>
void for_each_label(std::string_view packed, Use use) {
    while (!packed.empty()) {
        const std::size_t key_end = packed.find('\0');
        const std::size_t value_end = packed.find('\0', key_end + 1);
        use(packed.substr(0, key_end), packed.substr(key_end + 1, value_end - key_end - 1));
        packed.remove_prefix(value_end + 1);
    }
}

}  // namespace

std::string pack_labels(std::span<const Label> labels) {
    std::string packed;
    std::size_t bytes = 0;
    for (const Label& label : labels) { bytes += label.key.size() + label.value.size() + 2; }
    packed.reserve(bytes);
    for (const Label& label : labels) {
        packed.append(label.key).push_back('\0');
        packed.append(label.value).push_back('\0');
    }
    return packed;
}

std::vector<Label> unpack_labels(std::string_view packed) {
    std::vector<Label> labels;
    for_each_label(packed, [&](std::string_view key, std::string_view value) {
        labels.push_back({std::string(key), std::string(value)});
    });
    return labels;
}

LabelSet compile_labels(std::span<const Label> labels, Symbols& symbols) {
    LabelSet set;
    set.reserve(labels.size());
    for (const Label& label : labels) {
        set.emplace_back(symbols.intern(label.key), symbols.intern(label.value));
    }
    std::sort(set.begin(), set.end());
    return set;
}

LabelSet known_labels(std::string_view packed, const Symbols& symbols) {
    LabelSet set;
    for_each_label(packed, [&](std::string_view name, std::string_view text) {
        const Symbol key = symbols.find(name);
        if (!key.is_valid()) { return; }
        const Symbol value = symbols.find(text);
        set.emplace_back(key, value.is_valid() ? value : symbols.other());
    });
    std::sort(set.begin(), set.end());
    return set;
}

Symbol find_label(const LabelSet& labels, Symbol key) {
    const auto found =
        std::lower_bound(labels.begin(), labels.end(), key,
                         [](const auto& label, Symbol wanted) { return label.first < wanted; });
    return found != labels.end() && found->first == key ? found->second : Symbol{};
}

std::vector<Match> compile_matches(std::span<const LabelMatch> matches, Symbols& symbols) {
    std::vector<Match> compiled;
    for (const LabelMatch& match : matches) {
        Match out;
        out.key = symbols.intern(match.key);
        out.op = match.op;
        for (const std::string& value : match.values) {
            out.values.push_back(symbols.intern(value));
        }
        if (match.op == MatchOp::greater || match.op == MatchOp::less) {
            out.bound = parse_int(match.values.at(0)).value();  // checked by check_task
        }
        compiled.push_back(std::move(out));
    }
    return compiled;
}

bool holds(const Match& match, const LabelSet& labels, const Symbols& symbols) {
    const Symbol value = find_label(labels, match.key);
    const auto is_listed = [&] {
        return std::find(match.values.begin(), match.values.end(), value) != match.values.end();
    };
    switch (match.op) {
        case MatchOp::in: return value.is_valid() && is_listed();
        case MatchOp::not_in: return !value.is_valid() || !is_listed();
        case MatchOp::exists: return value.is_valid();
        case MatchOp::does_not_exist: return !value.is_valid();
        case MatchOp::greater:
        case MatchOp::less: {
            if (!value.is_valid()) { return false; }
            const auto number = parse_int(symbols.text(value));
            if (!number) { return false; }
            return match.op == MatchOp::greater ? *number > match.bound : *number < match.bound;
        }
    }
    return false;
}

bool all_hold(std::span<const Match> matches, const LabelSet& labels, const Symbols& symbols) {
    return std::all_of(matches.begin(), matches.end(),
                       [&](const Match& match) { return holds(match, labels, symbols); });
}

bool is_tolerated(std::span<const Taint> taints, std::span<const Toleration> tolerations) {
    return std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
        return taint.effect == TaintEffect::prefer_no_schedule ||
               is_tolerated_by_any(taint, tolerations);
    });
}

int disliked_taints(std::span<const Taint> taints, std::span<const Toleration> tolerations) {
    return static_cast<int>(std::count_if(taints.begin(), taints.end(), [&](const Taint& taint) {
        return taint.effect == TaintEffect::prefer_no_schedule &&
               !is_tolerated_by_any(taint, tolerations);
    }));
}

}  // namespace muster
