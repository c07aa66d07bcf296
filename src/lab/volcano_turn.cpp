#include "lab/volcano_turn.h"

#include "kube/objects.h"
#include "lab/known_resources.h"
#include "lab/queue_status.h"
#include "lab/volcano_job.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

using kube::Answer;
using kube::Call;
using kube::text_at;

/// The name of Volcano's program: of its Lease, and what it writes fields as.
constexpr std::string_view program = "vc-controller-manager";
/// What its charts and manifests label the pods with.
constexpr std::string_view app = "volcano-controller";
constexpr int status_not_found = 404;

/// When Volcano's controller last wrote it; empty when it never did.
std::string touch_of(const json::object& object) {
    std::string out;
    const json::array* fields = kube::array_at(object, "metadata.managedFields");
    if (fields == nullptr) { return out; }
    for (const json::value& one : *fields) {
        const json::object* entry = one.if_object();
        if (entry == nullptr || text_at(*entry, "manager") != program) { continue; }
        out = std::max(out, std::string(text_at(*entry, "time")));  // RFC 3339 sorts as text
    }
    return out;
}

}  // namespace

struct VolcanoTurn::Impl : std::enable_shared_from_this<VolcanoTurn::Impl> {
    kube::Transport& transport;
    VolcanoTurnOptions options;
    std::unique_ptr<VolcanoJobs> jobs;
    std::unique_ptr<QueueStatus> queues;
    std::unique_ptr<kube::Transport::Stream> stream;
    std::map<std::string, std::string> leases;   // by where they are: as they were seen last
    std::map<std::string, std::string> touched;  // by uid of a Job: by Volcano's controller
    std::string reason = "it has not looked yet";
    std::int64_t foreign_until = 0;

    // Of the look that is under way.
    int open = 0;
    std::string sign;
    std::string failure;
    bool is_served = false;

    Impl(kube::Transport& over, VolcanoTurnOptions with)
        : transport(over),
          options(std::move(with)) {}

    void later(std::int64_t milliseconds, void (Impl::*work)()) {
        transport.after(milliseconds, [weak = weak_from_this(), work] {
            if (const auto self = weak.lock()) { ((*self).*work)(); }
        });
    }

    void look() {
        sign.clear();
        failure.clear();
        open = 3;
        ask("/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3D" +
                std::string(program),
            [](Impl& self, const kube::ListPage& page) { self.read_leases(page); });
        ask("/api/v1/pods?labelSelector=app%3D" + std::string(app),
            [](Impl& self, const kube::ListPage& page) { self.read_pods(page); });
        is_served = true;
        ask(kube::path_of(known::volcano_jobs, "") + "?limit=1",
            [](Impl&, const kube::ListPage&) {});
    }

    void ask(const std::string& target, void (*read)(Impl&, const kube::ListPage&)) {
        Call call;
        call.target = target;
        transport.call(std::move(call), [weak = weak_from_this(), target,
                                         read](const Result<Answer>& answer) {
            const auto self = weak.lock();
            if (self == nullptr) { return; }
            if (answer && answer->status == status_not_found) {
                self->is_served = false;
            } else if (!answer || !answer->is_ok()) {
                self->failure = answer ? kube::refusal_of(target, *answer) : answer.error().message;
            } else if (const auto page = kube::read_page(answer->body)) {
                read(*self, *page);
            } else {
                self->failure = page.error().message;
            }
            if (--self->open == 0) { self->looked(); }
        });
    }

    /// One that is renewed is another one at each look. One that was left behind stays as it is.
    void read_leases(const kube::ListPage& page) {
        std::map<std::string, std::string> now;
        for (const json::object& lease : page.objects) {
            const std::string_view holder = text_at(lease, "spec.holderIdentity");
            if (text_at(lease, "metadata.name") != program || holder.empty()) { continue; }
            const std::string space(text_at(lease, "metadata.namespace"));
            std::string is = fmt::format("{} {}", holder, text_at(lease, "spec.renewTime"));
            const auto before = leases.find(space);
            if (before == leases.end() || before->second != is) {
                sign = fmt::format("the lease {}/{} is held by {}", space, program, holder);
            }
            now.emplace(space, std::move(is));
        }
        leases = std::move(now);
    }

    void read_pods(const kube::ListPage& page) {
        for (const json::object& pod : page.objects) {
            const std::string_view phase = text_at(pod, "status.phase");
            if (kube::label_of(pod, "app") != app || kube::is_leaving(pod) ||
                phase == "Succeeded" || phase == "Failed") {
                continue;
            }
            sign = fmt::format("pod {}/{} is Volcano's controller",
                               text_at(pod, "metadata.namespace"), text_at(pod, "metadata.name"));
        }
    }

    void looked() {
        later(options.look_ms, &Impl::look);
        if (!failure.empty()) { return stand_back("it can't look for Volcano's: " + failure); }
        if (!is_served) { return stand_back("no Volcano Jobs are served here"); }
        if (!sign.empty()) { return meet(sign); }
        if (stream == nullptr) { watch(); }
        if (options.now_ms() >= foreign_until) { act(); }
    }

    void watch() {
        Call call;
        call.target = kube::path_of(known::volcano_jobs, "") + "?watch=1&allowWatchBookmarks=true";
        stream = transport.stream(
            std::move(call), [this](std::string_view line) { hear(line); },
            [weak = weak_from_this()](const Result<Answer>&) {
                // The next look watches again, and what was there then tells what was missed.
                if (const auto self = weak.lock()) {
                    self->transport.after(0, [weak] {
                        if (const auto still = weak.lock()) { still->stream.reset(); }
                    });
                }
            });
    }

    void hear(std::string_view line) {
        boost::system::error_code error;
        const json::value event = json::parse(line, error);
        const json::object* object =
            !error && event.is_object() ? kube::object_at(event.get_object(), "object") : nullptr;
        if (object == nullptr) { return; }
        const std::string uid(kube::uid_of(*object));
        if (uid.empty()) { return; }  // a bookmark
        if (text_at(event.get_object(), "type") == "DELETED") {
            touched.erase(uid);
            return;
        }
        std::string touch = touch_of(*object);
        const auto [at, is_new] = touched.try_emplace(uid, touch);
        if (is_new || touch <= at->second) { return; }  // only a later one is a sign
        at->second = std::move(touch);
        meet(fmt::format("{} wrote Job {}/{}", program, text_at(*object, "metadata.namespace"),
                         text_at(*object, "metadata.name")));
    }

    void meet(const std::string& what) {
        foreign_until = options.now_ms() + options.quiet_ms;
        stand_back(what);
    }

    void stand_back(const std::string& why) {
        if (jobs == nullptr && reason == why) { return; }
        reason = why;
        jobs.reset();
        queues.reset();
        options.log.info("stands back from Volcano Jobs", {{"reason", why}});
    }

    void act() {
        if (jobs != nullptr) { return; }
        reason.clear();
        options.log.info("runs the Volcano Jobs");
        jobs = std::make_unique<VolcanoJobs>(transport, options.now_ms);
        jobs->start();
        queues = std::make_unique<QueueStatus>(transport);
        queues->start();
    }
};

VolcanoTurn::VolcanoTurn(kube::Transport& transport, VolcanoTurnOptions options)
    : impl_(std::make_shared<Impl>(transport, std::move(options))) {}
VolcanoTurn::~VolcanoTurn() { impl_->stream.reset(); }

void VolcanoTurn::start() { impl_->look(); }
bool VolcanoTurn::is_acting() const { return impl_->jobs != nullptr; }

}  // namespace muster::lab
