#include "lab/field_walk.h"

#include <boost/json.hpp>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

using Form = FieldType::Form;

const json::object no_fields;
const json::array no_items;

/// The fields of what is a map, or null in place of one.
const json::object& fields_in(const json::value* value) {
    return value != nullptr && value->is_object() ? value->get_object() : no_fields;
}

const json::array& items_in(const json::value* value) {
    return value != nullptr && value->is_array() ? value->get_array() : no_items;
}

/// An item that cannot be told from others, in an object that is stored already, is the one in its
/// place.
std::vector<FieldStep> steps_of(const json::array& items, const FieldType& type) {
    std::vector<FieldStep> out;
    out.reserve(items.size());
    for (const json::value& item : items) {
        Result<FieldStep> step = type.step_of(item);
        out.push_back(step ? *std::move(step) : FieldStep::at(out.size()));
    }
    return out;
}

using Items = std::map<FieldStep, std::vector<const json::value*>>;

Items index_items(const json::array& items, const FieldType& type) {
    Items out;
    std::vector<FieldStep> steps = steps_of(items, type);
    for (std::size_t i = 0; i < items.size(); ++i) {
        out[std::move(steps[i])].push_back(&items[i]);
    }
    return out;
}

FieldChanges compare_inside(Form form, const json::value* before, const json::value* after,
                            const FieldType& type);

void compare_at(const FieldStep& step, const json::value* before, const json::value* after,
                const FieldType& type, FieldChanges& out) {
    if (before != nullptr && after != nullptr && is_same_value(*before, *after)) { return; }
    const Form form = type.form(before, after);
    if (form == Form::clash) {
        // What was inside is gone, what is inside now is new, and the field itself is another.
        if (const Form old_form = type.form(before); old_form != Form::leaf) {
            out.removed.put(step, false, compare_inside(old_form, before, nullptr, type).removed);
        }
        if (const Form new_form = type.form(after); new_form != Form::leaf) {
            out.added.put(step, false, compare_inside(new_form, nullptr, after, type).added);
        }
        out.modified.put(step, true, {});
        return;
    }
    if (form == Form::leaf) {
        FieldSet& changes = before == nullptr  ? out.added
                            : after == nullptr ? out.removed
                                               : out.modified;
        changes.put(step, true, {});
        return;
    }
    FieldChanges inside = compare_inside(form, before, after, type);
    out.added.put(step, before == nullptr, std::move(inside.added));
    out.removed.put(step, after == nullptr, std::move(inside.removed));
    out.modified.put(step, false, std::move(inside.modified));
}

FieldChanges compare_maps(const json::object& before, const json::object& after,
                          const FieldType& type) {
    FieldChanges out;
    for (const auto& [name, value] : before) {
        compare_at(FieldStep::field(name), &value, after.if_contains(name), type.field(name), out);
    }
    for (const auto& [name, value] : after) {
        if (before.contains(name)) { continue; }
        compare_at(FieldStep::field(name), nullptr, &value, type.field(name), out);
    }
    return out;
}

bool are_same(const std::vector<const json::value*>& left,
              const std::vector<const json::value*>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const json::value* one, const json::value* other) {
                          return is_same_value(*one, *other);
                      });
}

FieldChanges compare_lists(const json::array& before, const json::array& after,
                           const FieldType& type) {
    FieldChanges out;
    const Items old_items = index_items(before, type);
    const Items new_items = index_items(after, type);
    const FieldType item = type.item();
    for (const auto& [step, values] : old_items) {
        const auto found = new_items.find(step);
        if (found == new_items.end()) {
            compare_at(step, values.front(), nullptr, item, out);
        } else if (values.size() == 1 && found->second.size() == 1) {
            compare_at(step, values.front(), found->second.front(), item, out);
        } else if (!are_same(values, found->second)) {
            out.modified.put(step, true, {});
        }
    }
    for (const auto& [step, values] : new_items) {
        if (!old_items.contains(step)) { compare_at(step, nullptr, values.front(), item, out); }
    }
    return out;
}

FieldChanges compare_inside(Form form, const json::value* before, const json::value* after,
                            const FieldType& type) {
    return form == Form::map ? compare_maps(fields_in(before), fields_in(after), type)
                             : compare_lists(items_in(before), items_in(after), type);
}

json::value merge_at(const json::value* live, const json::value* applied, const FieldType& type);

