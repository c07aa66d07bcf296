#include "kube/cluster_parts.h"

#include "dialect/kubernetes_node.h"
#include "kube/objects.h"

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace {

// Small parts are read together, for a reading has costs of its own.
constexpr std::size_t batch_objects = 512;

std::string name_text(const ObjectName& name) { return name.first + "/" + name.second; }

}  // namespace

const NodeSpec* find_node(const std::vector<NodeSpec>& nodes, std::string_view name) {
    const auto at = std::lower_bound(
        nodes.begin(), nodes.end(), name,
        [](const NodeSpec& node, std::string_view wanted) { return node.name < wanted; });
    return at != nodes.end() && at->name == name ? &*at : nullptr;
}

NodeSpec* find_node(std::vector<NodeSpec>& nodes, std::string_view name) {
    return const_cast<NodeSpec*>(find_node(std::as_const(nodes), name));
}

/// Walks from object to object by the names that they share.
class ClusterParts::Gathering {
public:
    explicit Gathering(ClusterParts& parts) : parts_(parts) {}

    /// What hangs together with the item; nothing when it was found before.
    std::vector<Item*> part_of(Item& item) {
        std::vector<Item*> out;
        if (!seen_.insert(&item).second) { return out; }
        out.push_back(&item);
        for (std::size_t next = 0; next < out.size(); ++next) {
            const Item& at = *out[next];
            for (const std::string& name : at.links.names) { say(name, out); }
            for (const std::string& job : at.links.jobs) {
                if (is_job(job)) { say(job, out); }
            }
            if (at.key->kind == ObjectKind::pod) { say(name_text(at.key->name), out); }
        }
        return out;
    }

private:
    bool is_job(const std::string& name) const {
        const auto found = parts_.names_.find(name);
        return found != parts_.names_.end() && found->second.jobs > 0;
    }
    void say(const std::string& name, std::vector<Item*>& out) {
        const auto found = parts_.names_.find(name);
        if (found == parts_.names_.end()) { return; }
        if (!said_.insert(&found->second).second) { return; }
        const auto take = [&](Item* item) {
            if (item != nullptr && seen_.insert(item).second) { out.push_back(item); }
        };
        for (Item* item : found->second.said) { take(item); }
        if (found->second.jobs > 0) {
            for (Item* item : found->second.as_job) { take(item); }
        }
        take(parts_.find_pod(name));
    }

    ClusterParts& parts_;
    std::unordered_set<const Item*> seen_;
    std::unordered_set<const Name*> said_;
};

void ClusterParts::forget() {
    frame_ = {};
    around_ = std::make_shared<dialect::Surroundings>();
    frame_.context.around = around_;
    claims_.clear();
    of_namespaces_.clear();
    items_.clear();
    names_.clear();
    parts_.clear();
    troubles_.clear();
    gone_parts_.clear();
    dirty_.clear();
    dirty_names_.clear();
    is_all_dirty_ = false;
    malformed_.clear();
    refused_.clear();
}

ClusterParts::FrameChange ClusterParts::read_frame(std::map<ObjectKey, dialect::Links> changed) {
    FrameChange out;
    std::vector<ObjectKey> frame;
    std::vector<ObjectKey> around;
    for (auto& [key, links] : changed) {
        if (is_frame(key.kind)) {
            frame.push_back(key);
        } else if (is_around(key.kind)) {
            around.push_back(key);
        } else {
            change(key, std::move(links));
        }
    }
    const bool are_drivers_new = read_around(around, frame);
    if (!are_drivers_new && (frame.empty() || read_nodes(frame, out))) { return out; }
    out.is_read = true;
    Texts texts;
    has_hypernodes_ = false;
    objects_.each_of_frame([&](const ObjectKey& key, std::string text) {
        texts.emplace(key, std::move(text));
        has_hypernodes_ = has_hypernodes_ || key.kind == ObjectKind::hypernode;
    });
    ClusterState now = read_state(texts, options_, around_alone());
    are_troubles_new_ = true;
    troubles_[0] = {.malformed = std::move(now.malformed), .refused = {}};
    now.context.around = around_;
    is_all_dirty_ = is_all_dirty_ || !(now.context == frame_.context);
    for (const auto& [before, after] : {std::pair(&frame_, &now), std::pair(&now, &frame_)}) {
        for (const auto& [node, uid] : before->machines) {
            const auto other = after->machines.find(node);
            if (other == after->machines.end() || other->second != uid) { out.nodes.insert(node); }
        }
    }
    frame_ = std::move(now);
    return out;
}

