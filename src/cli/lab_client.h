// The way from a command to a lab that runs, by the kubeconfig in its folder.
#pragma once

#include "base/result.h"
#include "kube/link.h"
#include "lab/lab_hand.h"

#include <filesystem>
#include <memory>
#include <string>

namespace muster::cli {

/// The folder that is meant: as it was given, or the one in the user's home.
std::filesystem::path lab_folder(const std::string& given);

class LabClient {
public:
    static Result<LabClient> reach(const std::filesystem::path& kubeconfig);

    lab::LabHand& hand() { return *hand_; }

private:
    kube::Link link_;
    std::unique_ptr<lab::LabHand> hand_;  // uses the link
};

}  // namespace muster::cli
