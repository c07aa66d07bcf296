#include "lab/patch.h"
#include "lab/values.h"

#include <boost/json.hpp>

#include <utility>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

// A list of what is still to merge stands for recursion, so that depth needs no bound here. Fields
// are made before pointers to them are taken, for an object that grows moves its fields.
json::value merge_patch(json::value document, const json::value& patch) {
    struct Step {
        json::value* target;
        const json::value* patch;
    };
    std::vector<Step> steps = {{&document, &patch}};
    while (!steps.empty()) {
        const Step step = steps.back();
        steps.pop_back();
        const json::object* changes = step.patch->if_object();
        if (changes == nullptr) {
            *step.target = *step.patch;
            continue;
        }
        if (!step.target->is_object()) { *step.target = json::object(); }
        json::object& fields = step.target->get_object();
        drop_fields(fields, [&](std::string_view name) {
            const json::value* change = changes->if_contains(name);
            return change != nullptr && change->is_null();
        });
        for (const auto& change : *changes) {
            if (!change.value().is_null()) { fields.emplace(change.key(), nullptr); }
        }
        for (const auto& change : *changes) {
            if (change.value().is_null()) { continue; }
            steps.push_back({fields.if_contains(change.key()), &change.value()});
        }
    }
    return document;
}

}  // namespace muster::lab