dialect::KubernetesContext ClusterParts::around_alone() const {
    dialect::KubernetesContext out;
    out.around = around_;
    return out;
}

namespace {

std::vector<std::string> drivers_of(const dialect::Surroundings& around) {
    std::vector<std::string> out;
    for (const auto& [driver, nodes] : around.limited) { out.push_back(driver); }
    return out;
}

}  // namespace

/// Changes what is around the pods, and reads those again for which it means another thing now;
/// nodes that attach another number of volumes go to `frame`. Whether other drivers have limits.
bool ClusterParts::read_around(const std::vector<ObjectKey>& changed,
                               std::vector<ObjectKey>& frame) {
    const std::vector<std::string> drivers = drivers_of(*around_);
    const auto is_served = [&](ObjectKind kind) { return objects_.served().contains(kind); };
    const bool has_storage = is_served(ObjectKind::claim) && is_served(ObjectKind::volume);
    if (has_storage != around_->has_storage) { is_all_dirty_ = true; }
    bool are_namespaces_new = is_served(ObjectKind::name_space) != around_->has_namespaces;
    for (const ObjectKey& key : changed) {
        const bool is_space = key.kind == ObjectKind::name_space;
        are_namespaces_new = are_namespaces_new || is_space;
        std::string text = objects_.text(key);
        if (const ObjectKey node{ObjectKind::node, key.name};
            key.kind == ObjectKind::csi_node && objects_.has_text(node)) {
            frame.push_back(node);
        }
        if (text.empty()) {
            const KindName& of = name_of(key.kind);
            dialect::take_out(
                *around_, dialect::around_kind(of.kind, of.api_version()),
                key.kind == ObjectKind::claim ? name_text(key.name) : key.name.second);
            continue;
        }
        Documents documents;
        if (!documents.add({key.text(), std::move(text)})) { continue; }
        for (const Document& document : documents.all()) { dialect::put(*around_, document); }
    }
    around_->has_storage = has_storage;
    around_->has_namespaces = is_served(ObjectKind::name_space);
    if (are_namespaces_new) { dirty_.insert(of_namespaces_.begin(), of_namespaces_.end()); }
    const bool is_storage_new =
        std::any_of(changed.begin(), changed.end(),
                    [](const ObjectKey& key) { return key.kind != ObjectKind::name_space; });
    if (!is_storage_new) { return false; }
    for (auto& [name, claim] : claims_) {
        dialect::ClaimView now = dialect::view_of(*around_, name);
        if (now == claim.view) { continue; }
        claim.view = std::move(now);
        dirty_.insert(claim.users.begin(), claim.users.end());
    }
    return drivers != drivers_of(*around_);
}

const std::string* ClusterParts::sole_workload(const ObjectKey& key) const {
    const auto item = items_.find(key);
    if (item == items_.end() || troubles_.contains(item->second.part)) { return nullptr; }
    const auto part = parts_.find(item->second.part);
    return part != parts_.end() && part->second.size() == 1 ? &part->second.front() : nullptr;
}

std::vector<std::string> ClusterParts::claims_of(const ObjectKey& key) const {
    const auto found = items_.find(key);
    return found == items_.end() ? std::vector<std::string>{} : found->second.links.claims;
}

