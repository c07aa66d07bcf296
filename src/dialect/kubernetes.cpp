#include "dialect/kubernetes.h"

#include "dialect/kubernetes_around.h"
#include "dialect/kubernetes_gang.h"
#include "dialect/kubernetes_gpu.h"
#include "dialect/kubernetes_group.h"
#include "dialect/kubernetes_job.h"
#include "dialect/kubernetes_node.h"
#include "dialect/kubernetes_owner.h"
#include "dialect/kubernetes_pod.h"
#include "dialect/kubernetes_queue.h"
#include "dialect/topograph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace muster::dialect {

namespace {

enum class Kind : std::uint8_t {
    node,
    pod,
    priority_class,
    topology,
    hypernode,
    volcano_job,
    batch_job,
    controller,
    owner,
    workload,
    pod_group,
    composite_group,
    volcano_queue,
    kueue_queue,
    kueue_local_queue,
    kai_queue,
    around,
    harmless,
    unknown,
};

Kind kind_of(const Document& document) {
    const std::string_view kind = document.kind;
    const std::string_view version = document.api_version;
    if (version.empty() || kind.empty()) { return Kind::unknown; }
    if (around_kind(kind, version) != AroundKind::none) { return Kind::around; }
    if (version == "v1") {
        if (kind == "Node") { return Kind::node; }
        if (kind == "Pod") { return Kind::pod; }
        // What stands beside jobs in every manifest and places nothing.
        constexpr std::string_view beside[] = {"Service",        "ConfigMap", "Secret",
                                               "ServiceAccount", "Event",     "Endpoints"};
        const bool is_beside =
            std::find(std::begin(beside), std::end(beside), kind) != std::end(beside);
        return is_beside ? Kind::harmless : Kind::unknown;
    }
    if (kind == "PriorityClass" && version.starts_with("scheduling.k8s.io/")) {
        return Kind::priority_class;
    }
    if (kind == "Job") {
        if (version.starts_with("batch.volcano.sh/")) { return Kind::volcano_job; }
        return version.starts_with("batch/") ? Kind::batch_job : Kind::unknown;
    }
    if (version.starts_with("apps/") &&
        (kind == "Deployment" || kind == "StatefulSet" || kind == "ReplicaSet")) {
        return Kind::controller;
    }
    if ((kind == "JobSet" && version.starts_with("jobset.x-k8s.io/")) ||
        (kind == "LeaderWorkerSet" && version.starts_with("leaderworkerset.x-k8s.io/"))) {
        return Kind::owner;
    }
    if (kind == "Workload" && version == "scheduling.k8s.io/v1alpha1") { return Kind::workload; }
    if (kind == "PodGroup") { return group_dialect(version) ? Kind::pod_group : Kind::unknown; }
    if (kind == "CompositePodGroup" && version.starts_with("scheduling.k8s.io/")) {
        return Kind::composite_group;
    }
    if (kind == "Queue" && version.starts_with("scheduling.volcano.sh/")) {
        return Kind::volcano_queue;
    }
    if (version.starts_with("kueue.x-k8s.io/") && kind == "ClusterQueue") {
        return Kind::kueue_queue;
    }
    if (version.starts_with("kueue.x-k8s.io/") && kind == "LocalQueue") {
        return Kind::kueue_local_queue;
    }
    if (kind == "Queue" && version.starts_with("scheduling.run.ai/")) { return Kind::kai_queue; }
    if (kind == "HyperNode" && version.starts_with("topology.volcano.sh/")) {
        return Kind::hypernode;
    }
    if (kind == "Topology" &&
        (version.starts_with("kueue.x-k8s.io/") || version.starts_with("kai.scheduler/"))) {
        return Kind::topology;
    }
    return Kind::unknown;
}

class Reading {
public:
    /// `options`: null when everything is ours and new.
    Reading(const Documents& documents, KubernetesContext context, const ClusterOptions* options)
        : documents_(documents),
          context_(std::move(context)),
          options_(options),
          is_plan_(options == nullptr) {}

