#include "dialect/kubernetes_volume.h"

#include "dialect/kubernetes_affinity.h"
#include "dialect/kubernetes_resources.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace muster::dialect {

namespace {

/// Of one pod: those of its volumes, put together.
constexpr std::size_t node_terms_max = 4'096;

std::string_view short_name(std::string_view claim) { return claim.substr(claim.find('/') + 1); }

bool has_all(const std::vector<std::string>& has, const std::vector<std::string>& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
        return std::find(has.begin(), has.end(), one) != has.end();
    });
}

bool is_for(const VolumeObject& volume, std::string_view claim, const ClaimObject& of) {
    return volume.claim == claim && (volume.claim_uid.empty() || volume.claim_uid == of.uid);
}

/// A volume that is free and does for the claim.
bool does_for(const VolumeObject& volume, const ClaimObject& claim) {
    return volume.is_available && volume.claim.empty() &&
           volume.storage_class == claim.storage_class && volume.mode == claim.mode &&
           volume.bytes >= claim.bytes && has_all(volume.access, claim.access) &&
           matches(claim.selector, volume.labels);
}

using Candidate = std::pair<std::string_view, const VolumeObject*>;

/// What is kept for the claim by name goes before all others.
std::vector<Candidate> candidates(const Surroundings& around, std::string_view name,
                                  const ClaimObject& claim) {
    std::vector<Candidate> out;
    for (const auto& [volume_name, volume] : around.volumes) {
        if (is_for(volume, name, claim)) { return {{volume_name, &volume}}; }
        if (does_for(volume, claim)) { out.emplace_back(volume_name, &volume); }
    }
    // The smallest that does.
    std::sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
        return a.second->bytes != b.second->bytes ? a.second->bytes < b.second->bytes
                                                  : a.first < b.first;
    });
    return out;
}

/// Terms that only list values of one key are one.
void add_term(std::vector<NodeTerm>& terms, const NodeTerm& term) {
    const auto is_list = [](const NodeTerm& one) {
        return one.matches.size() == 1 && one.matches[0].op == MatchOp::in;
    };
    for (NodeTerm& one : terms) {
        if (one == term) { return; }
        if (!is_list(one) || !is_list(term) || one.matches[0].key != term.matches[0].key) {
            continue;
        }
        std::vector<std::string>& values = one.matches[0].values;
        values.insert(values.end(), term.matches[0].values.begin(), term.matches[0].values.end());
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return;
    }
    terms.push_back(term);
}

void restrict(ClaimView& view, const std::vector<NodeTerm>& terms) {
    view.is_anywhere = false;
    for (const NodeTerm& term : terms) { add_term(view.terms, term); }
}

void view_bound(const Surroundings& around, const ClaimObject& claim, ClaimView& view) {
    const auto volume = around.volumes.find(claim.volume);
    if (volume == around.volumes.end()) {
        view.refusal = fmt::format("persistentvolume \"{}\" not found", claim.volume);
        return;
    }
    if (volume->second.is_local) { restrict(view, volume->second.terms); }
    if (!view.is_anywhere && view.terms.empty()) {
        view.refusal = fmt::format("no node reaches persistentvolume \"{}\"", claim.volume);
    }
}

/// A class that waits for the pod's node: what is there, and what can be made.
void view_waiting(const Surroundings& around, std::string_view name, const ClaimObject& claim,
                  const ClassObject& of, ClaimView& view) {
    if (!claim.selected_node.empty()) {
        return restrict(view, {{{{"metadata.name", MatchOp::in, {claim.selected_node}}}, 0}});
    }
    const std::vector<Candidate> found = candidates(around, name, claim);
    const bool is_kept = found.size() == 1 && !found[0].second->claim.empty();
    const bool can_make = of.provisions && !is_kept;
    if (can_make && of.topologies.empty()) { return; }
    for (const Candidate& one : found) {
        if (!one.second->is_local) { return; }
    }
    if (can_make) { restrict(view, of.topologies); }
    for (const Candidate& one : found) { restrict(view, one.second->terms); }
    if (found.empty() && !can_make) {
        view.refusal =
            fmt::format("no persistent volume is free for claim \"{}\"", short_name(name));
    } else if (view.terms.empty()) {
        view.refusal = fmt::format("no node reaches a volume for claim \"{}\"", short_name(name));
    }
}