/// Nodes that are the same machines with the same labels, and say the same of what all others are
/// read against, are read by themselves. False when there is another one among them.
bool ClusterParts::read_nodes(const std::vector<ObjectKey>& changed, FrameChange& out) {
    const auto trouble = troubles_.find(0);
    const bool is_plain = !has_hypernodes_ && !frame_.context.has_share_driver &&
                          trouble != troubles_.end() && trouble->second.malformed.empty();
    if (!is_plain) { return false; }
    Texts texts;
    for (const ObjectKey& key : changed) {
        std::string text = objects_.text(key);
        if (key.kind != ObjectKind::node || text.empty()) { return false; }
        texts.emplace(key, std::move(text));
    }
    ClusterState now = read_state(texts, options_, around_alone());
    if (!now.malformed.empty() || now.context.has_share_driver) { return false; }
    for (const NodeSpec& node : now.listing.nodes) {
        const NodeSpec* before = find_node(frame_.listing.nodes, node.name);
        const bool is_same = before != nullptr && before->labels == node.labels &&
                             frame_.machines.at(node.name) == now.machines.at(node.name);
        if (!is_same) { return false; }
        dialect::KubernetesContext had;
        dialect::KubernetesContext has;
        dialect::learn_from_node(*before, had);
        dialect::learn_from_node(node, has);
        if (!(had == has)) { return false; }
    }
    for (NodeSpec& node : now.listing.nodes) {
        out.modified.push_back(node.name);
        NodeSpec* const place = find_node(frame_.listing.nodes, node.name);
        *place = std::move(node);
    }
    return true;
}

/// What an object was tied to before is read again too; and pods whose owner comes or goes, for
/// they wait without it.
void ClusterParts::change(const ObjectKey& key, dialect::Links links) {
    const auto [at, is_new] = items_.try_emplace(key);
    if (is_owner(key.kind) && is_new == objects_.has_text(key)) {
        dirty_names_[name_text(key.name)] = true;
    }
    Item& item = at->second;
    item.key = &at->first;
    if (!is_new) {
        mark(item);
        take_out(item);
    }
    if (!objects_.has_text(key)) {
        if (item.part != 0) { gone_parts_.push_back(item.part); }
        dirty_.erase(key);
        items_.erase(at);
        return;
    }
    item.links = std::move(links);
    add(item);
    mark(item);
    dirty_.insert(key);
}

void ClusterParts::touch(const ObjectKey& key) {
    if (items_.contains(key)) { dirty_.insert(key); }
}

void ClusterParts::add(Item& item) {
    for (const std::string& name : item.links.claims) {
        const auto [claim, is_new] = claims_.try_emplace(name);
        if (is_new) { claim->second.view = dialect::view_of(*around_, name); }
        claim->second.users.insert(*item.key);
    }
    if (item.links.has_namespaces) { of_namespaces_.insert(*item.key); }
    for (const std::string& name : item.links.names) { names_[name].said.push_back(&item); }
    for (const std::string& job : item.links.jobs) { names_[job].as_job.push_back(&item); }
    if (item.links.is_job) { ++names_[item.links.names.front()].jobs; }
}

void ClusterParts::take_out(Item& item) {
    const auto leave = [&](const std::string& name, auto list) {
        const auto found = names_.find(name);
        if (found == names_.end()) { return; }
        std::vector<Item*>& items = found->second.*list;
        if (const auto at = std::find(items.begin(), items.end(), &item); at != items.end()) {
            *at = items.back();
            items.pop_back();
        }
        if (found->second.said.empty() && found->second.as_job.empty()) { names_.erase(found); }
    };
    for (const std::string& name : item.links.claims) {
        const auto claim = claims_.find(name);
        if (claim == claims_.end()) { continue; }
        claim->second.users.erase(*item.key);
        if (claim->second.users.empty()) { claims_.erase(claim); }
    }
    of_namespaces_.erase(*item.key);
    if (item.links.is_job) { --names_[item.links.names.front()].jobs; }
    for (const std::string& name : item.links.names) { leave(name, &Name::said); }
    for (const std::string& job : item.links.jobs) { leave(job, &Name::as_job); }
}

/// The names by which its neighbours are found, also when it is no more.
void ClusterParts::mark(const Item& item) {
    for (const std::string& name : item.links.names) { dirty_names_.try_emplace(name, false); }
    if (item.links.is_job) { dirty_names_[item.links.names.front()] = true; }
    for (const std::string& text : item.links.jobs) {
        const auto job = names_.find(text);
        if (job != names_.end() && job->second.jobs > 0) { dirty_names_.try_emplace(text, false); }
    }
    if (item.key->kind == ObjectKind::pod) {
        const std::string own = name_text(item.key->name);
        if (names_.contains(own)) { dirty_names_.try_emplace(own, false); }
    }
}

