#include "kube/discovery.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace muster::kube {

namespace json = boost::json;

namespace {

/// The texts at `field` of the objects in the list at `list`.
Result<std::set<std::string>> names_in(const Result<Answer>& answer, const std::string& target,
                                       std::string_view list, std::string_view field) {
    if (!answer) { return tl::unexpected(answer.error()); }
    if (!answer->is_ok()) { return fail(Code::unavailable, refusal_of(target, *answer)); }
    boost::system::error_code error;
    const json::value body = json::parse(answer->body, error);
    const json::object* root = error ? nullptr : body.if_object();
    const json::array* items = root != nullptr ? array_at(*root, list) : nullptr;
    if (items == nullptr) {
        return fail(Code::corrupt, fmt::format("{}: the answer has no {}", target, list));
    }
    std::set<std::string> out;
    for (const json::value& item : *items) {
        const json::object* one = item.if_object();
        if (one != nullptr) { out.emplace(text_at(*one, field)); }
    }
    return out;
}

/// Groups are many, and a busy server refuses some of the calls: each is made again.
constexpr int tries_max = 6;
constexpr std::int64_t again_ms = 200;  // the first time, then doubled

bool may_answer_later(const Result<Answer>& answer) {
    return !answer || answer->status == 429 || answer->status >= 500;
}

/// First the groups, then the resources of each version that may have something wanted.
class Discovery : public std::enable_shared_from_this<Discovery> {
public:
    Discovery(Transport& transport, std::set<ObjectKind> wanted,
              std::function<void(Result<ServedKinds>)> done)
        : transport_(transport),
          wanted_(std::move(wanted)),
          done_(std::move(done)) {}

    void start() {
        ask("/apis",
            [self = shared_from_this()](const Result<Answer>& answer) { self->on_groups(answer); });
    }

private:
    using Then = std::function<void(const Result<Answer>&)>;

    void ask(const std::string& target, Then then, int tries = 1) {
        Call call;
        call.target = target;
        transport_.call(std::move(call), [self = shared_from_this(), target, tries,
                                          done = std::move(then)](const Result<Answer>& answer) {
            if (tries == tries_max || !may_answer_later(answer)) { return done(answer); }
            const std::int64_t wait =
                std::max(answer ? answer->retry_after_ms : 0, again_ms << (tries - 1));
            self->transport_.after(
                wait, [self, target, tries, done] { self->ask(target, done, tries + 1); });
        });
    }

    using Version = std::pair<std::string, std::string>;  // group and version
    inline static const Version core{"", "v1"};

    void on_groups(const Result<Answer>& answer) {
        const auto groups = names_in(answer, "/apis", "groups", "name");
        if (!groups) { return done_(tl::unexpected(groups.error())); }
        for (const ObjectKind kind : wanted_) {
            const KindName& name = name_of(kind);
            if (!groups->contains(name.resource.group)) { continue; }
            for (const Resource& one : ways_to(name)) {
                plurals_.try_emplace({one.group, one.version});
            }
        }
        plurals_.try_emplace(core);
        open_ = plurals_.size();
        for (const auto& [version, plurals] : plurals_) {
            const std::string target =
                version == core ? "/api/v1"
                                : fmt::format("/apis/{}/{}", version.first, version.second);
            ask(target,
                [self = shared_from_this(), at = version, target](const Result<Answer>& resources) {
                    self->on_version(at, target, resources);
                });
        }
    }

    void on_version(const Version& version, const std::string& target,
                    const Result<Answer>& answer) {
        const bool is_unserved = answer && answer->status == 404;
        if (is_unserved && version == core) { has_core_list_ = false; }
        if (!is_unserved) {
            auto plurals = names_in(answer, target, "resources", "name");
            if (plurals) {
                plurals_[version] = std::move(*plurals);
            } else {
                failure_ = std::move(plurals).error();
            }
        }
        if (--open_ == 0) { finish(); }
    }

    void finish() {
        if (!failure_.message.empty()) { return done_(tl::unexpected(std::move(failure_))); }
        ServedKinds out;
        for (const ObjectKind kind : wanted_) {
            const KindName& name = name_of(kind);
            // Every server has nodes and pods; one that tells of no core kinds may have them all.
            const bool is_always = kind == ObjectKind::node || kind == ObjectKind::pod;
            if (name.resource.group.empty() && (is_always || !has_core_list_)) {
                out.emplace(kind, name.resource);
            }
            for (const Resource& one : ways_to(name)) {
                const auto found = plurals_.find({one.group, one.version});
                if (found != plurals_.end() && found->second.contains(one.plural)) {
                    out.emplace(kind, one);  // the first one stays
                }
            }
        }
        done_(std::move(out));
    }

    static std::vector<Resource> ways_to(const KindName& name) {
        std::vector<Resource> out{name.resource};
        for (const std::string& version : name.other_versions) {
            out.push_back({name.resource.group, version, name.resource.plural});
        }
        return out;
    }

    Transport& transport_;
    std::set<ObjectKind> wanted_;
    std::function<void(Result<ServedKinds>)> done_;
    std::map<Version, std::set<std::string>> plurals_;
    std::size_t open_ = 0;
    bool has_core_list_ = true;
    Error failure_;
};

}  // namespace

void discover(Transport& transport, std::set<ObjectKind> wanted,
              std::function<void(Result<ServedKinds>)> done) {
    std::make_shared<Discovery>(transport, std::move(wanted), std::move(done))->start();
}

}  // namespace muster::kube
