#include "lab/queue_status.h"

#include "lab/known_resources.h"
#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <array>
#include <map>
#include <set>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

using kube::Informer;

constexpr std::int64_t gather_ms = 100;  // the counts are of all groups
constexpr std::int64_t cache_poll_ms = 20;
constexpr std::int64_t refused_wait_ms = 50;  // after a conflict or a failure

}  // namespace

struct QueueStatus::Impl : std::enable_shared_from_this<QueueStatus::Impl> {
    kube::Transport& transport;
    std::set<std::string> busy;  // a write is under way
    bool is_ready = false;
    bool is_armed = false;
    Informer groups;
    Informer queues;

    explicit Impl(kube::Transport& transport_in)
        : transport(transport_in),
          groups(transport, known::pod_groups,
                 [this](auto, const auto&, const auto&, const auto*) { arm(); }),
          queues(transport, known::queues,
                 [this](auto, const auto&, const auto&, const auto*) { arm(); }) {}

    void arm() {
        if (!is_ready || is_armed) { return; }
        is_armed = true;
        transport.after(gather_ms, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self == nullptr) { return; }
            self->is_armed = false;
            self->write_queues();
        });
    }

    void start() {
        groups.start();
        queues.start();
        wait_for_caches();
    }

    void wait_for_caches() {
        is_ready = groups.is_synced() && queues.is_synced();
        if (is_ready) {
            make_default_queue();
            arm();
            return;
        }
        transport.after(cache_poll_ms, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) { self->wait_for_caches(); }
        });
    }

    void make_default_queue() {
        if (queues.find({"", "default"}) != nullptr) { return; }
        const json::object queue{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                                 {"kind", "Queue"},
                                 {"metadata", json::object{{"name", "default"}}},
                                 {"spec", {{"weight", 1}, {"reclaimable", true}}}};
        transport.call(
            kube::create_call(known::queues, "", queue),
            [weak = weak_from_this()](const Result<kube::Answer>& answer) {
                const auto self = weak.lock();
                // 409: somebody else has made it.
                if (self == nullptr || (answer && (answer->is_ok() || answer->status == 409))) {
                    return;
                }
                self->transport.after(refused_wait_ms, [weak] {
                    if (const auto again = weak.lock()) { again->make_default_queue(); }
                });
            });
    }

    void write_queues() {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 5> fields{
            {{"Pending", "pending"},
             {"Inqueue", "inqueue"},
             {"Running", "running"},
             {"Unknown", "unknown"},
             {"Completed", "completed"}}};
        std::map<std::string, std::map<std::string, std::int64_t>> counts;
        for (const auto& [name, group] : groups.objects()) {
            const std::string queue(volcano::text_or(group, "spec.queue", "default"));
            ++counts[queue][std::string(volcano::text_or(group, "status.phase", "Pending"))];
        }
        for (const auto& [name, queue] : queues.objects()) {
            json::object status;
            if (text_at(queue, "status.state").empty()) { status["state"] = "Open"; }
            for (const auto& [phase, field] : fields) {
                const std::int64_t count = counts[name.second][std::string(phase)];
                if (kube::int_at(queue, fmt::format("status.{}", field), -1) != count) {
                    status[field] = count;
                }
            }
            if (!status.empty()) { write_queue(name.second, std::move(status)); }
        }
    }

    void write_queue(const std::string& name, json::object status) {
        if (!busy.insert(name).second) { return; }
        json::object patch;
        patch["status"] = std::move(status);
        transport.call(
            kube::patch_call({.resource = known::queues, .name = {"", name}, .rest = "status"},
                             patch),
            [weak = weak_from_this(), name](const Result<kube::Answer>&) {
                const auto self = weak.lock();
                if (self == nullptr) { return; }
                self->busy.erase(name);
                self->arm();
            });
    }
};

QueueStatus::QueueStatus(kube::Transport& transport) : impl_(std::make_shared<Impl>(transport)) {}
QueueStatus::~QueueStatus() = default;

void QueueStatus::start() { impl_->start(); }

}  // namespace muster::lab