    /// Every fault of the objects is kept; with one, nothing is put together.
    Result<> run() {
        read_around();
        for (const Document& document : documents_.all()) { read_first(document); }
        if (!faults_.is_empty()) { return tl::unexpected(faults_.error()); }
        MUSTER_CHECK(settle_levels());
        for (const Document& document : documents_.all()) { read_second(document); }
        if (!faults_.is_empty()) { return tl::unexpected(faults_.error()); }
        settle_queues();
        MUSTER_CHECK(order_queues());
        demand_ = assemble(std::move(items_), options_, notes_);
        return {};
    }

    std::vector<Fact> take_facts() {
        std::vector<Fact> facts;
        if (!levels_.empty()) { facts.emplace_back(TopologySet{std::move(levels_)}); }
        for (NodeSpec& node : nodes_) { facts.emplace_back(NodeSet{std::move(node)}); }
        for (QueueSpec& queue : queues_) { facts.emplace_back(QueueSet{std::move(queue)}); }
        return facts;
    }
    /// Of each workload, the document.
    std::vector<std::string> take_origins() const {
        std::vector<std::string> out;
        for (const std::size_t item : demand_.origins) { out.emplace_back(files_[item]); }
        return out;
    }
    /// Of one document that was read: it has one item or none.
    std::vector<DemandItem> read_alone(const Document& document) {
        is_linking_ = true;
        read_second(document);
        return std::move(items_);
    }
    /// Of a Job whose pods stand alone and wait in its queue; empty of all else.
    std::string queue_job() const {
        return job_queues_.empty() ? std::string() : job_queues_.begin()->first;
    }
    Demand& demand() { return demand_; }
    Notes& notes() { return notes_; }
    const Faults& faults() const { return faults_; }
    Looks& looks() { return looks_; }
    KubernetesContext take_context() { return std::move(context_); }

private:
    const Documents& documents_;
    KubernetesContext context_;
    const ClusterOptions* options_;
    bool is_plan_;
    bool is_linking_ = false;  // what is tied to what, whoever schedules it
    Notes notes_;
    Faults faults_;
    std::vector<Fault> unsupported_;
    Looks looks_;
    std::vector<Level> levels_;
    std::vector<HyperNode> hypernodes_;
    Place topology_place_;
    std::vector<NodeSpec> nodes_;
    std::vector<QueueSpec> queues_;
    std::map<std::string, Place> queue_places_;
    std::map<std::string, std::vector<std::string>> cohorts_;  // Kueue's queues by cohort
    std::map<std::string, std::string> job_queues_;            // of Jobs whose pods stand alone
    std::vector<DemandItem> items_;
    std::vector<std::string_view> files_;   // of each item
    std::unordered_set<std::string> seen_;  // "Kind group/name"
    Demand demand_;

    Scope scope() {
        return {context_, notes_,   unsupported_,
                looks_,   is_plan_, is_linking_ || is_plan_ ? nullptr : &options_->schedulers};
    }

    /// The same object twice is a slip, and which one holds would be a guess.
    void check_new(const Field& object) {
        const Document& document = object.document();
        const Field metadata = object["metadata"];
        const bool has_namespace = document.kind != "Node" && document.kind != "Queue" &&
                                   document.kind != "ClusterQueue" &&
                                   document.kind != "PriorityClass" && document.kind != "Topology";
        const std::string name =
            has_namespace ? full_name(metadata) : std::string(metadata["name"].name());
        if (!seen_.insert(fmt::format("{} {} {}", document.kind, document.api_version, name))
                 .second) {
            metadata["name"].refuse(fmt::format("duplicate {} \"{}\"", document.kind, name));
        }
    }

