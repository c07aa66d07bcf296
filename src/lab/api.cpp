#include "lab/api.h"

#include "lab/api_ask.h"
#include "lab/discovery.h"
#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view definitions = "apiextensions.k8s.io/customresourcedefinitions";

constexpr std::string_view not_found_text = "404 page not found\n";

bool is_true(std::string_view path, std::initializer_list<std::string_view> all) {
    return std::find(all.begin(), all.end(), path) != all.end();
}

net::HttpResponse plain(int status, std::string text) {
    return {.status = status,
            .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
            .body = std::move(text),
            .stream = nullptr};
}

json::object new_object(std::string_view api_version, std::string_view kind,
                        std::string_view name) {
    return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

}  // namespace

Api::Api(ObjectStore store, const Schemas& schemas, ApiOptions options)
    : store_(std::move(store)),
      registry_(schemas),
      options_(std::move(options)) {
    if (options_.counts_quotas) { quotas_.emplace(store_); }
}

Api::~Api() = default;

Result<std::unique_ptr<Api>> Api::open(ObjectStore store, const Schemas& schemas,
                                       ApiOptions options) {
    std::unique_ptr<Api> api(new Api(std::move(store), schemas, std::move(options)));
    Api& self = *api;
    for (const auto& [key, stored] : self.store_.all(definitions)) {
        self.registry_.define(key.second, json::parse(*stored.text).get_object());
    }
    self.store_.listen(definitions, [&self](std::string_view, const StoreEvent& event) {
        if (event.type == StoreEvent::Type::deleted) {
            self.registry_.undefine(event.key.second);
        } else {
            self.registry_.define(event.key.second, json::parse(*event.now.text).get_object());
        }
    });
    std::vector<json::object> begin;
    for (const std::string_view name :
         {"default", "kube-system", "kube-public", "kube-node-lease"}) {
        begin.push_back(new_object("v1", "Namespace", name));
    }
    json::object critical =
        new_object("scheduling.k8s.io/v1", "PriorityClass", "system-node-critical");
    critical["value"] = 2'000'001'000;
    begin.push_back(critical);
    critical["metadata"] = json::object{{"name", "system-cluster-critical"}};
    critical["value"] = 2'000'000'000;
    begin.push_back(critical);
    for (const json::object& object : begin) {
        const bool is_namespace = text_at(object, "kind") == "Namespace";
        const kube::Resource resource =
            is_namespace ? kube::Resource{"", "v1", "namespaces"}
                         : kube::Resource{"scheduling.k8s.io", "v1", "priorityclasses"};
        const net::HttpResponse made =
            self.handle(kube::create_call(resource, "", object), "kube-apiserver");
        if (made.status != 201 && made.status != 409) {
            return fail(Code::unavailable,
                        fmt::format("the lab can't make {}: {}", name_of(object), made.body));
        }
    }
    return api;
}

Result<> Api::load(const std::function<Result<>()>& work) {
    is_loading_ = true;
    Result<> done = store_.write_together(work);
    is_loading_ = false;
    return done;
}

net::HttpResponse Api::handle(kube::Call call, std::string_view client) {
    return handle({.method = std::move(call.method),
                   .target = std::move(call.target),
                   .headers = {{"Accept", "application/json"},
                               {"User-Agent", std::string(client)},
                               {"Content-Type", std::move(call.content_type)},
                               {"Authorization", "Bearer " + options_.token}},
                   .body = std::move(call.body),
                   .client_name = {}});
}

net::HttpResponse Api::handle(const net::HttpRequest& request) {
    const std::string_view credentials = request.header("Authorization");
    const bool is_known = options_.token.empty() || !request.client_name.empty() ||
                          credentials == "Bearer " + options_.token;
    if (!is_known) {
        return answer_error({.code = 401, .reason = "Unauthorized", .message = "Unauthorized"});
    }
    net::HttpResponse response = route(request);
    if (quotas_) { quotas_->settle(); }
    return response;
}

net::HttpResponse Api::route(const net::HttpRequest& request) {
    auto path = parse_target(request.target);
    if (!path) { return answer_error(bad_request("the path has a broken escape").value()); }
    const std::vector<std::string>& parts = path->parts;
    if (!parts.empty() && is_true(parts[0], {"healthz", "livez", "readyz"})) {
        const bool is_check =
            parts.size() == 1 || (parts.size() == 2 && is_true(parts[1], {"ping", "log", "etcd"}));
        return is_check ? plain(200, "ok") : plain(404, std::string(not_found_text));
    }
    auto at = resource_path(parts);
    if (!at) { return discover(request, *path); }
    const ResourceType* type = registry_.find(at->group, at->version, at->plural);
    if (type == nullptr) {
        const bool is_group = std::ranges::any_of(
            registry_.served(), [&](const ResourceType& one) { return one.group == at->group; });
        if (!is_group) { return plain(404, std::string(not_found_text)); }
        return answer_error(no_such_path().value());
    }
    Ask ask{.request = request,
            .path = *path,
            .at = std::move(*at),
            .type = type,
            .storage = storage_name(*type),
            .warnings = {},
            .duplicates = {}};
    if (!type->is_namespaced && !ask.at.space.empty()) {
        return answer_error(no_such_path().value());
    }
    auto done = ask.at.subresource.empty() ? resource(ask) : subresource(ask);
    net::HttpResponse out = done ? std::move(*done) : answer_error(done.error());
    for (const std::string& warning : ask.warnings) {
        out.headers.push_back(
            {"Warning", fmt::format("299 - {}", json::serialize(json::value(warning)))});
    }
    return out;
}

