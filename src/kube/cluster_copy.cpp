#include "kube/cluster_copy.h"

#include "kube/discovery.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr int page_objects = 500;

std::int64_t steady_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Lists one kind, then all others as of the same version, at the same time.
class Copier : public std::enable_shared_from_this<Copier> {
public:
    Copier(Transport& transport, ServedKinds kinds, std::size_t bytes_max, bool is_exact)
        : transport_(transport),
          kinds_(std::move(kinds)),
          bytes_left_(bytes_max),
          is_exact_(is_exact) {}

    void start() {
        open_ = 1;
        list(kinds_.begin()->first, "");
    }
    [[nodiscard]] bool is_done() const { return open_ == 0 || error_; }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }
    /// The server has no past to read any more.
    [[nodiscard]] bool is_expired() const { return is_expired_; }
    ClusterCopy take() {
        // A part of them would be worse than none.
        if (are_surroundings_hidden_) {
            std::erase_if(copy_.texts, [](const auto& one) { return is_around(one.first.kind); });
        }
        return std::move(copy_);
    }

private:
    void list(ObjectKind kind, const std::string& token) {
        Call call;
        call.target = fmt::format("{}?limit={}", path_of(kinds_.at(kind), ""), page_objects);
        if (!token.empty()) {
            call.target += "&continue=" + escape_query(token);
        } else if (is_exact_ && !copy_.version.empty()) {
            call.target +=
                fmt::format("&resourceVersion={}&resourceVersionMatch=Exact", copy_.version);
        }
        transport_.call(std::move(call), [self = shared_from_this(), kind](Result<Answer> answer) {
            if (!self->error_) { self->on_page(kind, std::move(answer)); }
        });
    }

    void on_page(ObjectKind kind, Result<Answer> answer) {
        const std::string target = path_of(kinds_.at(kind), "");
        if (!answer) {
            error_ = std::move(answer).error();
            return;
        }
        if (answer->status == 403 && is_around(kind)) {  // who asks may see less than a scheduler
            are_surroundings_hidden_ = true;
            --open_;
            return;
        }
        if (!answer->is_ok()) {
            is_expired_ = answer->status == 410;
            error_ = Error{Code::unavailable, refusal_of(target, *answer)};
            return;
        }
        if (answer->body.size() > bytes_left_) {
            error_ = Error{Code::limit, target + ": the cluster is larger than is read at once"};
            return;
        }
        bytes_left_ -= answer->body.size();
        auto page = read_page(answer->body);
        if (!page) {
            error_ = std::move(page).error().wrap(target);
            return;
        }
        for (const json::object& object : page->objects) {
            if (auto text = scheduling_text(kind, object)) {
                copy_.texts.insert_or_assign({kind, name_of(object)}, std::move(*text));
            }
        }
        const bool is_first = copy_.version.empty();
        if (is_first) { copy_.version = page->version; }
        if (page->version != copy_.version) { copy_.is_of_one_moment = false; }
        if (!page->token.empty()) {
            list(kind, page->token);
        } else {
            --open_;
        }
        if (!is_first) { return; }
        for (const auto& [other, resource] : kinds_) {
            if (other == kind) { continue; }
            ++open_;
            list(other, "");
        }
    }

    Transport& transport_;
    ServedKinds kinds_;
    std::size_t bytes_left_;
    bool is_exact_;
    ClusterCopy copy_;
    std::size_t open_ = 0;
    std::optional<Error> error_;
    bool is_expired_ = false;
    bool are_surroundings_hidden_ = false;
};

class Clock {
public:
    Clock(const Link& link, std::int64_t timeout_ms)
        : link_(link),
          timeout_ms_(timeout_ms),
          end_(steady_ms() + timeout_ms) {}

    Result<> pump_until(const std::function<bool()>& is_done) {
        while (!is_done()) {
            const std::int64_t left = end_ - steady_ms();
            if (left <= 0) {
                return fail(Code::timeout, fmt::format("the cluster was not read within {} s",
                                                       timeout_ms_ / 1'000));
            }
            link_.pump(left);
        }
        return {};
    }

private:
    const Link& link_;
    std::int64_t timeout_ms_;
    std::int64_t end_;
};

}  // namespace

Result<ClusterCopy> copy_cluster(const Link& link, CopyLimits limits) {
    Clock clock(link, limits.timeout_ms);
    const auto found = std::make_shared<std::optional<Result<ServedKinds>>>();
    discover(*link.transport, all_kinds(),
             [found](Result<ServedKinds> kinds) { *found = std::move(kinds); });
    MUSTER_CHECK(clock.pump_until([&] { return found->has_value(); }));
    if (!**found) { return tl::unexpected(std::move(**found).error()); }
    for (int attempt = 1;; ++attempt) {
        const bool is_exact = attempt <= limits.attempts_max;
        const auto copier =
            std::make_shared<Copier>(*link.transport, ***found, limits.bytes_max, is_exact);
        copier->start();
        MUSTER_CHECK(clock.pump_until([&] { return copier->is_done(); }));
        if (is_exact && copier->is_expired()) { continue; }
        if (copier->error()) { return tl::unexpected(*copier->error()); }
        return copier->take();
    }
}

}  // namespace muster::kube