    void read_around();
    void take_nomination(const Field& node, PodItem& pod) const;
    void read_first(const Document& document);
    void read_second(const Document& document);
    Result<> settle_levels();
    Result<> order_queues();
    void read_demand(Kind kind, const Field& object);
    void read_controller(const Field& object);
    void add_queue(const Field& object, QueueSpec queue);
    void settle_queues();
};

/// The room that another scheduler has made for its pod is the pod's.
void Reading::take_nomination(const Field& node, PodItem& pod) const {
    const std::vector<std::string>& ours = options_->schedulers;
    const bool is_ours = std::find(ours.begin(), ours.end(), pod.scheduler) != ours.end();
    if (is_ours || pod.phase != PodPhase::waiting || node.text().empty()) { return; }
    pod.node = node.name();
    pod.phase = PodPhase::bound;
}

/// On top of what the context has, which others hold too.
void Reading::read_around() {
    std::shared_ptr<Surroundings> own;
    for (const Document& document : documents_.all()) {
        if (kind_of(document) != Kind::around) { continue; }
        if (own == nullptr) {
            own = context_.around != nullptr ? std::make_shared<Surroundings>(*context_.around)
                                             : std::make_shared<Surroundings>();
        }
        put(*own, document);
    }
    if (own != nullptr) { context_.around = std::move(own); }
}

void Reading::read_first(const Document& document) {
    const Field object(document, faults_);
    switch (kind_of(document)) {
        case Kind::node:
            check_new(object);
            nodes_.push_back(read_node(object, scope()));
            learn_from_node(nodes_.back(), context_);
            context_.has_share_driver =
                context_.has_share_driver ||
                object["metadata"]["annotations"][share_driver_key].is_present();
            break;
        case Kind::priority_class:
            check_new(object);
            context_.priority_classes.push_back(read_priority_class(object));
            break;
        case Kind::topology:
            check_new(object);
            if (levels_.empty()) {
                levels_ = read_levels(object);
                topology_place_ = object.place();
            } else {
                notes_.add(object,
                           "only the first Topology is the tree; other levels can't be asked for");
            }
            break;
        case Kind::hypernode:
            check_new(object);
            hypernodes_.push_back(read_hypernode(object));
            break;
        case Kind::around:
        case Kind::harmless: break;
        case Kind::unknown:
            if (document.kind.empty() || document.api_version.empty()) {
                object[document.kind.empty() ? "kind" : "apiVersion"].expected(
                    "text that names what this is");
            } else {
                notes_.add(object, fmt::format("kind {} of {} is not looked at", document.kind,
                                               document.api_version));
            }
            break;
        case Kind::pod:
        case Kind::volcano_job:
        case Kind::batch_job:
        case Kind::controller:
        case Kind::owner:
        case Kind::workload:
        case Kind::pod_group:
        case Kind::composite_group:
        case Kind::volcano_queue:
        case Kind::kueue_queue:
        case Kind::kueue_local_queue:
        case Kind::kai_queue: break;  // read_second
    }
}

void Reading::read_second(const Document& document) {
    const Kind kind = kind_of(document);
    const bool was_first = kind == Kind::node || kind == Kind::priority_class ||
                           kind == Kind::topology || kind == Kind::hypernode ||
                           kind == Kind::around;
    if (was_first || kind == Kind::harmless || kind == Kind::unknown) { return; }
    const Field object(document, faults_);
    check_new(object);
    read_demand(kind, object);
    files_.resize(items_.size(), document.file);
}

void Reading::read_demand(Kind kind, const Field& object) {
    const auto add_pods = [&](std::vector<PodItem> pods) {
        for (PodItem& pod : pods) { items_.emplace_back(std::move(pod)); }
    };
    switch (kind) {
        case Kind::pod: {
            PodItem pod = read_pod(object, scope());
            if (!is_plan_) { take_nomination(object["status"]["nominatedNodeName"], pod); }
            if (is_plan_) { pod.phase = PodPhase::waiting; }
            if (is_plan_ && !pod.node.empty()) {
                unsupported_.push_back(
                    {object["spec"]["nodeName"].place(), "nodeName goes past the scheduler"});
                pod.unsupported.push_back(unsupported_.back());
                unsupported_.clear();
            }
            items_.emplace_back(std::move(pod));
            break;
        }
        case Kind::volcano_job:
            if (scope().is_ours(object["spec"]["schedulerName"].text("volcano"))) {
                items_.emplace_back(read_volcano_job(object, scope()));
            }
            break;
        case Kind::batch_job:
            if (is_gang_job(object, scope()) &&
                scope().is_ours(object["spec"]["template"]["spec"]["schedulerName"].text())) {
                items_.emplace_back(read_gang_job(object, scope()));
            } else if (is_plan_) {
                add_pods(expand_pods(object, scope()));
            } else if (std::string queue = read_queue(object["metadata"], ""); !queue.empty()) {
                job_queues_[full_name(object["metadata"])] = std::move(queue);
            }
            break;
        case Kind::controller: read_controller(object); break;
        case Kind::owner:
            if (auto gang = read_owner(object, scope())) {
                items_.emplace_back(*std::move(gang));
            } else if (is_plan_) {
                notes_.add(object, fmt::format("a {} that is no gang is not planned",
                                               object.document().kind));
            }
            break;
        case Kind::workload:
            for (GroupObject& group : read_workload_groups(object, scope())) {
                items_.emplace_back(std::move(group));
            }
            break;
        case Kind::pod_group:
            items_.emplace_back(
                read_pod_group(object, *group_dialect(object.document().api_version), scope()));
            break;
        case Kind::composite_group:
            items_.emplace_back(read_composite_group(object, scope()));
            break;
        case Kind::volcano_queue: {
            QueueSpec queue = read_volcano_queue(object, scope());
            if (queue.name == "root") {
                notes_.add(object,
                           "the queue \"root\" is the whole cluster; its limits are not looked at");
                break;
            }
            add_queue(object, std::move(queue));
            break;
        }
        case Kind::kueue_queue: {
            std::string cohort;
            QueueSpec queue = read_kueue_queue(object, scope(), cohort);
            if (!cohort.empty()) { cohorts_[cohort].push_back(queue.name); }
            add_queue(object, std::move(queue));
            break;
        }
        case Kind::kueue_local_queue:
            context_.local_queues.push_back({full_name(object["metadata"]),
                                             std::string(object["spec"]["clusterQueue"].name())});
            break;
        case Kind::kai_queue: add_queue(object, read_kai_queue(object, scope())); break;
        case Kind::node:
        case Kind::priority_class:
        case Kind::topology:
        case Kind::hypernode:
        case Kind::around:
        case Kind::harmless:
        case Kind::unknown: break;  // read_first
    }
    if (!unsupported_.empty()) { unsupported_.clear(); }
}

/// In a cluster its pods are there themselves.
void Reading::read_controller(const Field& object) {
    if (object.document().kind == "StatefulSet") {
        if (auto gang = read_owner(object, scope())) {
            items_.emplace_back(*std::move(gang));
            return;
        }
    }
    if (!is_plan_) { return; }
    for (PodItem& pod : expand_pods(object, scope())) { items_.emplace_back(std::move(pod)); }
}

/// Queues of several dialects share their names.
void Reading::add_queue(const Field& object, QueueSpec queue) {
    if (queue_places_.contains(queue.name)) {
        return notes_.add(object, fmt::format("a second queue {} is not looked at", queue.name));
    }
    queue_places_[queue.name] = object["metadata"]["name"].place();
    queues_.push_back(std::move(queue));
}

/// Kueue's cohorts become parents of their queues; what names a LocalQueue means its ClusterQueue,
/// and a pod that names none means that of its Job.
void Reading::settle_queues() {
    for (const auto& [cohort, names] : cohorts_) {
        // A queue may have the name of its cohort.
        const std::string name = queue_places_.contains(cohort) ? cohort + "@cohort" : cohort;
        if (queue_places_.contains(name)) { continue; }
        for (QueueSpec& queue : queues_) {
            if (std::find(names.begin(), names.end(), queue.name) != names.end()) {
                queue.parent = name;
            }
        }
        queues_.push_back(cohort_of(name, names, queues_));
        queue_places_[name];
    }
    std::map<std::string_view, std::string_view> locals;
    for (const LocalQueue& one : context_.local_queues) { locals[one.name] = one.queue; }
    const auto settle = [&](std::string_view name, std::string& queue) {
        const auto local = locals.find(fmt::format("{}/{}", name.substr(0, name.find('/')), queue));
        if (local != locals.end()) { queue = local->second; }
    };
    for (DemandItem& item : items_) {
        if (auto* pod = std::get_if<PodItem>(&item)) {
            const auto job = job_queues_.find(pod->job);
            if (job != job_queues_.end() && pod->head.queue == "default") {
                pod->head.queue = job->second;
            }
            settle(pod->name, pod->head.queue);
        }
        if (auto* job = std::get_if<DeclaredJob>(&item)) {
            settle(job->workload.name, job->workload.queue);
        }
        if (auto* group = std::get_if<GroupObject>(&item)) {
            settle(group->name, group->head.queue);
        }
    }
}

/// One tree: HyperNodes where there are any, else a Topology object, else what the labels say.
Result<> Reading::settle_levels() {
    std::vector<NodeLabels> labels;
    for (const NodeSpec& node : nodes_) { labels.push_back({node.name, node.labels}); }
    if (hypernodes_.empty()) {
        if (!levels_.empty() || nodes_.empty()) { return {}; }
        LabelTopology found = detect_levels(labels);
        levels_ = std::move(found.levels);
        for (std::string& note : found.notes) {
            notes_.add(Place{.file = "levels", .line = 0, .path = ""}, std::move(note));
        }
        return {};
    }
    if (!levels_.empty()) {
        notes_.add(topology_place_, "the HyperNodes are the tree; this Topology is not looked at");
    }
    MUSTER_TRY(built, build_hypernodes(hypernodes_, labels));
    levels_ = built.file.levels;
    for (std::size_t i = 0; i < levels_.size() && i < built.tiers.size(); ++i) {
        context_.tiers.push_back({built.tiers[i], levels_[i].name});
    }
    std::map<std::string_view, NodeSpec*> by_name;
    for (NodeSpec& node : nodes_) { by_name.emplace(node.name, &node); }
    for (NodeLabels& more : built.file.nodes) {
        const auto node = by_name.find(more.node);
        if (node == by_name.end()) { continue; }
        for (Label& label : more.labels) { node->second->labels.push_back(std::move(label)); }
    }
    return {};
}

/// Parents before children.
Result<> Reading::order_queues() {
    std::vector<QueueSpec> ordered;
    std::unordered_set<std::string> done;
    std::vector<QueueSpec> rest = std::move(queues_);
    const auto is_here = [&](const std::string& name) { return queue_places_.contains(name); };
    while (!rest.empty()) {
        std::vector<QueueSpec> later;
        for (QueueSpec& queue : rest) {
            // A parent that is not in these files may be known to the engine, which refuses it if
            // not.
            const bool is_ready =
                queue.parent.empty() || done.contains(queue.parent) || !is_here(queue.parent);
            if (!is_ready) {
                later.push_back(std::move(queue));
                continue;
            }
            done.insert(queue.name);
            ordered.push_back(std::move(queue));
        }
        if (later.size() == rest.size()) {
            const QueueSpec& queue = later.front();
            return fail(Code::invalid, fmt::format("{}: queue \"{}\": its parents form a cycle",
                                                   queue_places_[queue.name].text(), queue.name));
        }
        rest = std::move(later);
    }
    queues_ = std::move(ordered);
    return {};
}

Error first_of(const std::vector<Fault>& faults) {
    const Fault& fault = faults.front();
    const std::string where = fault.place.text();
    return {Code::invalid, where.empty() ? fault.text : fmt::format("{}: {}", where, fault.text)};
}

}  // namespace

