// Where the policy of a running scheduler comes from: a key of a ConfigMap, or a file. What is new
// and good is handed out once; what is wrong is told, with an event on the ConfigMap, and the old
// one stays. Belongs to the loop's thread.
#pragma once

#include "base/log.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/events.h"
#include "model/policy.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::kube {

/// "namespace/name" or "namespace/name:key".
struct ConfigMapKey {
    ObjectName name;
    std::string key = "policy.yaml";

    [[nodiscard]] std::string text() const;
};
Result<ConfigMapKey> read_config_map_key(std::string_view text);

class PolicySource {
public:
    struct Options {
        std::optional<ConfigMapKey> map;
        std::string file;  // in place of it; both empty: nothing ever changes
        Log log;
        std::function<std::int64_t()> now_ms;  // since the epoch
        std::string component = "muster";
        std::int64_t look_ms = 1'000;  // between two looks at the file
    };
    struct Counts {
        std::uint64_t taken = 0;
        std::uint64_t refused = 0;
        bool is_valid = true;  // what is there now
    };

    explicit PolicySource(Options options);
    ~PolicySource();

    /// The ConfigMap is followed and told of through it, until it is let go.
    void follow(Transport& transport);
    void let_go();
    /// There is nothing to wait for before the first decision.
    [[nodiscard]] bool is_heard() const;

    /// A good one that was not handed out yet.
    std::optional<Policy> take();
    /// It is to come from a ConfigMap, which has had no good one yet.
    [[nodiscard]] bool has_none() const { return options_.map.has_value() && !has_good_; }
    [[nodiscard]] const Counts& counts() const { return counts_; }
    [[nodiscard]] const Policy& policy() const { return policy_; }
    /// What it is before anything was read here.
    void begin_with(Policy policy) { policy_ = std::move(policy); }

private:
    void look_at_map();
    void look_at_file();
    void hear(const std::string& text, std::string_view where);
    void refuse(std::string_view where, std::string_view what);

    Options options_;
    std::unique_ptr<Informer> informer_;
    std::optional<EventRecorder> events_;
    Counts counts_;
    std::optional<std::string> text_;  // that was looked at last
    bool is_missing_ = false;
    bool has_good_ = false;
    Policy policy_;
    std::optional<Policy> next_;
    std::int64_t looked_ms_ = 0;
};

}  // namespace muster::kube
