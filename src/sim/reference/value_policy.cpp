#include "sim/reference/value_policy.h"

#include "sim/openb_study.h"

#include <map>
#include <utility>

namespace muster::sim {

namespace {

/// One policy's memory, shared by its functions.
struct Learner {
    Mix mix;
    ValueModel model;
    std::vector<std::int64_t> capacity;
    std::uint64_t nodes = 1;

    Scored score(const ReferenceNode& node, const Request& request) const;
    bool learn(const Request& request);
};

Scored Learner::score(const ReferenceNode& node, const Request& request) const {
    const NodeSum before = model.sum(node.open());
    const Value base = model.value(before) + model.rank_cost({.rank = node.rank, .nodes = nodes});
    NodeSum after = before;
    after.milli_cpu -= request.milli_cpu;
    if (request.gpu_count != 1 || request.gpu_milli >= gpu_milli_whole) {
        after.worth -= request.gpu_count * model.remainder(gpu_milli_whole);
        after.free_milli -= request.gpu_demand();
        after.full -= request.gpu_count;
        return {.score = model.value(after) - base, .gpu = 0};
    }
    after.free_milli -= request.gpu_milli;
    Scored best;
    bool is_first = true;
    for (std::size_t i = 0; i < node.gpu_free_milli.size(); ++i) {
        const std::int32_t free = node.gpu_free_milli[i];
        if (free < request.gpu_milli) { continue; }
        NodeSum here = after;
        here.worth += model.remainder(free - request.gpu_milli) - model.remainder(free);
        here.full -= free == gpu_milli_whole ? 1 : 0;
        const Value score = model.value(here) - base;
        if (is_first || score > best.score) { best = {.score = score, .gpu = i}; }
        is_first = false;
    }
    return best;
}

bool Learner::learn(const Request& request) {
    mix.add(request.mix_class());
    if (!mix.is_due()) { return false; }
    model = ValueModel(mix.classes(), capacity, mix.churn());
    mix.build_done();
    return true;
}

std::shared_ptr<Learner> make_learner(const OpenbStudy& study) {
    auto learner = std::make_shared<Learner>();
    learner->capacity = study.gpu_milli_by_model();
    learner->nodes = study.nodes.size();
    return learner;
}

Scorer scorer_of(const std::shared_ptr<Learner>& learner) {
    return [learner](const ReferenceNode& node, const Request& request) {
        return learner->score(node, request);
    };
}

}  // namespace

std::vector<MixClass> declared_mix(const OpenbStudy& study) {
    std::map<MixClass, std::int64_t> counts;
    for (const Request& request : study.requests) { counts[request.mix_class()] += 1; }
    std::vector<MixClass> mix;
    for (const auto& [job, count] : counts) {
        mix.push_back(job);
        mix.back().weight = count;
    }
    return mix;
}

ReplayPolicy declared_value_policy(const OpenbStudy& study, Churn churn) {
    auto learner = make_learner(study);
    learner->model = ValueModel(declared_mix(study), learner->capacity, churn);
    return {.score = scorer_of(learner), .learn = {}, .leave = {}};
}

ReplayPolicy learned_value_policy(const OpenbStudy& study) {
    auto learner = make_learner(study);
    learner->model = ValueModel(default_mix(), learner->capacity);
    return {.score = scorer_of(learner),
            .learn = [learner](const Request& request) { return learner->learn(request); },
            .leave = [learner] { learner->mix.leave(); }};
}

}  // namespace muster::sim