ClusterReading inspect_cluster(const Documents& documents, const ClusterOptions& options,
                               KubernetesContext context) {
    Reading reading(documents, std::move(context), &options);
    const auto ran = reading.run();
    ClusterReading out;
    out.faults = reading.faults().all();
    if (!ran && out.faults.empty()) { out.faults.push_back({{}, ran.error().message}); }
    if (!ran) { return out; }
    ClusterInput& input = out.input;
    input.facts = reading.take_facts();
    Demand& demand = reading.demand();
    for (WorkloadSpec& workload : demand.workloads) {
        input.facts.emplace_back(WorkloadSet{std::move(workload)});
    }
    for (Fact& fact : demand.bindings) { input.facts.push_back(std::move(fact)); }
    input.refused = std::move(demand.refused);
    input.pods = std::move(demand.pods);
    input.origins = reading.take_origins();
    input.warnings = reading.notes().take();
    input.context = reading.take_context();
    return out;
}

namespace {

/// An owner's name, and those of the workloads that its parts make.
void add_owner_links(const DeclaredJob& job, Links& out) {
    out.is_job = true;
    out.names.push_back(job.workload.name);
    for (std::int64_t i = 0; i < job.parts; ++i) {
        out.names.push_back(fmt::format("{}-{}", job.workload.name, i));
    }
}

}  // namespace

