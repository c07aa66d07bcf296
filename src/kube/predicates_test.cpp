// Which nodes a pod may run on, against a plain reading of the same objects by Kubernetes' rules
// that shares no code with the dialect or the engine: random nodes, pods and storage.
#include "dialect/kubernetes.h"
#include "engine/engine.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <climits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::kube {
namespace {

namespace json = boost::json;
using Amounts = std::map<std::string, std::int64_t>;

json::array list_at(const json::object& object, std::string_view path) {
    const json::array* list = array_at(object, path);
    return list != nullptr ? *list : json::array{};
}
json::object part_at(const json::object& object, std::string_view path) {
    const json::object* part = object_at(object, path);
    return part != nullptr ? *part : json::object{};
}
std::string text_of(const json::object& object, std::string_view key, std::string otherwise = "") {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string())
                                                  : std::move(otherwise);
}

// ---- the plain reading

class Plain {
public:
    std::vector<json::object> nodes;
    std::vector<json::object> pods;  // those that run
    std::map<std::string, json::object> namespaces;
    std::map<std::string, json::object> claims;  // "namespace/name"
    std::map<std::string, json::object> volumes;
    std::map<std::string, json::object> classes;
    std::map<std::string, json::object> csi_nodes;

    [[nodiscard]] bool is_feasible(const json::object& pod, const json::object& node) const {
        return has_room(pod, node) && is_selected(pod, node) && tolerates(pod, node) &&
               has_ports(pod, node) && is_affine(pod, node) && is_spread(pod, node) &&
               reaches_volumes(pod, node) && attaches(pod, node);
    }

private:
    static Amounts amounts(const json::object& list) {
        Amounts out;
        for (const auto& [name, value] : list) {
            out[name] = std::stoll(std::string(value.get_string()));
        }
        return out;
    }
    static void add(Amounts& to, const Amounts& more) {
        for (const auto& [name, count] : more) { to[name] += count; }
    }
    static Amounts container(const json::object& one) {
        Amounts out = amounts(part_at(one, "resources.limits"));
        for (const auto& [name, count] : amounts(part_at(one, "resources.requests"))) {
            out[name] = count;
        }
        return out;
    }
    static Amounts request(const json::object& pod) {
        Amounts sum;
        for (const json::value& one : list_at(pod, "spec.containers")) {
            add(sum, container(one.as_object()));
        }
        Amounts staying;
        Amounts most;
        for (const json::value& one : list_at(pod, "spec.initContainers")) {
            Amounts now = staying;
            add(now, container(one.as_object()));
            if (text_of(one.as_object(), "restartPolicy") == "Always") { staying = now; }
            for (const auto& [name, count] : now) { most[name] = std::max(most[name], count); }
        }
        add(sum, staying);
        for (const auto& [name, count] : most) { sum[name] = std::max(sum[name], count); }
        for (const auto& [name, count] : container(part_at(pod, "spec"))) { sum[name] = count; }
        add(sum, amounts(part_at(pod, "spec.overhead")));
        return sum;
    }
    [[nodiscard]] std::vector<const json::object*> on(const json::object& node) const {
        std::vector<const json::object*> out;
        for (const json::object& pod : pods) {
            if (text_at(pod, "spec.nodeName") == text_at(node, "metadata.name")) {
                out.push_back(&pod);
            }
        }
        return out;
    }
    [[nodiscard]] bool has_room(const json::object& pod, const json::object& node) const {
        Amounts free = amounts(part_at(node, "status.allocatable"));
        for (const json::object* one : on(node)) {
            for (const auto& [name, count] : request(*one)) { free[name] -= count; }
            --free["pods"];
        }
        for (const auto& [name, count] : request(pod)) {
            if (count > 0 && free[name] < count) { return false; }
        }
        return free["pods"] > 0;
    }