json::value merge_maps(const json::object& live, const json::object& applied,
                       const FieldType& type) {
    json::object out;
    for (const auto& [name, value] : live) {
        out[name] = merge_at(&value, applied.if_contains(name), type.field(name));
    }
    for (const auto& [name, value] : applied) {
        if (!live.contains(name)) { out[name] = merge_at(nullptr, &value, type.field(name)); }
    }
    return out;
}

json::value merge_lists(const json::array& live, const json::array& applied,
                        const FieldType& type) {
    const Items live_items = index_items(live, type);
    const Items applied_items = index_items(applied, type);
    const std::vector<FieldStep> live_steps = steps_of(live, type);
    const std::vector<FieldStep> applied_steps = steps_of(applied, type);
    // Of each the next one, or itself, that both have: what is in `live` only and ahead of that one
    // is put ahead of it.
    std::vector<const FieldStep*> next_shared(applied.size() + 1, nullptr);
    for (std::size_t j = applied.size(); j-- > 0;) {
        const bool is_shared = live_items.contains(applied_steps[j]);
        next_shared[j] = is_shared ? &applied_steps[j] : next_shared[j + 1];
    }

    const FieldType item = type.item();
    json::array out;
    std::size_t i = 0;
    const auto take_live_up_to = [&](const FieldStep* stop) {
        for (; i < live.size() && (stop == nullptr || live_steps[i] != *stop); ++i) {
            if (!applied_items.contains(live_steps[i])) { out.push_back(live[i]); }
        }
    };
    for (std::size_t j = 0; j < applied.size(); ++j) {
        take_live_up_to(next_shared[j]);
        const auto found = live_items.find(applied_steps[j]);
        const bool is_one = found != live_items.end() && found->second.size() == 1;
        out.push_back(merge_at(is_one ? found->second.front() : nullptr, &applied[j], item));
        if (i < live.size() && live_steps[i] == applied_steps[j]) { ++i; }
    }
    take_live_up_to(nullptr);
    return out;
}

json::value merge_at(const json::value* live, const json::value* applied, const FieldType& type) {
    if (applied == nullptr || (live != nullptr && is_same_value(*live, *applied))) { return *live; }
    switch (type.form(live, applied)) {
        case Form::map: return merge_maps(fields_in(live), fields_in(applied), type);
        case Form::list: return merge_lists(items_in(live), items_in(applied), type);
        case Form::leaf:
        case Form::open:
        case Form::clash: break;
    }
    return *applied;
}

}  // namespace

FieldSet fields_of(const json::value& value, const FieldType& type) {
    FieldSet out;
    const Form form = type.form(&value);
    if (form == Form::map) {
        for (const auto& [name, inside] : fields_in(&value)) {
            const FieldType below = type.field(name);
            const bool is_bare =
                inside.is_null() || (inside.is_object() && inside.get_object().empty());
            const bool is_member =
                is_bare || below.form(&inside) == Form::leaf || !type.names(name);
            out.put(FieldStep::field(name), is_member, fields_of(inside, below));
        }
    }
    if (form == Form::list) {
        const FieldType item = type.item();
        for (const auto& [step, values] : index_items(items_in(&value), type)) {
            out.put(step, true, values.size() == 1 ? fields_of(*values.front(), item) : FieldSet());
        }
    }
    return out;
}

FieldChanges compare_fields(const json::value& before, const json::value& after,
                            const FieldType& type) {
    return compare_maps(fields_in(&before), fields_in(&after), type);
}

json::value merge_fields(const json::value& live, const json::value& applied,
                         const FieldType& type) {
    return merge_maps(fields_in(&live), fields_in(&applied), type);
}

bool is_same_value(const json::value& left, const json::value& right) {
    if (left.is_object() && right.is_object()) {
        const json::object& one = left.get_object();
        const json::object& other = right.get_object();
        return one.size() == other.size() &&
               std::all_of(one.begin(), one.end(), [&other](const auto& field) {
                   const json::value* found = other.if_contains(field.key());
                   return found != nullptr && is_same_value(field.value(), *found);
               });
    }
    if (left.is_array() && right.is_array()) {
        return std::equal(left.get_array().begin(), left.get_array().end(),
                          right.get_array().begin(), right.get_array().end(), is_same_value);
    }
    if (left.is_number() && right.is_number()) { return field_scalar(left) == field_scalar(right); }
    return left == right;
}

}  // namespace muster::lab