Links links_of(const Document& document) {
    static const ClusterOptions nobody{.schedulers = {}};
    const Documents none;
    Reading reading(none, {}, &nobody);
    Links out;
    const auto of_owner = [](const std::string& owner) {
        return owner.substr(owner.find(' ') + 1);  // "JobSet team/train"
    };
    for (DemandItem& item : reading.read_alone(document)) {
        if (auto* job = std::get_if<DeclaredJob>(&item)) {
            add_owner_links(*job, out);
            if (!job->made_by.empty()) { out.names.push_back(of_owner(job->made_by)); }
        } else if (auto* group = std::get_if<GroupObject>(&item)) {
            const GroupNames names = names_of_group(group->name);
            out.names.push_back(names.object);
            if (names.shown != names.object) { out.names.push_back(names.shown); }
            for (std::string* name : {&group->parent, &group->owner_job}) {
                if (!name->empty()) { out.names.push_back(std::move(*name)); }
            }
        } else if (auto* pod = std::get_if<PodItem>(&item)) {
            if (!pod->group.empty()) {
                const GroupNames names = names_of_group(pod->group);
                out.names.push_back(names.object);
                if (names.shown != names.object) { out.names.push_back(names.shown); }
            }
            if (std::string maker = of_owner(pod->maker); !maker.empty() && maker != pod->job) {
                out.jobs.push_back(std::move(maker));
            }
            if (!pod->job.empty()) { out.jobs.push_back(std::move(pod->job)); }
            if (!pod->tie.owner.empty()) { out.jobs.push_back(of_owner(pod->tie.owner)); }
        }
    }
    std::vector<std::string>& claims = reading.looks().claims;
    std::sort(claims.begin(), claims.end());
    claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
    out.claims = std::move(claims);
    out.has_namespaces = reading.looks().namespaces;
    if (std::string job = reading.queue_job(); !job.empty()) {
        out.names = {std::move(job)};
        out.is_job = true;
    }
    return out;
}

