#include "cli/lab_demo.h"

#include "base/text.h"
#include "cli/verbs.h"
#include "codec/document.h"
#include "lab/cluster_file.h"
#include "lab/known_resources.h"
#include "lab/lab.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <set>
#include <sstream>
#include <unistd.h>

namespace muster::cli {

namespace json = boost::json;
using kube::text_at;

namespace {

constexpr std::int64_t patience_ms = 30'000;
volatile std::sig_atomic_t is_interrupted = 0;  // then nothing is waited for, and the lab goes

/// The kinds that the demonstrations make.
Result<kube::Resource> resource_for(const json::object& object) {
    static const std::map<std::string_view, kube::Resource> kinds{
        {"Pod", lab::known::pods}, {"Job", lab::known::jobs}, {"PodGroup", lab::known::pod_groups}};
    const std::string_view kind = text_at(object, "kind");
    if (text_at(object, "apiVersion").starts_with("batch.volcano.sh/")) {
        return lab::known::volcano_jobs;
    }
    const auto found = kinds.find(kind);
    if (found != kinds.end()) { return found->second; }
    return fail(Code::invalid, fmt::format("no demonstration makes a {}", kind));
}

std::string message_of(const json::object* object, std::string_view type) {
    const json::array* all = object ? kube::array_at(*object, "status.conditions") : nullptr;
    for (const json::value& one : all ? *all : json::array()) {
        const json::object* condition = one.if_object();
        if (condition && text_at(*condition, "type") == type) {
            return std::string(text_at(*condition, "message"));
        }
    }
    return {};
}

std::filesystem::path new_folder() {
    static std::atomic<int> count = 0;
    return std::filesystem::temp_directory_path() /
           fmt::format("muster-lab-demo-{}-{}", getpid(), ++count);
}

}  // namespace

Result<std::unique_ptr<DemoLab>> DemoLab::up(Stage& stage, LabVerbOptions options) {
    std::unique_ptr<DemoLab> out(new DemoLab(stage, new_folder()));
    options.action = LabAction::up;
    options.folder = out->folder_.string();
    options.is_in_memory = true;
    out->tell_command(fmt::format(
        "muster lab up {} --speed {}{}",
        options.like.empty() ? "--nodes " + options.nodes : "--like " + options.like, options.speed,
        options.scheduler == "muster" ? "" : " --scheduler " + options.scheduler));
    std::ostringstream quiet;
    Terminal terminal{.out = quiet, .err = quiet, .data_folder = {}};
    MUSTER_CHECK(run_verb(options, terminal));
    MUSTER_TRY(client, LabClient::reach(lab::files_of(out->folder_).kubeconfig));
    out->client_ = std::move(client);
    kube::Transport& transport = out->hand().transport();
    out->pods_ = std::make_unique<kube::Informer>(transport, lab::known::pods);
    out->nodes_ = std::make_unique<kube::Informer>(transport, lab::known::nodes);
    out->groups_ = std::make_unique<kube::Informer>(transport, lab::known::pod_groups);
    out->pods_->start();
    out->nodes_->start();
    out->groups_->start();
    const auto is_synced = [&] {
        return out->pods_->is_synced() && out->nodes_->is_synced() && out->groups_->is_synced();
    };
    if (!out->until(is_synced)) { return fail(Code::timeout, "the lab does not list its objects"); }
    return out;
}

DemoLab::~DemoLab() {
    std::ostringstream quiet;
    Terminal terminal{.out = quiet, .err = quiet, .data_folder = {}};
    LabVerbOptions options;
    options.action = LabAction::reset;
    options.folder = folder_.string();
    (void)run_verb(options, terminal);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void DemoLab::tell_command(std::string_view command) {
    bool is_first = true;
    for (const std::string_view line : split(command, '\n')) {
        stage_.say(fmt::format("{}{}", is_first ? "$ " : "  ", line));
        is_first = false;
    }
}

Result<> DemoLab::apply(std::string_view manifest) {
    tell_command(fmt::format("kubectl apply -f - <<EOF\n{}\nEOF", trim(manifest)));
    return create(manifest);
}

Result<> DemoLab::create(std::string_view manifest) {
    const std::vector<SourceText> sources{{"manifest", std::string(manifest)}};
    MUSTER_TRY(documents, read_documents(sources));
    for (const Document& document : documents.all()) {
        const json::object& object = document.root->as_object();
        MUSTER_TRY(resource, resource_for(object));
        MUSTER_CHECK(hand().ask(kube::create_call(resource, "default", object)));
    }
    return {};
}

bool DemoLab::until(const std::function<bool()>& is_so) {
    (void)hand().until([&] { return is_interrupted != 0 || is_so(); }, patience_ms);
    return is_interrupted == 0 && is_so();
}

std::vector<const json::object*> DemoLab::pods(std::string_view prefix) const {
    std::vector<const json::object*> out;
    for (const auto& [name, pod] : pods_->objects()) {
        if (name.second.starts_with(prefix)) { out.push_back(&pod); }
    }
    return out;
}

std::size_t DemoLab::running(std::string_view prefix) const {
    const auto all = pods(prefix);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const json::object* pod) {
            return text_at(*pod, "status.phase") == "Running" && !kube::is_leaving(*pod);
        }));
}