    static bool holds(const json::object& match, const json::object& labels) {
        const std::string op = text_of(match, "operator");
        const json::value* value = labels.if_contains(text_of(match, "key"));
        const json::array values = list_at(match, "values");
        const bool is_listed =
            value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
        if (op == "In") { return is_listed; }
        if (op == "NotIn") { return !is_listed; }
        if (op == "Exists") { return value != nullptr; }
        if (op == "DoesNotExist") { return value == nullptr; }
        if (value == nullptr) { return false; }
        std::size_t end = 0;
        const std::string text(value->get_string());
        if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
            return false;
        }
        const long long left = std::stoll(text, &end);
        const long long right = std::stoll(std::string(values.at(0).get_string()));
        return op == "Gt" ? left > right : left < right;
    }
    static bool selects(const json::object& selector, const json::object& labels) {
        for (const auto& [key, value] : part_at(selector, "matchLabels")) {
            if (labels.if_contains(key) == nullptr || labels.at(key) != value) { return false; }
        }
        for (const json::value& match : list_at(selector, "matchExpressions")) {
            if (!holds(match.as_object(), labels)) { return false; }
        }
        return true;
    }
    static bool term_holds(const json::object& term, const json::object& node) {
        const json::array labels = list_at(term, "matchExpressions");
        const json::array fields = list_at(term, "matchFields");
        if (labels.empty() && fields.empty()) { return false; }
        const json::object names{{"metadata.name", text_at(node, "metadata.name")}};
        for (const json::value& match : labels) {
            if (!holds(match.as_object(), part_at(node, "metadata.labels"))) { return false; }
        }
        for (const json::value& match : fields) {
            if (!holds(match.as_object(), names)) { return false; }
        }
        return true;
    }
    static bool any_term_holds(const json::array& terms, const json::object& node) {
        return std::any_of(terms.begin(), terms.end(), [&](const json::value& term) {
            return term_holds(term.as_object(), node);
        });
    }
    static bool is_selected(const json::object& pod, const json::object& node) {
        if (!selects({{"matchLabels", part_at(pod, "spec.nodeSelector")}},
                     part_at(node, "metadata.labels"))) {
            return false;
        }
        const json::object* required = object_at(
            pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
        return required == nullptr || any_term_holds(list_at(*required, "nodeSelectorTerms"), node);
    }

    static bool tolerates_one(const json::object& pod, const json::object& taint) {
        for (const json::value& one : list_at(pod, "spec.tolerations")) {
            const json::object& toleration = one.as_object();
            const std::string op = text_of(toleration, "operator", "Equal");
            const std::string key = text_of(toleration, "key");
            const std::string effect = text_of(toleration, "effect");
            if (!effect.empty() && effect != text_of(taint, "effect")) { continue; }
            if (key.empty() ? op != "Exists" : key != text_of(taint, "key")) { continue; }
            const std::string value = text_of(taint, "value");
            const std::string wanted = text_of(toleration, "value");
            if (op == "Exists" || (op == "Equal" && value == wanted)) { return true; }
            const bool is_number =
                !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
            if (!is_number || op == "Equal") { continue; }
            if (op == "Gt" ? std::stoi(value) > std::stoi(wanted)
                           : std::stoi(value) < std::stoi(wanted)) {
                return true;
            }
        }
        return false;
    }
    static bool tolerates(const json::object& pod, const json::object& node) {
        json::array taints = list_at(node, "spec.taints");
        if (flag_at(node, "spec.unschedulable")) {
            taints.push_back(json::object{{"key", "node.kubernetes.io/unschedulable"},
                                          {"effect", "NoSchedule"}});
        }
        return std::all_of(taints.begin(), taints.end(), [&](const json::value& taint) {
            return text_of(taint.as_object(), "effect") == "PreferNoSchedule" ||
                   tolerates_one(pod, taint.as_object());
        });
    }

    static std::vector<json::object> ports(const json::object& pod) {
        std::vector<json::object> out;
        for (const json::value& one : list_at(pod, "spec.containers")) {
            for (const json::value& port : list_at(one.as_object(), "ports")) {
                if (int_at(port.as_object(), "hostPort") > 0) { out.push_back(port.as_object()); }
            }
        }
        return out;
    }
    [[nodiscard]] bool has_ports(const json::object& pod, const json::object& node) const {
        const std::string any = "0.0.0.0";
        for (const json::object* other : on(node)) {
            for (const json::object& a : ports(pod)) {
                for (const json::object& b : ports(*other)) {
                    const std::string left = text_of(a, "hostIP", any);
                    const std::string right = text_of(b, "hostIP", any);
                    if (int_at(a, "hostPort") == int_at(b, "hostPort") &&
                        text_of(a, "protocol", "TCP") == text_of(b, "protocol", "TCP") &&
                        (left == right || left == any || right == any)) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    [[nodiscard]] bool means(const json::object& term, const json::object& owner,
                             const json::object& other) const {
        const json::object* selector = object_at(term, "labelSelector");
        if (selector == nullptr || !selects(*selector, part_at(other, "metadata.labels"))) {
            return false;
        }
        const std::string space(text_at(other, "metadata.namespace"));
        const json::array names = list_at(term, "namespaces");
        const json::object* spaces = object_at(term, "namespaceSelector");
        if (names.empty() && spaces == nullptr) {
            return space == text_at(owner, "metadata.namespace");
        }
        if (std::find(names.begin(), names.end(), json::value(space)) != names.end()) {
            return true;
        }
        return spaces != nullptr &&
               selects(*spaces, part_at(namespaces.at(space), "metadata.labels"));
    }
    static json::array required(const json::object& pod, std::string_view kind) {
        return list_at(pod, fmt::format("spec.affinity.{}."
                                        "requiredDuringSchedulingIgnoredDuringExecution",
                                        kind));
    }
    [[nodiscard]] const json::object& node_of(const json::object& pod) const {
        return *std::find_if(nodes.begin(), nodes.end(), [&](const json::object& node) {
            return text_at(node, "metadata.name") == text_at(pod, "spec.nodeName");
        });
    }
    static bool share(const json::object& a, const json::object& b, const std::string& key) {
        const std::string left(label_of(a, key));
        return part_at(a, "metadata.labels").contains(key) &&
               part_at(b, "metadata.labels").contains(key) && left == label_of(b, key);
    }
    [[nodiscard]] bool is_affine(const json::object& pod, const json::object& node) const {
        for (const json::object& other : pods) {
            for (const json::value& term : required(other, "podAntiAffinity")) {
                if (means(term.as_object(), other, pod) &&
                    share(node_of(other), node, text_of(term.as_object(), "topologyKey"))) {
                    return false;
                }
            }
            for (const json::value& term : required(pod, "podAntiAffinity")) {
                if (means(term.as_object(), pod, other) &&
                    share(node_of(other), node, text_of(term.as_object(), "topologyKey"))) {
                    return false;
                }
            }
        }
        const json::array terms = required(pod, "podAffinity");
        const auto is_meant_by_all = [&](const json::object& other) {
            return std::all_of(terms.begin(), terms.end(), [&](const json::value& term) {
                return means(term.as_object(), pod, other);
            });
        };
        bool is_any = false;
        bool is_near = true;
        for (const json::value& term : terms) {
            const std::string key = text_of(term.as_object(), "topologyKey");
            if (!part_at(node, "metadata.labels").contains(key)) { return false; }
            bool is_here = false;
            for (const json::object& other : pods) {
                if (!is_meant_by_all(other)) { continue; }
                is_any = is_any || part_at(node_of(other), "metadata.labels").contains(key);
                is_here = is_here || share(node_of(other), node, key);
            }
            is_near = is_near && is_here;
        }
        return is_near || (!is_any && is_meant_by_all(pod));
    }

    [[nodiscard]] bool is_spread(const json::object& pod, const json::object& node) const {
        std::vector<json::object> rules;
        for (const json::value& one : list_at(pod, "spec.topologySpreadConstraints")) {
            if (text_of(one.as_object(), "whenUnsatisfiable") == "DoNotSchedule") {
                rules.push_back(one.as_object());
            }
        }
        for (const json::object& rule : rules) {
            const std::string key = text_of(rule, "topologyKey");
            std::map<std::string, int> counts;
            for (const json::object& one : nodes) {
                const bool has_all = std::all_of(rules.begin(), rules.end(), [&](const auto& r) {
                    return part_at(one, "metadata.labels").contains(text_of(r, "topologyKey"));
                });
                if (!has_all) { continue; }
                if (text_of(rule, "nodeAffinityPolicy", "Honor") == "Honor" &&
                    !(is_selected(pod, one))) {
                    continue;
                }
                if (text_of(rule, "nodeTaintsPolicy", "Ignore") == "Honor" &&
                    !has_tolerated_taints(pod, one)) {
                    continue;
                }
                int& count = counts[std::string(label_of(one, key))];
                for (const json::object* other : on(one)) {
                    count += counts_for(rule, pod, *other) ? 1 : 0;
                }
            }
            if (!part_at(node, "metadata.labels").contains(key)) { return false; }
            int least = counts.empty() ? 0 : INT_MAX;
            for (const auto& [domain, count] : counts) { least = std::min(least, count); }
            if (static_cast<std::int64_t>(counts.size()) < int_at(rule, "minDomains", 1)) {
                least = 0;
            }
            const auto here = counts.find(std::string(label_of(node, key)));
            const int self = counts_for(rule, pod, pod) ? 1 : 0;
            const int skew = (here == counts.end() ? 0 : here->second) + self - least;
            if (skew > int_at(rule, "maxSkew")) { return false; }
        }
        return true;
    }
    static bool has_tolerated_taints(const json::object& pod, const json::object& node) {
        const json::array taints = list_at(node, "spec.taints");
        return std::all_of(taints.begin(), taints.end(), [&](const json::value& taint) {
            return text_of(taint.as_object(), "effect") == "PreferNoSchedule" ||
                   tolerates_one(pod, taint.as_object());
        });
    }
    static bool counts_for(const json::object& rule, const json::object& pod,
                           const json::object& other) {
        const json::object* selector = object_at(rule, "labelSelector");
        return selector != nullptr &&
               text_at(pod, "metadata.namespace") == text_at(other, "metadata.namespace") &&
               selects(*selector, part_at(other, "metadata.labels"));
    }

    [[nodiscard]] bool reaches_volumes(const json::object& pod, const json::object& node) const {
        for (const json::value& one : list_at(pod, "spec.volumes")) {
            const std::string name =
                std::string(text_at(pod, "metadata.namespace")) + "/" +
                std::string(text_at(one.as_object(), "persistentVolumeClaim.claimName"));
            if (!claims.contains(name) || !reaches(claims.at(name), node)) { return false; }
        }
        return true;
    }
    /// Claims of a node's own on volumes of the driver.
    [[nodiscard]] std::set<std::string> attached(const json::object& pod) const {
        std::set<std::string> out;
        for (const json::value& one : list_at(pod, "spec.volumes")) {
            const std::string name =
                std::string(text_at(pod, "metadata.namespace")) + "/" +
                std::string(text_at(one.as_object(), "persistentVolumeClaim.claimName"));
            const auto claim = claims.find(name);
            if (claim == claims.end()) { continue; }
            const bool is_single =
                list_at(claim->second, "spec.accessModes").at(0) == "ReadWriteOnce";
            if (is_single && text_at(claim->second, "spec.storageClassName") == "made") {
                out.insert(name);
            }
        }
        return out;
    }
    [[nodiscard]] bool attaches(const json::object& pod, const json::object& node) const {
        const auto csi = csi_nodes.find(std::string(text_at(node, "metadata.name")));
        std::set<std::string> all = attached(pod);
        if (csi == csi_nodes.end() || all.empty()) { return true; }
        for (const json::object* other : on(node)) { all.merge(attached(*other)); }
        const json::array drivers = list_at(csi->second, "spec.drivers");
        const json::object& driver = drivers.at(0).as_object();
        return driver.if_contains("allocatable") == nullptr ||
               static_cast<std::int64_t>(all.size()) <= int_at(driver, "allocatable.count");
    }
    [[nodiscard]] bool reaches(const json::object& claim, const json::object& node) const {
        const std::string bound(text_at(claim, "spec.volumeName"));
        if (!bound.empty()) {
            const auto volume = volumes.find(bound);
            if (volume == volumes.end()) { return false; }
            const json::object* terms = object_at(volume->second, "spec.nodeAffinity.required");
            return terms == nullptr || any_term_holds(list_at(*terms, "nodeSelectorTerms"), node);
        }
        const auto of = classes.find(std::string(text_at(claim, "spec.storageClassName")));
        if (of == classes.end() ||
            text_of(of->second, "volumeBindingMode") != "WaitForFirstConsumer") {
            return false;
        }
        for (const auto& [name, volume] : volumes) {
            const json::object* terms = object_at(volume, "spec.nodeAffinity.required");
            const bool is_free = object_at(volume, "spec.claimRef") == nullptr &&
                                 text_at(volume, "spec.storageClassName") == of->first;
            if (is_free && terms != nullptr &&
                any_term_holds(list_at(*terms, "nodeSelectorTerms"), node)) {
                return true;
            }
        }
        if (text_of(of->second, "provisioner") == "kubernetes.io/no-provisioner") { return false; }
        const json::array places = list_at(of->second, "allowedTopologies");
        if (places.empty()) { return true; }
        for (const json::value& place : places) {
            bool is_good = true;
            for (const json::value& one : list_at(place.as_object(), "matchLabelExpressions")) {
                json::object match = one.as_object();
                match["operator"] = "In";
                is_good = is_good && holds(match, part_at(node, "metadata.labels"));
            }
            if (is_good) { return true; }
        }
        return false;
    }
};

// ---- random objects

class Random {
public:
    explicit Random(std::uint32_t seed) : random_(seed) {}

    std::uint32_t pick(std::uint32_t count) {
        return static_cast<std::uint32_t>(random_() % count);
    }
    bool chance(std::uint32_t percent) { return pick(100) < percent; }

    json::object node(std::size_t index) {
        json::object labels{{"kubernetes.io/hostname", fmt::format("n{}", index)}};
        if (chance(85)) { labels["zone"] = fmt::format("z{}", pick(3)); }
        if (chance(60)) { labels["disk"] = chance(50) ? "ssd" : "hdd"; }
        if (chance(60)) { labels["age"] = chance(80) ? std::to_string(pick(5)) : "old"; }
        json::object spec;
        json::array taints;
        while (chance(25)) { taints.push_back(taint()); }
        if (!taints.empty()) { spec["taints"] = std::move(taints); }
        if (chance(10)) { spec["unschedulable"] = true; }
        json::object allocatable{{"cpu", std::to_string(2 + pick(5))},
                                 {"memory", std::to_string(1'000'000'000)},
                                 {"pods", std::to_string(2 + pick(4))}};
        if (chance(60)) { allocatable["vendor.com/x"] = std::to_string(pick(3)); }
        if (chance(60)) { allocatable["nvidia.com/gpu"] = std::to_string(pick(4)); }
        if (chance(40)) { allocatable["nvidia.com/gpu.shared"] = std::to_string(pick(4)); }
        return {{"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata", {{"name", fmt::format("n{}", index)}, {"labels", std::move(labels)}}},
                {"spec", std::move(spec)},
                {"status", {{"allocatable", allocatable}, {"capacity", allocatable}}}};
    }
    json::object pod(const std::string& name) {
        json::object labels{{"app", chance(50) ? "a" : "b"}};
        if (chance(30)) { labels["tier"] = "x"; }
        json::object spec{{"schedulerName", "muster"}};
        json::array containers;
        containers.push_back(container());
        if (chance(20)) { containers.push_back(container()); }
        spec["containers"] = std::move(containers);
        if (chance(25)) {
            json::array init;
            for (std::uint32_t i = 1 + pick(3); i > 0; --i) {
                json::object one = container();
                one.erase("ports");
                if (chance(50)) { one["restartPolicy"] = "Always"; }
                init.push_back(std::move(one));
            }
            spec["initContainers"] = std::move(init);
        }
        if (chance(10)) { spec["overhead"] = json::object{{"cpu", "1"}}; }
        if (chance(10)) {
            spec["resources"] = json::object{{"requests", {{"cpu", std::to_string(1 + pick(4))}}}};
        }
        if (chance(20)) { spec["nodeSelector"] = json::object{{"disk", "ssd"}}; }
        json::object affinity;
        if (chance(30)) { affinity["nodeAffinity"] = node_affinity(); }
        if (chance(30)) { affinity["podAffinity"] = pod_affinity(); }
        if (chance(30)) { affinity["podAntiAffinity"] = pod_affinity(); }
        if (!affinity.empty()) { spec["affinity"] = std::move(affinity); }
        json::array tolerations;
        while (chance(35)) { tolerations.push_back(toleration()); }
        spec["tolerations"] = std::move(tolerations);
        json::array spread;
        while (chance(25)) { spread.push_back(spread_rule()); }
        spec["topologySpreadConstraints"] = std::move(spread);
        if (chance(20)) {
            spec["volumes"] = json::array{json::object{
                {"name", "v"},
                {"persistentVolumeClaim",
                 {{"claimName", chance(50) ? "own-" + name : fmt::format("c{}", pick(6))}}}}};
        }
        return {{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata",
                 {{"name", name},
                  {"namespace", chance(70) ? "team" : "other"},
                  {"labels", std::move(labels)}}},
                {"spec", std::move(spec)},
                {"status", {{"phase", "Pending"}}}};
    }
    json::array zone_terms() {
        return json::array{json::object{{"matchExpressions", json::array{zone_match()}}}};
    }
    json::object zone_match() {
        json::object match{{"key", "zone"}};
        match["operator"] = "In";
        match["values"] = json::array{json::value(fmt::format("z{}", pick(3)))};
        return match;
    }

private:
    json::object taint() {
        json::object out{{"key", chance(50) ? "gpu" : "team"},
                         {"effect", chance(60)   ? "NoSchedule"
                                    : chance(50) ? "NoExecute"
                                                 : "PreferNoSchedule"}};
        if (chance(70)) { out["value"] = chance(40) ? "yes" : std::to_string(pick(4)); }
        return out;
    }
    json::object toleration() {
        json::object out;
        switch (pick(5)) {
            case 0: out["operator"] = "Exists"; break;
            case 1: out = {{"key", "gpu"}, {"operator", "Exists"}}; break;
            case 2: out = {{"key", chance(50) ? "gpu" : "team"}, {"value", "yes"}}; break;
            case 3:
                out = {{"key", "node.kubernetes.io/unschedulable"}, {"operator", "Exists"}};
                break;
            default:
                out = {{"key", chance(50) ? "gpu" : "team"},
                       {"operator", chance(50) ? "Gt" : "Lt"},
                       {"value", std::to_string(pick(4))}};
                break;
        }
        if (chance(40)) { out["effect"] = chance(60) ? "NoSchedule" : "NoExecute"; }
        return out;
    }
    json::object container() {
        json::object requests;
        if (chance(80)) { requests["cpu"] = std::to_string(pick(4)); }
        if (chance(20)) { requests["vendor.com/x"] = std::to_string(pick(2)); }
        if (chance(20)) { requests["nvidia.com/gpu"] = std::to_string(pick(3)); }
        if (chance(15)) { requests["nvidia.com/gpu.shared"] = "1"; }
        json::object out{{"name", "c"}};
        out["resources"] = json::object{{chance(50) ? "requests" : "limits", std::move(requests)}};
        if (chance(25)) {
            json::object port{{"containerPort", 80}, {"hostPort", 8000 + pick(2)}};
            if (chance(30)) { port["protocol"] = "UDP"; }
            if (chance(40)) { port["hostIP"] = chance(50) ? "10.0.0.1" : "10.0.0.2"; }
            out["ports"] = json::array{std::move(port)};
        }
        return out;
    }
    json::object match(bool is_node) {
        static const std::vector<std::string> keys{"zone", "disk", "age"};
        static const std::vector<std::string> pod_keys{"app", "tier"};
        json::object out;
        out["key"] = is_node ? keys[pick(3)] : pod_keys[pick(2)];
        switch (pick(is_node ? 6 : 4)) {
            case 0:
            case 1:
                out["operator"] = chance(50) ? "In" : "NotIn";
                out["values"] = json::array{is_node ? "z1" : "a", is_node ? "ssd" : "x"};
                break;
            case 2: out["operator"] = "Exists"; break;
            case 3: out["operator"] = "DoesNotExist"; break;
            default:
                out["operator"] = chance(50) ? "Gt" : "Lt";
                out["key"] = "age";
                out["values"] = json::array{json::value(std::to_string(pick(5)))};
                break;
        }
        return out;
    }
    json::object node_affinity() {
        json::array terms;
        for (std::uint32_t i = 1 + pick(2); i > 0; --i) {
            json::object term;
            json::array matches;
            while (chance(60)) { matches.push_back(match(true)); }
            if (!matches.empty()) { term["matchExpressions"] = std::move(matches); }
            if (chance(20)) {
                json::object name{{"key", "metadata.name"}};
                name["operator"] = chance(50) ? "In" : "NotIn";
                name["values"] = json::array{"n1"};
                term["matchFields"] = json::array{std::move(name)};
            }
            terms.push_back(std::move(term));
        }
        return {{"requiredDuringSchedulingIgnoredDuringExecution",
                 {{"nodeSelectorTerms", std::move(terms)}}}};
    }
    json::object selector() {
        if (chance(15)) { return {}; }
        if (chance(50)) { return {{"matchLabels", {{"app", chance(50) ? "a" : "b"}}}}; }
        return {{"matchExpressions", json::array{match(false)}}};
    }
    json::string key() {
        return chance(45) ? "zone" : chance(70) ? "kubernetes.io/hostname" : "disk";
    }
    json::object pod_affinity() {
        json::array terms;
        for (std::uint32_t i = 1 + pick(2); i > 0; --i) {
            json::object term{{"topologyKey", key()}, {"labelSelector", selector()}};
            if (chance(20)) { term["namespaces"] = json::array{"other"}; }
            if (chance(20)) {
                term["namespaceSelector"] =
                    chance(40) ? json::object{}
                               : json::object{{"matchLabels", {{"kind", "shared"}}}};
            }
            terms.push_back(std::move(term));
        }
        return {{"requiredDuringSchedulingIgnoredDuringExecution", std::move(terms)}};
    }
    json::object spread_rule() {
        json::object out{{"maxSkew", 1 + pick(2)},
                         {"topologyKey", key()},
                         {"whenUnsatisfiable", chance(80) ? "DoNotSchedule" : "ScheduleAnyway"}};
        if (chance(90)) { out["labelSelector"] = selector(); }
        if (chance(25) && out["whenUnsatisfiable"] == "DoNotSchedule") {
            out["minDomains"] = 1 + pick(4);
        }
        if (chance(30)) { out["nodeAffinityPolicy"] = chance(50) ? "Honor" : "Ignore"; }
        if (chance(30)) { out["nodeTaintsPolicy"] = chance(50) ? "Honor" : "Ignore"; }
        return out;
    }

    std::minstd_rand random_;
};

Plain make_cluster(Random& random) {
    Plain out;
    for (std::size_t i = 0; i < 2 + random.pick(5); ++i) { out.nodes.push_back(random.node(i)); }
    for (const char* name : {"team", "other"}) {
        json::object labels;
        if (random.chance(50)) { labels["kind"] = "shared"; }
        out.namespaces[name] = {{"apiVersion", "v1"},
                                {"kind", "Namespace"},
                                {"metadata", {{"name", name}, {"labels", std::move(labels)}}}};
    }
    for (const char* name : {"made", "local", "now"}) {
        const std::string kind = name;
        json::object one{
            {"apiVersion", "storage.k8s.io/v1"},
            {"kind", "StorageClass"},
            {"metadata", {{"name", name}}},
            {"provisioner", kind == "local" ? "kubernetes.io/no-provisioner" : "csi.example.com"},
            {"volumeBindingMode", kind == "now" ? "Immediate" : "WaitForFirstConsumer"}};
        if (kind == "made" && random.chance(50)) {
            json::object match = random.zone_match();
            match.erase("operator");
            one["allowedTopologies"] =
                json::array{json::object{{"matchLabelExpressions", json::array{match}}}};
        }
        out.classes[name] = std::move(one);
    }
    for (const char* name : {"v0", "v1", "v2"}) {
        json::object spec{{"capacity", {{"storage", "10Gi"}}},
                          {"accessModes", json::array{"ReadWriteOnce"}},
                          {"storageClassName", "local"}};
        if (std::string(name) == "v0") {
            spec["claimRef"] = json::object{{"namespace", "team"}, {"name", "c0"}};
        }
        spec["nodeAffinity"] =
            json::object{{"required", {{"nodeSelectorTerms", random.zone_terms()}}}};
        out.volumes[name] = {{"apiVersion", "v1"},
                             {"kind", "PersistentVolume"},
                             {"metadata", {{"name", name}}},
                             {"spec", std::move(spec)},
                             {"status", {{"phase", "Available"}}}};
    }
    for (const json::object& node : out.nodes) {
        const std::string name(text_at(node, "metadata.name"));
        json::object driver{{"name", "csi.example.com"}, {"nodeID", name}};
        if (random.chance(70)) { driver["allocatable"] = json::object{{"count", random.pick(3)}}; }
        if (random.chance(30)) { continue; }
        out.csi_nodes[name] = {{"apiVersion", "storage.k8s.io/v1"},
                               {"kind", "CSINode"},
                               {"metadata", {{"name", name}}},
                               {"spec", {{"drivers", json::array{std::move(driver)}}}}};
    }
    std::vector<std::pair<std::string, const char*>> claims{
        {"c0", ""}, {"c1", "made"}, {"c2", "local"}, {"c3", "now"}, {"c4", "absent"}};
    for (int i = 0; i < 12; ++i) { claims.emplace_back(fmt::format("own-p{}", i), "made"); }
    for (const auto& [name, of] : claims) {
        // One that several pods may name is no matter of one node.
        json::object spec{
            {"accessModes", json::array{name == "c1" ? "ReadWriteMany" : "ReadWriteOnce"}},
            {"resources", {{"requests", {{"storage", "5Gi"}}}}}};
        json::object metadata{{"name", name}, {"namespace", "team"}};
        if (*of != 0) { spec["storageClassName"] = of; }
        if (name == "c0") {
            spec["volumeName"] = random.chance(80) ? "v0" : "v9";
            metadata["annotations"] = json::object{{"pv.kubernetes.io/bind-completed", "yes"}};
        }
        out.claims[fmt::format("team/{}", name)] = {{"apiVersion", "v1"},
                                                    {"kind", "PersistentVolumeClaim"},
                                                    {"metadata", std::move(metadata)},
                                                    {"spec", std::move(spec)}};
    }
    return out;
}

/// Where the pod is placed; empty when it waits.
std::string placed(const Plain& cluster, const json::object& pod, const std::string& only) {
    json::array items;
    for (json::object node : cluster.nodes) {
        if (text_at(node, "metadata.name") != only) {  // full, and else as it is
            node["status"].as_object()["allocatable"].as_object()["pods"] = "0";
        }
        items.push_back(std::move(node));
    }
    for (const json::object& one : cluster.pods) { items.push_back(one); }
    for (const auto* objects : {&cluster.namespaces, &cluster.claims, &cluster.volumes,
                                &cluster.classes, &cluster.csi_nodes}) {
        for (const auto& [name, object] : *objects) { items.push_back(object); }
    }
    items.push_back(pod);
    const json::object list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
    const std::vector<SourceText> sources{{"cluster.json", json::serialize(list)}};
    auto input = dialect::read_cluster(sources);
    if (!input) { throw std::runtime_error(input.error().message); }
    Engine engine;
    for (const Fact& fact : input->facts) {
        if (auto applied = engine.apply(fact); !applied) {
            throw std::runtime_error(applied.error().message);
        }
    }
    const Plan plan = engine.cycle();
    for (const Placement& placement : plan.placements) {
        for (const TaskPlace& task : placement.tasks) { return task.node; }
    }
    return {};
}

RC_GTEST_PROP(Predicates, AgreeWithAPlainReadingOnEveryNode, (std::uint32_t seed)) {
    Random random(seed + 1);
    Plain cluster = make_cluster(random);
    for (int i = 0; i < 12; ++i) {
        json::object pod = random.pod(fmt::format("p{}", i));
        std::vector<std::string> open;
        for (const json::object& node : cluster.nodes) {
            const std::string name(text_at(node, "metadata.name"));
            const bool is_feasible = cluster.is_feasible(pod, node);
            if (is_feasible) { open.push_back(name); }

            const std::string found = placed(cluster, pod, name);

            if ((found == name) != is_feasible) {
                RC_LOG() << name << " expected " << is_feasible << "\n"
                         << json::serialize(pod) << "\n"
                         << json::serialize(node) << "\n";
            }
            RC_ASSERT((found == name) == is_feasible);
        }
        RC_CLASSIFY(open.empty(), "nowhere");
        if (open.empty()) { continue; }
        pod["spec"].as_object()["nodeName"] =
            open[random.pick(static_cast<std::uint32_t>(open.size()))];
        pod["status"] = json::object{{"phase", "Running"}};
        cluster.pods.push_back(std::move(pod));
    }
}

}  // namespace
}  // namespace muster::kube