Result<ClusterInput> read_cluster(std::span<const SourceText> sources,
                                  const ClusterOptions& options) {
    MUSTER_TRY(documents, read_documents(sources));
    ClusterReading reading = inspect_cluster(documents, options);
    if (reading.faults.empty()) { return std::move(reading.input); }
    return tl::unexpected(first_of(reading.faults));
}

JobReading inspect_jobs(const Documents& documents, const KubernetesContext& context) {
    Reading reading(documents, context, nullptr);
    const auto ran = reading.run();
    JobReading out;
    out.faults = reading.faults().all();
    if (!ran && out.faults.empty()) { out.faults.push_back({{}, ran.error().message}); }
    if (!ran) { return out; }
    Demand& demand = reading.demand();
    for (RefusedWorkload& refused : demand.refused) {
        out.faults.push_back({std::move(refused.place), std::move(refused.text)});
    }
    if (!out.faults.empty()) { return out; }
    out.input.facts = reading.take_facts();
    out.input.workloads = std::move(demand.workloads);
    out.input.warnings = reading.notes().take();
    out.places = std::move(demand.places);
    return out;
}

Result<JobInput> read_jobs(std::span<const SourceText> sources, const KubernetesContext& context) {
    MUSTER_TRY(documents, read_documents(sources));
    JobReading reading = inspect_jobs(documents, context);
    if (reading.faults.empty()) { return std::move(reading.input); }
    return tl::unexpected(first_of(reading.faults));
}

}  // namespace muster::dialect