ClusterParts::Item* ClusterParts::find_pod(const std::string& name) {
    const auto found = items_.find({ObjectKind::pod, object_name(name)});
    return found == items_.end() ? nullptr : &found->second;
}

ClusterParts::Change ClusterParts::read_demand() {
    Change out;
    std::vector<Item*> begin;
    if (std::exchange(is_all_dirty_, false)) {
        for (auto& [key, item] : items_) { begin.push_back(&item); }
    }
    for (const ObjectKey& key : dirty_) { begin.push_back(&items_.at(key)); }
    for (const auto& [text, is_job] : dirty_names_) {
        if (const auto name = names_.find(text); name != names_.end()) {
            begin.insert(begin.end(), name->second.said.begin(), name->second.said.end());
            if (is_job) {
                begin.insert(begin.end(), name->second.as_job.begin(), name->second.as_job.end());
            }
        }
        if (Item* pod = find_pod(text)) { begin.push_back(pod); }
    }
    dirty_.clear();
    dirty_names_.clear();
    for (const std::uint64_t part : std::exchange(gone_parts_, {})) { retire(part, out); }

    std::vector<std::vector<Item*>> found;
    Gathering gathering(*this);
    for (Item* item : begin) {
        std::vector<Item*> part = gathering.part_of(*item);
        if (part.empty()) { continue; }
        ++last_part_;
        for (Item* one : part) {
            if (one->part != 0) { retire(one->part, out); }
            one->part = last_part_;
        }
        found.push_back(std::move(part));
    }
    std::vector<Item*> batch;
    for (std::size_t i = 0; i < found.size(); ++i) {
        batch.insert(batch.end(), found[i].begin(), found[i].end());
        if (batch.size() >= batch_objects || i + 1 == found.size()) {
            read_batch(batch, out);
            batch.clear();
        }
    }
    std::sort(out.workloads.begin(), out.workloads.end(),
              [](const Workload& a, const Workload& b) { return a.origin < b.origin; });
    collect_troubles();
    return out;
}

void ClusterParts::retire(std::uint64_t part, Change& change) {
    const auto found = parts_.find(part);
    if (found != parts_.end()) {
        change.names.insert(found->second.begin(), found->second.end());
        parts_.erase(found);
    }
    are_troubles_new_ = troubles_.erase(part) > 0 || are_troubles_new_;
}

void ClusterParts::read_batch(const std::vector<Item*>& batch, Change& change) {
    Texts texts;
    for (const Item* item : batch) { texts.emplace(*item->key, objects_.text(*item->key)); }
    ClusterState state = read_state(texts, options_, frame_.context);
    const auto part_of = [&](const ObjectKey& key) { return items_.at(key).part; };
    Origin origin;
    for (std::size_t i = 0; i < state.listing.workloads.size(); ++i) {
        WorkloadSpec& spec = state.listing.workloads[i];
        const bool is_same = i > 0 && state.origins[i] == origin.object;
        origin = {state.origins[i], is_same ? origin.index + 1 : 0};
        change.names.insert(spec.name);
        parts_[part_of(origin.object)].push_back(spec.name);
        TaskPods pods = std::move(state.pods[spec.name]);
        change.workloads.push_back({origin, std::move(spec), std::move(pods)});
    }
    are_troubles_new_ = are_troubles_new_ || !state.malformed.empty() || !state.refused.empty();
    for (Problem& one : state.malformed) {
        troubles_[part_of(one.object)].malformed.push_back(std::move(one));
    }
    for (Problem& one : state.refused) {
        troubles_[part_of(one.object)].refused.push_back(std::move(one));
    }
}

void ClusterParts::collect_troubles() {
    if (!std::exchange(are_troubles_new_, false)) { return; }
    malformed_.clear();
    refused_.clear();
    for (const auto& [part, trouble] : troubles_) {
        malformed_.insert(malformed_.end(), trouble.malformed.begin(), trouble.malformed.end());
        refused_.insert(refused_.end(), trouble.refused.begin(), trouble.refused.end());
    }
}

}  // namespace muster::kube
