#include "cli/api.h"

#include "base/text.h"
#include "cli/api_lists.h"
#include "cli/cluster.h"
#include "cli/run.h"
#include "cli/tell.h"
#include "codec/json_writer.h"
#include "engine/world.h"
#include "lab/request_path.h"
#include "ledger/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <utility>

namespace muster::cli {

namespace {

constexpr std::size_t target_bytes_max = 4'096;
constexpr std::size_t manifest_bytes_max = std::size_t{1} << 20;
constexpr std::int64_t decisions_default = 20;
constexpr std::string_view again_s = "1";

/// What there is, and which words of the query each knows.
struct Endpoint {
    std::string_view name;
    std::string_view method;
    std::array<std::string_view, 6> query;
};
constexpr std::array<Endpoint, 11> endpoints = {{
    {"queues", "GET", {"output", "format", "colour"}},
    {"nodes", "GET", {"limit", "after"}},
    {"workloads", "GET", {"queue", "namespace", "state", "limit", "after"}},
    {"workloads/NAMESPACE/NAME", "GET", {}},
    {"why/NAMESPACE/NAME", "GET", {"output", "format", "colour"}},
    {"plan", "POST", {"output", "format", "colour", "sensitivity", "name", "namespace"}},
    {"shapes", "GET", {"output", "format", "colour"}},
    {"decisions", "GET", {"limit"}},
    {"ledger", "GET", {}},
    {"version", "GET", {}},
    {"", "GET", {}},
}};

net::HttpResponse json_response(TrialProcesses::Answer answer) {
    net::HttpResponse out{.status = answer.status,
                          .headers = {{"Content-Type", "application/json"},
                                      {"Cache-Control", "no-store"},
                                      {"X-Content-Type-Options", "nosniff"}},
                          .body = std::move(answer.body)};
    if (answer.status == 429 || answer.status == 503) {
        out.headers.push_back({"Retry-After", std::string(again_s)});
    }
    return out;
}

TrialProcesses::Answer refuse(int status, std::string_view message, std::string_view reason = "") {
    return {.status = status, .body = status_json(status, message, reason)};
}
TrialProcesses::Answer refuse(const Error& error) {
    return refuse(status_of(error.code), error.message);
}

/// As a verb would say it, or with all that it would print.
struct Form {
    bool is_terminal = false;
    Format format = Format::json;
    bool has_colour = false;
};

TrialProcesses::Answer tell(const Form& form,
                            const std::function<Result<int>(Format, Terminal&)>& verb) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{.out = out, .err = err, .has_colour = form.has_colour, .data_folder = ""};
    const auto code = verb(form.format, terminal);
    if (!code) { return refuse(code.error()); }
    if (!form.is_terminal) { return {.status = 200, .body = std::move(out).str()}; }
    JsonWriter said;
    said.begin_object()
        .member("code", std::int64_t{*code})
        .member("out", out.view())
        .member("err", err.view())
        .end_object();
    return {.status = 200, .body = said.take() + '\n'};
}

/// A copy of the scheduler's engine, which decides as anyone restored from it does.
Result<Cluster> copy_of(const ApiState& state) {
    Cluster out;
    MUSTER_TRY(engine, Engine::restore(state.engine->snapshot(), state.engine->world().policy));
    out.engine = std::move(engine);
    if (state.context != nullptr) { out.context = *state.context; }
    if (state.refused) { out.refused = state.refused(); }
    return out;
}

std::string ledger_json(const ApiState& state) {
    JsonWriter out;
    const Extent& ledger = state.ledger;
    out.begin_object()
        .member("first", static_cast<std::int64_t>(ledger.first()))
        .member("last", static_cast<std::int64_t>(ledger.last.sequence))
        .member("epoch", static_cast<std::int64_t>(ledger.last.epoch))
        .member("time", ledger.last.time)
        .member("hash", hex_of(ledger.last.hash))
        .member("policy_hash", policy_hash(state.engine->world().policy))
        .end_object();
    return out.take() + '\n';
}

std::string index_json(const ApiState& state) {
    JsonWriter out;
    out.begin_object()
        .member("version", MUSTER_VERSION)
        .member("leads", state.engine != nullptr)
        .member("holder", state.holder)
        .key("paths")
        .begin_list();
    for (const Endpoint& endpoint : endpoints) {
        if (!endpoint.name.empty()) { out.value(fmt::format("/api/v1/{}", endpoint.name)); }
    }
    return out.end_list().end_object().take() + '\n';
}

}  // namespace