/// Both must hold.
bool restrict(std::vector<NodeTerm>& required, const std::vector<NodeTerm>& more) {
    if (required.empty()) {
        required = more;
        return required.size() <= node_terms_max;
    }
    if (required.size() * more.size() > node_terms_max) { return false; }
    std::vector<NodeTerm> both;
    for (const NodeTerm& one : required) {
        for (const NodeTerm& other : more) {
            NodeTerm term = one;
            for (const LabelMatch& match : other.matches) {
                if (std::find(term.matches.begin(), term.matches.end(), match) ==
                    term.matches.end()) {
                    term.matches.push_back(match);
                }
            }
            both.push_back(std::move(term));
        }
    }
    required = std::move(both);
    return true;
}

/// One pod at a time, wherever: it keeps away from all others that name the claim.
void keep_alone(const std::string& claim, TaskSpec& task) {
    const std::string key = "claim.muster.dev/" + claim;
    task.labels.push_back({key, ""});
    task.pod_terms.push_back(away_from(key, "metadata.cluster"));
}

/// A volume that will be made for each pod of a template: as if its claim were there.
ClaimView view_template(const Surroundings& around, const Field& claim_spec) {
    ClaimView view;
    const std::string name(claim_spec["storageClassName"].text());
    const auto of = around.classes.find(name);
    if (of == around.classes.end() || !of->second.waits) { return view; }
    if (!of->second.topologies.empty()) { restrict(view, of->second.topologies); }
    return view;
}

/// A volume that many nodes may have at once is not counted: pods share it, and drivers of such
/// volumes mount over the network.
bool is_shared(const ClaimObject& claim) {
    return std::any_of(claim.access.begin(), claim.access.end(), [](const std::string& mode) {
        return mode == "ReadWriteMany" || mode == "ReadOnlyMany";
    });
}

std::string limited_driver(const Surroundings& around, const ClaimObject& claim) {
    if (around.limited.empty() || is_shared(claim)) { return {}; }
    const auto volume = around.volumes.find(claim.volume);
    const auto of = around.classes.find(claim.storage_class);
    const std::string* driver = volume != around.volumes.end() ? &volume->second.driver
                                : of != around.classes.end()   ? &of->second.provisioner
                                                               : nullptr;
    return driver != nullptr && around.limited.contains(*driver) ? *driver : std::string();
}

}  // namespace

ClaimView view_of(const Surroundings& around, std::string_view name) {
    ClaimView view;
    const auto found = around.claims.find(name);
    if (found == around.claims.end()) {
        view.refusal = fmt::format("persistentvolumeclaim \"{}\" not found", short_name(name));
        return view;
    }
    const ClaimObject& claim = found->second;
    view.driver = limited_driver(around, claim);
    view.is_exclusive = claim.access == std::vector<std::string>{"ReadWriteOncePod"};
    if (claim.is_leaving) {
        view.refusal =
            fmt::format("persistentvolumeclaim \"{}\" is being deleted", short_name(name));
    } else if (claim.is_lost) {
        view.refusal =
            fmt::format("persistentvolumeclaim \"{}\" has lost its volume", short_name(name));
    } else if (claim.is_bound) {
        view_bound(around, claim, view);
    } else {
        const auto of = around.classes.find(claim.storage_class);
        if (!claim.storage_class.empty() && of == around.classes.end()) {
            // Volumes that somebody made may have a class that is no object.
            view.refusal = fmt::format(
                "pod has unbound immediate PersistentVolumeClaims: \"{}\" of "
                "class \"{}\", which is not there",
                short_name(name), claim.storage_class);
        } else if (of == around.classes.end() || !of->second.waits || !claim.volume.empty()) {
            view.refusal = fmt::format("pod has unbound immediate PersistentVolumeClaims: \"{}\"",
                                       short_name(name));
        } else {
            view_waiting(around, name, claim, of->second, view);
        }
    }
    return view;
}

