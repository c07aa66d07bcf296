#include "kube/credentials.h"

#include "base/base64.h"
#include "base/text.h"
#include "kube/files.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::kube {

namespace {

constexpr std::int64_t look_again_ms = 60'000;  // at files: kubelets renew tokens well before
constexpr std::int64_t margin_ms = 10'000;      // before the end
constexpr std::int64_t never = INT64_MAX;

}  // namespace

Result<Secret> Credentials::now() {
    const std::int64_t time = options_.now_ms();
    if (is_held_ && time < fresh_until_) { return held_; }
    if (!is_held_ && failure_ && time < rests_until_) { return tl::unexpected(*failure_); }
    auto made = make(time);
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
        return held_;
    }
    return made;
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
        MUSTER_TRY(given, run_exec_plugin(*user.exec, options_.exec_info));
        if (!given.token.empty()) { out.authorization = "Bearer " + given.token; }
        if (!given.certificate.empty()) {
            out.certificate = std::move(given.certificate);
            out.key = std::move(given.key);
        }
        if (given.expires_ms >= 0) {
            expires_ = given.expires_ms;
            fresh_until_ = std::max(time + 1, std::min(fresh_until_, given.expires_ms - margin_ms));
        }
    }
    return out;
}

}  // namespace muster::kube
