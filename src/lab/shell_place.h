// What a container of a pod sees of its world: its environment, and the GPUs that its limits name.
#pragma once

#include "lab/fake_shell.h"

#include <boost/json/fwd.hpp>

#include <functional>
#include <optional>
#include <string_view>

namespace muster::lab {

/// An object of the pod's namespace; none when there is no such thing.
using ConfigLookup = std::function<std::optional<boost::json::object>(std::string_view plural,
                                                                      std::string_view name)>;

/// `node` is where the pod runs; null when that is not known.
ShellPlace shell_place(const boost::json::object& pod, const boost::json::object& container,
                       const boost::json::object* node, const ConfigLookup& find);

}  // namespace muster::lab
