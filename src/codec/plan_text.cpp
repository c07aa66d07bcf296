#include "codec/plan_text.h"

#include "codec/plan_names.h"

namespace muster {

namespace {

template <class Items>
void write_names_list(JsonWriter& out, std::string_view key, const Items& items) {
    out.key(key).begin_list();
    for (const auto& item : items) { out.value(item); }
    out.end_list();
}

}  // namespace

void write(JsonWriter& out, const Devices& devices) {
    out.begin_object().key("gpus").begin_list();
    for (std::int64_t i = 0; i < 64; ++i) {
        if ((devices.gpus >> i & 1) != 0) { out.value(i); }
    }
    out.end_list();
    out.key("mig").begin_list();
    for (const MigSlot& slot : devices.mig) {
        out.begin_object()
            .member("gpu", std::int64_t{slot.gpu})
            .member("start", std::int64_t{slot.start})
            .end_object();
    }
    out.end_list();
    out.member("numa", std::int64_t{devices.numa}).end_object();
}

void write(JsonWriter& out, const std::vector<TaskPlace>& tasks) {
    out.key("tasks").begin_list();
    for (const TaskPlace& place : tasks) {
        out.begin_object()
            .member("task", std::int64_t{place.task})
            .member("node", place.node)
            .member("counted", place.is_counted);
        write(out.key("devices"), place.devices);
        out.end_object();
    }
    out.end_list();
}

void write(JsonWriter& out, const Placement& placement) {
    out.begin_object()
        .member("workload", placement.workload)
        .member("level", placement.level)
        .member("domain", placement.domain)
        .member("crossings", std::int64_t{placement.crossings});
    write(out, placement.tasks);
    out.end_object();
}

void write(JsonWriter& out, const Reason& reason) {
    out.begin_object()
        .member("link", name_of(reason.link))
        .member("why", name_of(reason.why))
        .member("role", reason.role)
        .member("subject", reason.subject)
        .member("needed", reason.needed)
        .member("have", reason.have)
        .member("closest", reason.closest)
        .member("nodes", reason.nodes);
    out.key("causes").begin_list();
    for (const CauseCount& cause : reason.causes) {
        out.begin_object()
            .member("cause", name_of(cause.cause))
            .member("nodes", cause.nodes)
            .end_object();
    }
    out.end_list();
    write_names_list(out, "known", reason.known);
    out.key("wakes").begin_list();
    for (const Wake wake : reason.wakes) { out.value(name_of(wake)); }
    out.end_list();
    out.member("text", reason.text).end_object();
}

std::string write_plan(const Plan& plan) {
    JsonWriter out;
    out.begin_object().member("cycle", static_cast<std::int64_t>(plan.cycle));
    out.key("releases").begin_list();
    for (const Release& release : plan.releases) {
        out.begin_object().member("workload", release.workload);
        write(out, release.tasks);
        out.end_object();
    }
    out.end_list();
    out.key("placements").begin_list();
    for (const Placement& placement : plan.placements) { write(out, placement); }
    out.end_list();
    out.key("refusals").begin_list();
    for (const Refusal& refusal : plan.refusals) {
        out.begin_object().member("workload", refusal.workload);
        write(out.key("reason"), refusal.reason);
        out.end_object();
    }
    out.end_list().end_object();
    return out.take();
}

}  // namespace muster
