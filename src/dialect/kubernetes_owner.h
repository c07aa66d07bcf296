// Owners whose pods are gangs although no object says so: a JobSet is one over all of its Jobs, a
// LeaderWorkerSet one for each of its groups, a StatefulSet one when it asks for it. Their declared
// size counts, not the pods that are there. Pods that name a group themselves are that group's.
#pragma once

#include "dialect/kubernetes_job.h"
#include "dialect/kubernetes_pod.h"

#include <optional>
#include <string>

namespace muster::dialect {

/// What a pod says of its owner, by the labels that the owners' controllers give it.
OwnerTie read_owner_tie(const Field& metadata, const std::string& name_space);

/// "JobSet team/train": the owner that made a Job; empty when none did.
std::string maker_of(const Field& job_metadata, const std::string& name_space);

/// Of a JobSet, LeaderWorkerSet or StatefulSet. None when its pods stand alone: it says so
/// (`muster.dev/gang: "false"`), asks for nothing, other schedulers have it, or it is a StatefulSet
/// that asks for no gang.
std::optional<DeclaredJob> read_owner(const Field& object, const Scope& scope);

}  // namespace muster::dialect