/// A request taken apart.
struct Api::Asked {
    const Endpoint* endpoint = nullptr;
    std::string name;  // of a workload
    lab::Query query;
    Form form;
    Page page;

    [[nodiscard]] std::string text(std::string_view key) const {
        const auto found = query.find(key);
        return found == query.end() ? "" : found->second;
    }
};

namespace {

const Endpoint* find_endpoint(std::span<const std::string> parts) {
    std::string name = parts.empty() ? "" : parts.front();
    if ((name == "workloads" && parts.size() > 1) || name == "why") {
        // The name of one workload, whose namespace may be left out where it is clear.
        if (parts.size() < 2 || parts.size() > 3) { return nullptr; }
        name += "/NAMESPACE/NAME";
    } else if (parts.size() > 1) {
        return nullptr;
    }
    const auto* found = std::ranges::find(endpoints, name, &Endpoint::name);
    return found == endpoints.end() ? nullptr : found;
}

Result<> check_query(const Endpoint& endpoint, const lab::Query& query) {
    for (const auto& [key, value] : query) {
        if (key.empty() || std::ranges::find(endpoint.query, key) == endpoint.query.end()) {
            std::vector<std::string_view> known(endpoint.query.begin(), endpoint.query.end());
            std::erase(known, "");
            return fail(
                Code::invalid,
                fmt::format("unknown '{}' in the query; expected {}", key,
                            known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
        }
    }
    return {};
}

Result<std::int64_t> read_number(const lab::Query& query, std::string_view key,
                                 std::int64_t otherwise, std::int64_t low, std::int64_t high) {
    const auto found = query.find(key);
    if (found == query.end()) { return otherwise; }
    auto number = parse_int(key, found->second, low, high);
    if (!number) { return fail(Code::invalid, std::move(number).error().message); }
    return number;
}

Result<Form> read_form(const lab::Query& query) {
    Form out;
    for (const auto& [key, value] : query) {
        const bool is_good = key == "output"   ? value == "terminal"
                             : key == "format" ? value == "table" || value == "json"
                             : key == "colour" ? value == "true" || value == "false"
                                               : true;
        if (!is_good) {
            return fail(Code::invalid,
                        fmt::format("{}={}; expected output=terminal, format=table or json, "
                                    "colour=true or false",
                                    key, value));
        }
        if (key == "output") { out.is_terminal = true; }
        if (key == "colour") { out.has_colour = value == "true"; }
        if (key == "format" && value == "table") { out.format = Format::table; }
    }
    if (!out.is_terminal) { out.format = Format::json; }
    return out;
}

}  // namespace

Api::Api(net::EventLoop& loop, std::function<ApiState()> state, TrialLimits limits)
    : state_(std::move(state)),
      trials_(loop, limits, json_response) {}

bool Api::is_path(std::string_view target) {
    constexpr std::string_view prefix = "/api/v1";
    if (!target.starts_with(prefix)) { return false; }
    target.remove_prefix(prefix.size());
    return target.empty() || target.front() == '/' || target.front() == '?';
}

net::HttpResponse Api::handle(const net::HttpRequest& request) {
    net::HttpResponse out = route(request);
    constexpr int accepted = 202;
    ++answers_[out.later == nullptr ? out.status : accepted];
    return out;
}

net::HttpResponse Api::route(const net::HttpRequest& request) {
    const auto no = [](int status, std::string_view text, std::string_view reason = "") {
        return json_response(refuse(status, text, reason));
    };
    if (request.target.size() > target_bytes_max) {
        return no(400, fmt::format("a path of over {} bytes", target_bytes_max));
    }
    auto path = lab::parse_target(request.target);
    if (!path || path->parts.size() < 2) { return no(400, "a broken path"); }
    const std::span<const std::string> parts = std::span(path->parts).subspan(2);
    Asked asked;
    asked.endpoint = find_endpoint(parts);
    if (asked.endpoint == nullptr) { return no(404, "no such path; /api/v1 lists what there is"); }
    const bool is_asked_so = request.method == asked.endpoint->method ||
                             (request.method == "HEAD" && asked.endpoint->method == "GET");
    if (!is_asked_so) {
        auto out = no(405, fmt::format("expected {}", asked.endpoint->method));
        out.headers.push_back({"Allow", std::string(asked.endpoint->method)});
        return out;
    }
    asked.query = std::move(path->query);
    if (auto checked = check_query(*asked.endpoint, asked.query); !checked) {
        return json_response(refuse(checked.error()));
    }
    const bool is_recent = asked.endpoint->name == "decisions";
    auto form = read_form(asked.query);
    auto limit =
        read_number(asked.query, "limit", is_recent ? decisions_default : page_limit_default, 1,
                    is_recent ? std::int64_t{RecentDecisions::count_max} : page_limit_max);
    if (!form) { return json_response(refuse(form.error())); }
    if (!limit) { return json_response(refuse(limit.error())); }
    asked.form = *form;
    asked.page = {.limit = *limit, .after = asked.text("after")};
    if (parts.size() > 1) { asked.name = parts.size() == 3 ? parts[1] + "/" + parts[2] : parts[1]; }

    const ApiState state = state_();
    const std::string_view name = asked.endpoint->name;
    if (name.empty()) { return json_response({.status = 200, .body = index_json(state)}); }
    if (name == "version") { return json_response({.status = 200, .body = version_json()}); }
    if (state.engine == nullptr) {
        return state.holder.empty()
                   ? no(503, "the cluster is not read yet, or nobody leads", api_not_ready)
                   : no(503, fmt::format("stands by; {} leads", state.holder), api_stands_by);
    }
    if (name.starts_with("why/")) {
        return try_out(asked, state,
                       [job = asked.name](Cluster& cluster, Format format, Terminal& terminal) {
                           return tell_why(cluster, job, format, terminal);
                       });
    }
    if (name == "plan") { return plan(asked, state, request.body); }
    return json_response(answer_now(asked, state));
}

/// What a look at the World answers.
Api::Answer Api::answer_now(const Asked& asked, const ApiState& state) {
    const World& world = state.engine->world();
    const std::string_view name = asked.endpoint->name;
    if (name == "queues") {
        return tell(asked.form, [&](Format format, Terminal& terminal) {
            return tell_queues(world, format, terminal);
        });
    }
    if (name == "shapes") {
        return tell(asked.form, [&](Format format, Terminal& terminal) {
            return tell_shapes(world, format, terminal);
        });
    }
    if (name == "nodes") { return {.status = 200, .body = nodes_json(world, asked.page)}; }
    if (name == "ledger") { return {.status = 200, .body = ledger_json(state)}; }
    if (name == "decisions") { return {.status = 200, .body = recent_.json(asked.page.limit)}; }
    if (name == "workloads") {
        const WorkloadFilter filter{.queue = asked.text("queue"),
                                    .space = asked.text("namespace"),
                                    .state = asked.text("state")};
        if (!filter.state.empty() && !is_workload_state(filter.state)) {
            return refuse(400, fmt::format("state={}; expected {}", filter.state, workload_states));
        }
        return {.status = 200, .body = workloads_json(world, filter, asked.page)};
    }
    const WorkloadSpec* spec = state.find_workload ? state.find_workload(asked.name) : nullptr;
    if (spec == nullptr || !world.find_workload(asked.name).is_valid()) {
        return refuse(404, fmt::format("no workload '{}'", asked.name));
    }
    return {.status = 200, .body = workload_json(world, *spec)};
}

net::HttpResponse Api::try_out(const Asked& asked, const ApiState& state,
                               std::function<Result<int>(Cluster&, Format, Terminal&)> verb) {
    return trials_.answer([&state, form = asked.form, verb = std::move(verb)]() -> Answer {
        auto cluster = copy_of(state);
        if (!cluster) { return refuse(cluster.error()); }
        return tell(form, [&](Format format, Terminal& terminal) {
            return verb(*cluster, format, terminal);
        });
    });
}

net::HttpResponse Api::plan(const Asked& asked, const ApiState& state, const std::string& body) {
    if (body.size() > manifest_bytes_max) {
        return json_response(
            refuse(413, fmt::format("a manifest of over {} bytes", manifest_bytes_max)));
    }
    constexpr std::int64_t sensitivity_default = 15;
    auto sensitivity = read_number(asked.query, "sensitivity", sensitivity_default, 0, 100);
    if (!sensitivity) { return json_response(refuse(sensitivity.error())); }
    SourceText source{asked.text("name").empty() ? "the manifest" : asked.text("name"), body};
    if (!asked.text("namespace").empty()) { source.name_space = asked.text("namespace"); }
    return try_out(asked, state,
                   [&source, percent = static_cast<std::int32_t>(*sensitivity)](
                       Cluster& cluster, Format format, Terminal& terminal) {
                       return tell_plan(cluster, std::span(&source, 1), percent, format, terminal);
                   });
}

}  // namespace muster::cli