void read_volumes(const Field& spec, std::string_view pod, TaskSpec& task,
                  std::vector<Amount>& amounts, const Scope& scope) {
    const Surroundings* around = scope.context.around.get();
    std::set<std::string> counted;
    for (const Field& volume : spec["volumes"].items()) {
        const Field claim = volume["persistentVolumeClaim"];
        const Field ephemeral = volume["ephemeral"];
        if (!claim.is_present() && !ephemeral.is_present()) { continue; }
        const bool is_of_template = !claim.is_present() && pod.empty();
        const std::string name =
            claim.is_present()
                ? fmt::format("{}/{}", task.name_space, claim["claimName"].text())
                : fmt::format("{}/{}-{}", task.name_space, pod, volume["name"].text());
        if (!is_of_template) { scope.looks.claims.push_back(name); }
        if (around == nullptr || !around->has_storage) {
            scope.notes.add(volume,
                            "no storage is known here: where a volume can be reached from is not "
                            "looked at");
            continue;
        }
        const ClaimView view =
            is_of_template ? view_template(*around, ephemeral["volumeClaimTemplate"]["spec"])
                           : view_of(*around, name);
        if (!view.driver.empty() && counted.insert(name).second) {
            add_amount(amounts, fmt::format("{}{}", attach_prefix, view.driver), 1);
        }
        if (!view.refusal.empty()) {
            // What somebody is about to submit may come with its claims.
            if (scope.is_plan) {
                scope.notes.add(volume, view.refusal + "; planned as if it were there");
            } else {
                scope.refuse(volume, view.refusal);
            }
            continue;
        }
        if (!view.is_anywhere && !restrict(task.implied, view.terms)) {
            scope.refuse(volume,
                         fmt::format("volumes come to more than {} node terms", node_terms_max));
        }
        if (view.is_exclusive) { keep_alone(name, task); }
    }
}

VolumeSteps steps_before_bind(const Surroundings& around, const std::vector<std::string>& claims,
                              const std::string& node, const std::vector<Label>& labels) {
    VolumeSteps out;
    std::vector<Label> all = labels;
    all.push_back({"metadata.name", node});
    const auto reaches = [&](const VolumeObject& volume) {
        return !volume.is_local ||
               std::any_of(volume.terms.begin(), volume.terms.end(),
                           [&](const NodeTerm& term) { return matches(term.matches, all); });
    };
    std::vector<std::string_view> taken;
    for (const std::string& name : claims) {
        const auto found = around.claims.find(name);
        if (found == around.claims.end()) {
            out.is_ready = false;
            continue;
        }
        const ClaimObject& claim = found->second;
        if (claim.is_bound) { continue; }
        out.is_ready = false;
        if (!claim.selected_node.empty()) { continue; }  // its volume is being made
        const std::vector<Candidate> volumes = candidates(around, name, claim);
        const auto best = std::find_if(volumes.begin(), volumes.end(), [&](const Candidate& one) {
            return reaches(*one.second) &&
                   std::find(taken.begin(), taken.end(), one.first) == taken.end();
        });
        if (best != volumes.end()) {
            if (is_for(*best->second, name, claim)) { continue; }  // and is kept for it already
            taken.push_back(best->first);
            out.steps.push_back({name, claim.uid, std::string(best->first), best->second->uid,
                                 best->second->version});
            continue;
        }
        const auto of = around.classes.find(claim.storage_class);
        if (of != around.classes.end() && of->second.waits && of->second.provisions) {
            out.steps.push_back({name, claim.uid, {}, {}, {}});
        }
    }
    return out;
}

}  // namespace muster::dialect
