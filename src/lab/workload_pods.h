// The pods that controllers make. What was asked of the API and has not come back by the watch is
// kept here, so that nobody asks twice: a controller waits until its object is settled.
#pragma once

#include "kube/client.h"
#include "kube/events.h"
#include "lab/lab_timers.h"

#include <boost/json/fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

class WorkloadPods {
public:
    using Object = boost::json::object;
    /// The kind and name of a controller whose pods changed; `pod` is null when only calls ended.
    using Changed = std::function<void(std::string_view kind, const kube::ObjectName& owner,
                                       kube::Informer::Change change, const Object* pod)>;

    WorkloadPods(kube::Transport& transport, LabTimers& timers, Changed changed);
    WorkloadPods(const WorkloadPods&) = delete;
    WorkloadPods& operator=(const WorkloadPods&) = delete;

    void start() { informer_.start(); }
    [[nodiscard]] bool is_synced() const { return informer_.is_synced(); }
    [[nodiscard]] const Object* find(const kube::ObjectName& name) const;
    /// Those that the owner controls, in the order of their names.
    [[nodiscard]] std::vector<const Object*> of(const Object& owner) const;
    [[nodiscard]] bool is_settled(const Object& owner) const;
    /// We asked for its end.
    [[nodiscard]] bool is_doomed(const Object& pod) const;
    /// How many pods may be created now: few at first, more while all goes well, none for a while
    /// after a refusal.
    [[nodiscard]] std::size_t room(const Object& owner) const;

    /// Why the last creation was refused; empty when it was not.
    [[nodiscard]] std::string_view refusal(const Object& owner) const;

    void create(const Object& owner, const Object& pod, kube::EventRecorder& events);
    void remove(const Object& owner, const Object& pod, kube::EventRecorder& events);
    void forget(const Object& owner);

private:
    struct Asked {
        std::string kind;
        kube::ObjectName owner;
        std::size_t in_flight = 0;
        std::set<kube::ObjectName> unseen;
        std::size_t room = 1;
        int failures = 0;
        std::int64_t not_before = 0;
        std::string refusal;
    };

    void on_pod(kube::Informer::Change change, const kube::ObjectName& name, const Object& pod);
    void answered(const std::string& uid, const Object& owner, const Result<kube::Answer>& answer,
                  kube::EventRecorder& events);
    void see(const std::string& uid, const kube::ObjectName& pod);

    kube::Transport& transport_;
    LabTimers& timers_;
    Changed changed_;
    std::map<std::string, std::set<kube::ObjectName>, std::less<>> by_owner_;  // by uid
    std::map<std::string, Asked, std::less<>> asked_;                          // by uid
    std::set<std::string, std::less<>> doomed_;                                // uids of pods
    std::shared_ptr<int> alive_ = std::make_shared<int>();
    kube::Informer informer_;
};

}  // namespace muster::lab
