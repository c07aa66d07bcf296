// The demonstrations of `muster lab demo`: each tells a story on a lab of its own. What is done is
// done through the API, in words that kubectl takes too; what is claimed was looked up there.
#pragma once

#include "cli/demo.h"
#include "cli/lab_client.h"
#include "cli/options.h"

#include <boost/json/fwd.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

/// A lab in a temporary folder, which goes with it.
class DemoLab {
public:
    static Result<std::unique_ptr<DemoLab>> up(Stage& stage, LabVerbOptions options);
    ~DemoLab();
    DemoLab(const DemoLab&) = delete;
    DemoLab& operator=(const DemoLab&) = delete;

    lab::LabHand& hand() { return client_.hand(); }
    /// Tells the command that would do it, with the manifest, and creates what is in it.
    Result<> apply(std::string_view manifest);
    /// The same without a word.
    Result<> create(std::string_view manifest);
    void tell_command(std::string_view command);

    /// Follows pods, nodes and groups until it is so; false after half a minute.
    bool until(const std::function<bool()>& is_so);

    /// Pods whose name begins so, by name.
    [[nodiscard]] std::vector<const boost::json::object*> pods(std::string_view prefix) const;
    [[nodiscard]] std::size_t running(std::string_view prefix) const;
    [[nodiscard]] std::size_t placed(std::string_view prefix) const;
    /// How many of them each node holds.
    [[nodiscard]] std::map<std::string, std::size_t> places(std::string_view prefix) const;
    /// How many different values of the label their nodes have.
    [[nodiscard]] std::size_t spread(std::string_view prefix, std::string_view label) const;
    [[nodiscard]] const boost::json::object* node(const std::string& name) const;
    [[nodiscard]] const boost::json::object* group(const std::string& name) const;
    /// Why a group of the default namespace waits; empty when it does not say.
    [[nodiscard]] std::string reason(const std::string& group) const;
    /// The same of a pod.
    [[nodiscard]] std::string pod_reason(const std::string& pod) const;

private:
    DemoLab(Stage& stage, std::filesystem::path folder)
        : stage_(stage),
          folder_(std::move(folder)) {}

    Stage& stage_;
    std::filesystem::path folder_;
    LabClient client_;
    std::unique_ptr<kube::Informer> pods_;
    std::unique_ptr<kube::Informer> nodes_;
    std::unique_ptr<kube::Informer> groups_;
};

/// "8 on nvl-1-1, …": what a gang holds, in a line.
std::string text_of(const std::map<std::string, std::size_t>& places);

Result<> show_lab_deadlock(Stage& stage);
Result<> show_lab_topology(Stage& stage);
Result<> show_lab_mig(Stage& stage);
Result<> show_lab_failure(Stage& stage);

}  // namespace muster::cli
