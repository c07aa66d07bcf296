#include "kube/credentials.h"

#include "base/base64.h"
#include "base/text.h"
#include "kube/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <tuple>
#include <utility>

namespace muster::kube {

namespace {

constexpr std::int64_t look_again_ms = 60'000;  // at files: kubelets renew tokens well before
constexpr std::int64_t margin_ms = 10'000;      // before the end
constexpr std::int64_t lead_ms_max = 60'000;    // for a program that nobody waits for
constexpr std::int64_t never = INT64_MAX;

}  // namespace

Result<Secret> Credentials::now() {
    const std::int64_t time = options_.now_ms();
    if (is_held_ && time < fresh_until_) { return held_; }
    if (!is_held_ && failure_ && time < rests_until_) { return tl::unexpected(*failure_); }
    if (is_running()) {
        return held_or(time, fail(Code::unavailable, "credentials are on the way"));
    }
    const auto until = std::pair(fresh_until_, expires_);
    auto made = make(time);
    if (!made) { std::tie(fresh_until_, expires_) = until; }  // of what is held
    if (is_running()) { return held_or(time, std::move(made)); }
    rests_until_ = time + margin_ms;
    if (made) {
        held_ = *made;
        is_held_ = true;
        failure_.reset();
        return made;
    }
    failure_ = made.error();
    if (is_held_ && (expires_ < 0 || time < expires_)) {
        fresh_until_ = std::min(time + margin_ms, expires_ < 0 ? never : expires_);
    }
    return held_or(time, std::move(made));
}

/// What is held, while it holds.
Result<Secret> Credentials::held_or(std::int64_t time, Result<Secret> otherwise) const {
    if (is_held_ && (expires_ < 0 || time < expires_)) { return held_; }
    return otherwise;
}

bool Credentials::is_running() const {
    if (run_ == nullptr) { return false; }
    const std::lock_guard lock(run_->mutex);
    return !run_->given.has_value();
}

/// Of a program that has not ended yet: `unavailable`, and is_running() says so.
Result<ExecCredential> Credentials::run_program() {
    if (options_.is_patient) { return run_exec_plugin(*options_.user.exec, options_.exec_info); }
    if (run_ != nullptr) {
        const auto run = std::exchange(run_, nullptr);
        const std::lock_guard lock(run->mutex);
        return *run->given;
    }
    run_ = std::make_shared<Run>();
    std::thread([run = run_, plugin = *options_.user.exec, info = options_.exec_info] {
        auto given = run_exec_plugin(plugin, info);
        const std::lock_guard lock(run->mutex);
        run->given = std::move(given);
    }).detach();
    return fail(Code::unavailable, "credentials are on the way");
}

void Credentials::note_refused() {
    if (!options_.user.exec) {
        fresh_until_ = -1;
    } else if (options_.now_ms() >= rests_until_) {
        is_held_ = false;
    }
}

Result<Secret> Credentials::make(std::int64_t time) {
    const KubeUser& user = options_.user;
    Secret out;
    const bool has_files = !user.token_file.empty() || !user.certificate.file.empty();
    fresh_until_ = has_files ? time + look_again_ms : never;
    expires_ = -1;
    if (!user.act_as.empty()) { out.act_as.emplace_back("Impersonate-User", user.act_as); }
    if (!user.act_as_uid.empty()) { out.act_as.emplace_back("Impersonate-Uid", user.act_as_uid); }
    for (const std::string& group : user.act_as_groups) {
        out.act_as.emplace_back("Impersonate-Group", group);
    }
    if (user.certificate.is_given()) {
        MUSTER_TRY(certificate, read_pem(user.certificate));
        MUSTER_TRY(key, read_pem(user.key));
        out.certificate = std::move(certificate);
        out.key = std::move(key);
    }
    if (!user.token_file.empty()) {
        MUSTER_TRY(text, read_text_file(user.token_file));
        const std::string_view token = trim(text);
        if (token.empty()) {
            return fail(Code::invalid, fmt::format("{}: empty, expected a token", user.token_file));
        }
        out.authorization = fmt::format("Bearer {}", token);
    } else if (!user.token.empty()) {
        out.authorization = "Bearer " + user.token;
    } else if (!user.name.empty()) {
        out.authorization =
            "Basic " + encode_base64(fmt::format("{}:{}", user.name, user.password));
    } else if (user.exec) {
        MUSTER_TRY(given, run_program());
        if (!given.token.empty()) { out.authorization = "Bearer " + given.token; }
        if (!given.certificate.empty()) {
            out.certificate = std::move(given.certificate);
            out.key = std::move(given.key);
        }
        if (given.expires_ms >= 0) {
            expires_ = given.expires_ms;
            const std::int64_t lead =
                options_.is_patient
                    ? margin_ms
                    : std::clamp((given.expires_ms - time) / 4, margin_ms, lead_ms_max);
            fresh_until_ = std::max(time + 1, std::min(fresh_until_, given.expires_ms - lead));
        }
    }
    return out;
}

}  // namespace muster::kube