std::map<std::string, std::size_t> DemoLab::places(std::string_view prefix) const {
    std::map<std::string, std::size_t> out;
    for (const json::object* pod : pods(prefix)) {
        const std::string_view phase = text_at(*pod, "status.phase");
        const std::string_view node = text_at(*pod, "spec.nodeName");
        if (!node.empty() && phase != "Succeeded" && phase != "Failed") {
            ++out[std::string(node)];
        }
    }
    return out;
}

std::size_t DemoLab::placed(std::string_view prefix) const {
    std::size_t out = 0;
    for (const auto& [node, count] : places(prefix)) { out += count; }
    return out;
}

std::size_t DemoLab::spread(std::string_view prefix, std::string_view label) const {
    std::set<std::string> values;
    for (const auto& [name, count] : places(prefix)) {
        if (const json::object* found = node(name)) {
            values.emplace(kube::label_of(*found, label));
        }
    }
    return values.size();
}

const json::object* DemoLab::node(const std::string& name) const {
    return nodes_->find({"", name});
}

const json::object* DemoLab::group(const std::string& name) const {
    for (const auto& [key, object] : groups_->objects()) {
        if (key.second.starts_with(name)) { return &object; }
    }
    return nullptr;
}

std::string DemoLab::reason(const std::string& name) const {
    const json::object* found = group(name);
    if (found == nullptr || kube::condition_of(*found, "Unschedulable") != "True") { return {}; }
    return message_of(found, "Unschedulable");
}

std::string DemoLab::pod_reason(const std::string& pod) const {
    const json::object* found = pods_->find({"default", pod});
    if (found == nullptr || kube::condition_of(*found, "PodScheduled") != "False") { return {}; }
    return message_of(found, "PodScheduled");
}

std::string text_of(const std::map<std::string, std::size_t>& places) {
    constexpr std::size_t named_max = 4;
    std::string out;
    std::size_t named = 0;
    for (const auto& [node, count] : places) {
        if (named++ == named_max) { break; }
        out += fmt::format("{}{} on {}", out.empty() ? "" : ", ", count, node);
    }
    if (places.size() > named_max) {
        out += fmt::format(", and {} more nodes", places.size() - named_max);
    }
    return out;
}

Result<int> run_verb(const LabDemoOptions& options, Terminal& terminal) {
    for (const int signal : {SIGINT, SIGTERM}) {
        std::signal(signal, [](int) { is_interrupted = 1; });
    }
    Stage stage(terminal);
    const std::map<std::string_view, Result<> (*)(Stage&)> all{{"deadlock", show_lab_deadlock},
                                                               {"topology", show_lab_topology},
                                                               {"mig", show_lab_mig},
                                                               {"failure", show_lab_failure}};
    if (const auto shown = all.at(options.name)(stage); !shown) {
        stage.check(false, shown.error().message);
    }
    stage.say("");
    stage.say(
        fmt::format("{} of {} checks hold", stage.checks() - stage.failures(), stage.checks()));
    return stage.failures() == 0 ? exit_good : exit_waits;
}

}  // namespace muster::cli
