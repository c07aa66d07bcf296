#include "kube/policy_source.h"

#include "codec/policy_text.h"
#include "kube/files.h"
#include "kube/objects.h"
#include "ledger/record.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

const Resource& config_maps() {
    static const Resource resource{.group = "", .version = "v1", .plural = "configmaps"};
    return resource;
}

}  // namespace

std::string ConfigMapKey::text() const {
    return fmt::format("{}/{}:{}", name.first, name.second, key);
}

Result<ConfigMapKey> read_config_map_key(std::string_view text) {
    const auto wrong = [&] {
        return fail(Code::invalid,
                    fmt::format("{}: expected NAMESPACE/NAME or NAMESPACE/NAME:KEY", text));
    };
    ConfigMapKey out;
    std::string_view name = text;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        out.key = text.substr(colon + 1);
        name = text.substr(0, colon);
    }
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || out.key.empty()) { return wrong(); }
    out.name = {std::string(name.substr(0, slash)), std::string(name.substr(slash + 1))};
    if (out.name.first.empty() || out.name.second.empty() ||
        out.name.second.find('/') != std::string::npos) {
        return wrong();
    }
    return out;
}

PolicySource::PolicySource(Options options) : options_(std::move(options)) {}
PolicySource::~PolicySource() = default;

void PolicySource::follow(Transport& transport) {
    if (!options_.map) { return; }
    events_.emplace(transport, options_.now_ms, options_.component);
    informer_ = std::make_unique<Informer>(
        transport, config_maps(), Informer::Listener{},
        Scope{.space = options_.map->name.first, .name = options_.map->name.second});
    informer_->start();
}

void PolicySource::let_go() {
    informer_.reset();
    events_.reset();
}

bool PolicySource::is_heard() const {
    return informer_ == nullptr || informer_->is_synced() || !informer_->problem().empty();
}

std::optional<Policy> PolicySource::take() {
    if (informer_ != nullptr && informer_->is_synced()) { look_at_map(); }
    if (!options_.file.empty()) { look_at_file(); }
    return std::exchange(next_, std::nullopt);
}

void PolicySource::look_at_map() {
    const std::string where = "ConfigMap " + options_.map->text();
    const json::object* map = informer_->find(options_.map->name);
    const json::object* data = map == nullptr ? nullptr : object_at(*map, "data");
    const json::value* text = data == nullptr ? nullptr : data->if_contains(options_.map->key);
    const bool is_missing = text == nullptr || !text->is_string();
    if (is_missing && !is_missing_) {
        options_.log.warn("no policy there", {{"where", where}, {"reason", "the last one stays"}});
    }
    is_missing_ = is_missing;
    if (!is_missing) { hear(std::string(text->get_string()), where); }
}

void PolicySource::look_at_file() {
    const std::int64_t now = options_.now_ms();
    if (now >= looked_ms_ && now < looked_ms_ + options_.look_ms) { return; }
    looked_ms_ = now;
    auto text = read_text_file(options_.file);
    const bool is_missing = !text;
    if (is_missing && !is_missing_) {
        options_.log.warn("no policy there",
                          {{"where", options_.file}, {"reason", text.error().message}});
    }
    is_missing_ = is_missing;
    if (text) { hear(*text, options_.file); }
}

void PolicySource::hear(const std::string& text, std::string_view where) {
    if (text_ == text) { return; }
    text_ = text;
    auto read = read_policy({.name = std::string(where), .text = text});
    if (!read) { return refuse(where, read.error().message); }
    counts_.is_valid = true;
    has_good_ = true;
    if (*read == policy_) { return; }
    ++counts_.taken;
    policy_ = *read;
    next_ = std::move(*read);
    const std::string hash = policy_hash(policy_);
    options_.log.info("policy taken", {{"where", where}, {"hash", hash}});
    if (events_) {
        events_->record(*informer_->find(options_.map->name), "Normal", "PolicyTaken",
                        fmt::format("Muster decides by the policy {:.12}", hash));
    }
}

void PolicySource::refuse(std::string_view where, std::string_view what) {
    ++counts_.refused;
    counts_.is_valid = false;
    options_.log.error("policy refused", {{"where", where}, {"reason", what}});
    if (events_) {
        events_->record(*informer_->find(options_.map->name), "Warning", "PolicyRefused",
                        fmt::format("{}; the last good policy stays", what));
    }
}

}  // namespace muster::kube