net::HttpResponse Api::discover(const net::HttpRequest& request, const RequestPath& path) {
    const std::vector<std::string>& parts = path.parts;
    const std::vector<ResourceType>& served = registry_.served();
    const bool is_aggregated =
        request.header("Accept").find("as=APIGroupDiscoveryList") != std::string_view::npos &&
        request.header("Accept").find("v=v2;") != std::string_view::npos;
    const auto is_served = [&](std::string_view group, std::string_view version) {
        return std::any_of(served.begin(), served.end(), [&](const ResourceType& type) {
            return type.group == group && (version.empty() || type.version == version);
        });
    };
    if (request.method != "GET") { return answer_error(not_allowed("resource").value()); }
    if (parts.empty()) {
        json::array paths{"/api",   "/api/v1",     "/apis",   "/healthz",
                          "/livez", "/openapi/v3", "/readyz", "/version"};
        return answer(200, {{"paths", std::move(paths)}});
    }
    if (parts.size() == 1 && parts[0] == "version") {
        return answer(200, version_info(options_.kubernetes));
    }
    if (parts[0] == "api" || parts[0] == "apis") {
        const bool is_core = parts[0] == "api";
        if (parts.size() == 1 && is_aggregated) {
            net::HttpResponse out = answer(200, aggregated(served, is_core));
            out.headers = {{"Content-Type",
                            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
                           {"Vary", "Accept"}};
            return out;
        }
        if (parts.size() == 1) {
            return answer(200, is_core ? api_versions() : api_groups(served));
        }
        if (is_core && parts.size() == 2 && is_served("", parts[1])) {
            return answer(200, api_resources(served, "", parts[1]));
        }
        if (!is_core && parts.size() == 2 && is_served(parts[1], "")) {
            return answer(200, api_group(served, parts[1]));
        }
        if (!is_core && parts.size() == 3 && is_served(parts[1], parts[2])) {
            return answer(200, api_resources(served, parts[1], parts[2]));
        }
    }
    if (parts.size() == 2 && parts[0] == "openapi" && parts[1] == "v2") {
        // An empty document, which is empty in its encoding too: all that there is stands in v3,
        // and clients look here for what they do not find there.
        return {.status = 200,
                .headers = {{"Content-Type",
                             "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"}},
                .body = {},
                .stream = nullptr};
    }
    if (parts.size() >= 2 && parts[0] == "openapi" && parts[1] == "v3") {
        if (parts.size() == 2) {
            net::HttpResponse out = answer(200, openapi_index(served));
            out.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
            return out;
        }
        const bool is_core = parts.size() == 4 && parts[2] == "api";
        const bool is_group = parts.size() == 5 && parts[2] == "apis";
        const std::string group = is_group ? parts[3] : "";
        if ((is_core || is_group) && is_served(group, parts.back())) {
            return answer(200, openapi(served, group, parts.back(), registry_.schemas(),
                                       registry_.custom_schemas(group, parts.back())));
        }
        return {.status = 404, .headers = {}, .body = {}, .stream = nullptr};
    }
    // A group that is there, in a version that is not; or more than there is of something.
    const bool is_part = parts[0] == "api" || parts[0] == "version" ||
                         (parts[0] == "apis" && parts.size() > 1 && is_served(parts[1], ""));
    if (is_part) { return answer_error(no_such_path().value()); }
    return plain(404, std::string(not_found_text));
}

Outcome<net::HttpResponse> Api::resource(Ask& ask) {
    const std::string& method = ask.request.method;
    const bool is_review = ask.type->group.starts_with("authorization.k8s.io") ||
                           ask.type->group.starts_with("authentication.k8s.io");
    if (is_review) {
        return method == "POST" ? review(ask) : Outcome<net::HttpResponse>(not_allowed("resource"));
    }
    if (ask.at.name.empty()) {
        if (method == "GET") {
            return ask.at.is_watch || ask.is_asked("watch") ? watch(ask) : list(ask);
        }
        if (method == "POST") { return create(ask); }
        if (method == "DELETE" && ask.storage != "namespaces") { return remove_collection(ask); }
        return not_allowed("resource");
    }
    if (ask.type->is_namespaced && ask.at.space.empty()) { return no_such_path(); }
    if (method == "GET") { return ask.at.is_watch ? watch(ask) : get(ask); }
    if (method == "PUT") { return update(ask); }
    if (method == "PATCH") { return patch(ask); }
    if (method == "DELETE") { return remove(ask); }
    return not_allowed("resource");
}

Outcome<> Api::written(const Result<Stored>& done) {
    if (done) { return {}; }
    return tl::unexpected(
        ApiError{.code = 500,
                 .reason = "InternalError",
                 .message = fmt::format("Internal error occurred: {}", done.error().message)});
}

std::string Api::new_uid() const {
    std::array<std::uint32_t, 4> word{};
    for (std::uint32_t& one : word) { one = options_.dice(); }
    word[1] = (word[1] & 0xffff'0fffU) | 0x4000U;
    word[2] = (word[2] & 0x3fff'ffffU) | 0x8000'0000U;
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", word[0], word[1] >> 16,
                       word[1] & 0xffffU, word[2] >> 16, word[2] & 0xffffU, word[3]);
}

/// Without vowels and what looks like them, as Kubernetes makes names.
std::string Api::random_suffix() const {
    constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
    std::string out;
    for (int i = 0; i < 5; ++i) { out += letters[options_.dice() % letters.size()]; }
    return out;
}

Outcome<json::object> Api::find(const Ask& ask) const {
    const Stored* stored = store_.find(ask.storage, ask.key());
    if (stored == nullptr) { return not_found(*ask.type, ask.at.name); }
    json::object object = json::parse(*stored->text).get_object();
    object["apiVersion"] = ask.type->api_version();
    return object;
}

}  // namespace muster::lab
